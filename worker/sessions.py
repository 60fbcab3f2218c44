"""The loaded variants of one device, and the loading of more beside them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import DeviceType
from tidewise.core.errors import TidewiseError
from tidewise.core.histogram import Histogram
from tidewise.core.profile import VariantProfile
from tidewise.worker.engine.base import Session
from tidewise.worker.servable import Model

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """What it takes to load a model: the application it serves, the variant, its profile on this device type."""

    application: Application
    variant: Variant
    profile: VariantProfile


Loader = Callable[[DeviceType, Source], Awaitable[Session]]
"""Loads a variant without blocking the event loop. Raises TidewiseError."""

Told = Callable[[Model, str | None], None]
"""Called when a model is loaded (None), or could not be (the reason)."""


class Sessions:
    """Loads and unloads one device's models. ``seconds`` and ``failures`` remember how loading went."""

    def __init__(self, device_type: DeviceType, loader: Loader, told: Told) -> None:
        self.loaded: dict[Model, Session] = {}
        self.profiles: dict[Session, VariantProfile] = {}
        self.seconds: dict[Model, Histogram] = {}
        self.failures: Counter[Model] = Counter()
        self._device_type = device_type
        self._loader = loader
        self._told = told
        self._sources: dict[Model, Source] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def expect(self, sources: Mapping[Model, Source]) -> None:
        """Remember where these models come from."""
        self._sources |= sources

    def load(self, model: Model) -> None:
        """Begin to load a model that was announced with ``expect``."""
        task = asyncio.get_running_loop().create_task(self._load(model))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def unload(self, model: Model) -> None:
        """Close a loaded model's session."""
        session = self.loaded.pop(model)
        del self.profiles[session]
        self._sources.pop(model, None)
        session.close()

    def close(self) -> None:
        """Load nothing more."""
        for task in self._tasks:
            task.cancel()

    async def _load(self, model: Model) -> None:
        loop = asyncio.get_running_loop()
        source, started = self._sources[model], loop.time()
        try:
            session = await self._loader(self._device_type, source)
        except Exception as error:  # whatever it is, it must only cost this order
            reason = str(error) if isinstance(error, TidewiseError) else f"{type(error).__name__}: {error}"
            log.warning("variant not loaded", extra={**model._asdict(), "reason": reason})
            self.failures[model] += 1
            self._sources.pop(model, None)
            self._told(model, reason)
            return
        self.loaded[model], self.profiles[session] = session, source.profile
        self.seconds.setdefault(model, Histogram()).add(loop.time() - started)
        self._told(model, None)
