"""Uploads: an application's files arrive in pieces, and count only when all of them are there and right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tidewise.core.application import Application
from tidewise.core.errors import RepositoryError
from tidewise.core.files import APPLICATION_FILE, read_source
from tidewise.core.repository import ApplicationSource

MOST_BYTES = 4 * 1024**3
MOST_FILES = 1000
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}")


def safe_path(path: str) -> PurePosixPath:
    """A relative path without surprises. Raises RepositoryError for anything that could leave its folder."""
    parts = path.split("/")
    if not path or len(parts) > 8 or not all(_PART.fullmatch(part) for part in parts):
        raise RepositoryError(
            f"file name {path!r} is refused: use relative paths of letters, digits, . _ + - (no .., none hidden)"
        )
    return PurePosixPath(path)


@dataclass(slots=True)
class Upload:
    """Writes pieces into an empty folder. Raises RepositoryError as soon as something is refused."""

    folder: Path
    application: str = ""
    most_bytes: int = MOST_BYTES
    _bytes: int = 0
    _files: int = 0
    _file: BinaryIO | None = None

    def take(self, application: str, path: str, data: bytes) -> None:
        """One piece; application and path are set in the first piece of each file."""
        if path:
            self._open(application, path)
        if self._file is None:
            raise RepositoryError("the first piece of an upload must name the application and a file")
        self._bytes += len(data)
        if self._bytes > self.most_bytes:
            raise RepositoryError(f"application {self.application!r} exceeds the limit of {self.most_bytes} bytes")
        self._file.write(data)

    def close(self) -> None:
        """No more pieces of the present file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def checked(self) -> tuple[ApplicationSource, Application]:
        """The application, complete: parsed, every model file there, something measured. Raises RepositoryError."""
        self.close()
        if not (self.folder / APPLICATION_FILE).is_file():
            raise RepositoryError(f"the upload holds no {APPLICATION_FILE}")
        source = read_source(self.folder)
        application = source.parse(APPLICATION_FILE)
        if application.name != self.application:
            raise RepositoryError(
                f"{APPLICATION_FILE} describes {application.name!r}, but was sent as {self.application!r}"
            )
        application.best_accuracy()
        return source, application

    def _open(self, application: str, path: str) -> None:
        self.close()
        self.application = self.application or application
        self._files += 1
        if application != self.application or not self.application:
            raise RepositoryError(f"one upload is one application, not {self.application!r} and {application!r}")
        if self._files > MOST_FILES:
            raise RepositoryError(f"application {application!r} exceeds the limit of {MOST_FILES} files")
        target = self.folder / safe_path(path)
        if target.exists():
            raise RepositoryError(f"file {path!r} was sent twice")
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = target.open("wb")
