"""Model files by digest: in the repository given, in the cache of fetched ones, or fetched from the controller."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO

from tidewise.core.application import Application, Variant
from tidewise.core.errors import EngineError, RepositoryError
from tidewise.core.files import APPLICATION_FILE, application_folders, digest
from tidewise.core.repository import parse_application

Fetch = Callable[[Application, Variant], AsyncIterator[bytes]]
"""A variant's model file in chunks. Raises UnreachableError or EngineError."""


class ModelStore:
    """Finds model files; what had to be fetched is kept in ``cache``."""

    def __init__(self, repository: Path | None, cache: Path, fetch: Fetch) -> None:
        self._repository = repository
        self._cache = cache
        self._fetch = fetch
        self._fetching = asyncio.Lock()
        self._digests: dict[tuple[Path, int, int], str] = {}

    async def find(self, application: Application, variant: Variant) -> Path:
        """The file with the variant's digest. Raises EngineError if what was fetched has another digest."""
        local = await asyncio.to_thread(self._local, application, variant)
        if local is not None:
            return local
        cached = self._cache / f"{variant.digest}.onnx"
        async with self._fetching:
            if not cached.is_file():
                await self._fetch_into(cached, application, variant)
        return cached

    def folder(self, application: Application) -> Path | None:
        """The application's folder in the repository, if it is there."""
        try:
            folders = application_folders(self._repository) if self._repository else []
            return next((one for one in folders if _name_in(one) == application.name), None)
        except RepositoryError:
            return None

    def _local(self, application: Application, variant: Variant) -> Path | None:
        folder = self.folder(application)
        path = folder / variant.model if folder else None
        return path if path and path.is_file() and self._digest(path) == variant.digest else None

    def _digest(self, path: Path) -> str:
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        if key not in self._digests:
            self._digests[key] = digest(path)
        return self._digests[key]

    async def _fetch_into(self, target: Path, application: Application, variant: Variant) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._cache, prefix=".fetching-")
        try:
            with os.fdopen(handle, "wb") as file:
                found = await self._copy(file, application, variant)
            if found != variant.digest:
                raise EngineError(
                    f"the model file of variant {variant.name!r} of {application.name!r} arrived with digest"
                    f" {found[:12]}, but {variant.digest[:12]} was announced; apply the application again"
                )
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)

    async def _copy(self, file: BinaryIO, application: Application, variant: Variant) -> str:
        hashed = hashlib.sha256()
        async for chunk in self._fetch(application, variant):
            file.write(chunk)
            hashed.update(chunk)
        return hashed.hexdigest()


def _name_in(folder: Path) -> str:
    file = folder / APPLICATION_FILE
    try:
        return parse_application(file.read_text(encoding="utf-8"), str(file)).name
    except (RepositoryError, OSError, UnicodeDecodeError):
        return ""
