"""Profiling on the controller's request, with the profiler that `tidewise profile` uses, while the device is idle."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidewise.core.application import Application
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import TidewiseError
from tidewise.core.profile import Profile
from tidewise.core.report import MeasureRequest
from tidewise.worker.host import Host
from tidewise.worker.station import Station
from tidewise.worker.store import ModelStore

log = logging.getLogger(__name__)
CHECK_EVERY = 0.25
Learn = Callable[[Profile], None]


class Measurer:
    """Profiles one request after the other in a thread; ``learn`` is given what was measured.

    A request is taken once while it waits or is worked on. Results are kept in ``state``, a file for each device type.
    """

    def __init__(self, host: Host, store: ModelStore, state: Path, learn: Learn) -> None:
        self._host = host
        self._store = store
        self._state = state
        self._learn = learn
        self._one = asyncio.Lock()
        self._tasks: dict[MeasureRequest, asyncio.Task[None]] = {}
        self._closed = False

    def ask(self, request: MeasureRequest) -> None:
        """Profile these variants when their device is idle."""
        if request.device in self._host.stations and request not in self._tasks:
            task = asyncio.ensure_future(self._measure(request))
            self._tasks[request] = task
            task.add_done_callback(lambda done: self._tasks.pop(request, None))

    async def close(self) -> None:
        """Measure nothing more; a variant that is being measured is the last."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _measure(self, request: MeasureRequest) -> None:
        station = self._host.stations[request.device]
        async with self._one:
            await _idle(station)
            try:
                self._learn(await self._profile(request, station.device_type))
            except (TidewiseError, OSError) as error:
                log.warning("not profiled", extra={"application": request.application, "reason": str(error)})
                await asyncio.sleep(CHECK_EVERY)

    async def _profile(self, request: MeasureRequest, device_type: DeviceType) -> Profile:
        from tidewise.worker.profiling.effort import QUICK
        from tidewise.worker.profiling.store import profile_subjects  # heavy, and most workers never need it
        from tidewise.worker.profiling.subject import Subject

        application = self._wanted(request)
        subject = Subject(await self._folder(application), application)
        out = self._state / f"profile-{device_type.name}.json"
        log.info("profiling", extra={"application": application.name, "variants": list(request.variants)})
        return await asyncio.to_thread(profile_subjects, [subject], [device_type], out, QUICK, self._go_on)

    def _go_on(self, step: object) -> None:
        if self._closed:
            raise TidewiseError("the worker process is going")

    def _wanted(self, request: MeasureRequest) -> Application:
        """The application with only the variants to be measured, and without test data: random inputs time as well."""
        served = self._host.catalogue.get(request.application)
        if served is None:
            raise TidewiseError(f"there is no application {request.application!r}")
        variants = tuple(one for one in served.application.variants if one.name in request.variants)
        return replace(served.application, variants=variants, test_data=None)

    async def _folder(self, application: Application) -> Path:
        """A folder that holds the variants' model files where application.toml says."""
        folder = self._state / "measured" / application.name
        for variant in application.variants:
            target = folder / variant.model
            await asyncio.to_thread(_copy, await self._store.find(application, variant), target)
        return folder


async def _idle(station: Station) -> None:
    while not station.device.idle:
        await asyncio.sleep(CHECK_EVERY)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
