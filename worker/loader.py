"""Loading variants without holding up the event loop: the file is found, then loaded and checked in a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from tidewise.core.cluster import EMULATED, DeviceType
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.crosscheck import ROWS
from tidewise.worker.engine.emulated import EmulatedSession
from tidewise.worker.engine.loading import load_variant
from tidewise.worker.samples import samples_for
from tidewise.worker.sessions import Source
from tidewise.worker.store import ModelStore


class VariantLoader:
    """Loads one variant after the other, so that loading takes at most one core from serving.

    Emulated devices load side by side, each as long as its profile says.
    """

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, "loader")

    async def load(self, device_type: DeviceType, source: Source) -> Session:
        """The variant, cross-checked and warm. Raises TidewiseError saying why it cannot be used."""
        application, variant = source.application, source.variant
        if device_type.provider == EMULATED:  # batches are timed by the device's runner
            await asyncio.sleep(source.profile.load * device_type.load_factor)
            return EmulatedSession(application.inputs, application.outputs, source.profile, sleep=_no_time)
        model = await self._store.find(application, variant)
        samples = await asyncio.to_thread(samples_for, application, self._store.folder(application), ROWS)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._thread, load_variant, device_type, application, variant, model, source.profile, samples
        )

    def close(self) -> None:
        """Load nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _no_time(seconds: float) -> None:
    return
