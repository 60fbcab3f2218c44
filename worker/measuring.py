"""Profiling on the controller's request, with the profiler that `tidewise profile` uses, while the device is idle."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tidewise.core.application import Application
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import TidewiseError
from tidewise.core.profile import Profile
from tidewise.core.report import MeasureRequest, Unprofiled
from tidewise.worker.host import Host
from tidewise.worker.stations import AnyStation
from tidewise.worker.store import ModelStore

log = logging.getLogger(__name__)
CHECK_EVERY = 0.25
Learn = Callable[[Profile], None]
Failure = tuple[str, str, str, str]  # device, application, variant, digest


class Measurer:
    """Profiles one request after the other in a thread; ``learn`` is given what was measured.

    A request is taken once while it waits or is worked on. Results are kept in ``state``, a file for each device type.
    A variant that cannot be profiled does not hold up the others; ``tell`` is called, and ``unprofiled`` says why.
    """

    def __init__(self, host: Host, store: ModelStore, state: Path, learn: Learn, tell: Callable[[], None]) -> None:
        self._host = host
        self._store = store
        self._state = state
        self._learn = learn
        self._tell = tell
        self._failed: dict[Failure, str] = {}  # and why
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
            if await self._attempt(request, station.device_type) is not None:
                for part in _parts(request):
                    self._note(part, await self._attempt(part, station.device_type))
                await asyncio.sleep(CHECK_EVERY)

    async def _attempt(self, request: MeasureRequest, device_type: DeviceType) -> str | None:
        """Profile and learn; why that could not be, or None."""
        try:
            self._learn(await self._profile(request, device_type))
        except (TidewiseError, OSError) as error:
            return str(error)
        self._failed = {key: why for key, why in self._failed.items() if not _is_of(request, key)}
        return None

    def _note(self, request: MeasureRequest, reason: str | None) -> None:
        """Remember why the one variant of this request could not be profiled, if it could not."""
        if reason is not None and not self._closed:
            (variant,) = request.variants
            key = request.device, request.application, variant, self._digest(request.application, variant)
            self._failed[key] = reason
            log.warning(
                "not profiled", extra={"application": request.application, "variant": variant, "reason": reason}
            )
        self._tell()

    def unprofiled(self, device: str) -> tuple[Unprofiled, ...]:
        """What this device could not profile of the files that are served now."""
        return tuple(
            Unprofiled(application, variant, reason)
            for (who, application, variant, digest), reason in self._failed.items()
            if who == device and digest and self._digest(application, variant) == digest
        )

    def _digest(self, application: str, variant: str) -> str:
        served = self._host.catalogue.get(application)
        found = served.application.variant(variant) if served is not None else None
        return found.digest if found is not None else ""

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


def _parts(request: MeasureRequest) -> Iterator[MeasureRequest]:
    """The request variant by variant: where all together fail, most may yet be profiled."""
    return (replace(request, variants=(one,)) for one in request.variants)


def _is_of(request: MeasureRequest, key: Failure) -> bool:
    device, application, variant, _ = key
    return (device, application) == (request.device, request.application) and variant in request.variants


async def _idle(station: AnyStation) -> None:
    while not station.device.idle:
        await asyncio.sleep(CHECK_EVERY)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
