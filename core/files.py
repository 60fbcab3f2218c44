"""The folder side of a model repository: finding, reading and digesting files. Only this part of core opens any."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tidewise.core.application import Application
from tidewise.core.errors import RepositoryError, reason
from tidewise.core.repository import ApplicationSource, parse_application

APPLICATION_FILE = "application.toml"
ACCURACY_FILE = "accuracy.json"


def application_folders(repository: Path) -> list[Path]:
    """Every folder of the repository that holds an application.toml, by name. Raises RepositoryError if none does."""
    if not repository.is_dir():
        raise RepositoryError(f"{repository} is not a folder; a model repository holds one folder for each application")
    found = sorted(path.parent for path in repository.glob(f"*/{APPLICATION_FILE}"))
    if not found:
        raise RepositoryError(
            f"{repository} holds no application: expected {repository}/<application>/{APPLICATION_FILE}"
        )
    return found


def read_source(folder: Path) -> ApplicationSource:
    """The application in this folder as the text of its files. Raises RepositoryError naming a missing file."""
    file = folder / APPLICATION_FILE
    toml = _read(file)
    accuracy = folder / ACCURACY_FILE
    application = parse_application(toml, str(file))
    return ApplicationSource(
        toml=toml,
        accuracy_json=_read(accuracy) if accuracy.is_file() else "",
        digests={one.name: digest(model_path(folder, one.model)) for one in application.variants},
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RepositoryError(f"{path} cannot be read: {reason(error)}") from error


def read_repository(repository: Path) -> dict[str, tuple[Path, ApplicationSource, Application]]:
    """Every application of a repository by name: its folder, its files as text, and the noun they describe."""
    found: dict[str, tuple[Path, ApplicationSource, Application]] = {}
    for folder in application_folders(repository):
        source = read_source(folder)
        application = source.parse(str(folder / APPLICATION_FILE))
        if application.name in found:
            raise RepositoryError(
                f"{folder} and {found[application.name][0]} both describe application {application.name!r}; rename one"
            )
        found[application.name] = (folder, source, application)
    return found


def model_path(folder: Path, model: str) -> Path:
    """The model file inside the application's folder. Raises RepositoryError if it is outside it or missing."""
    path = folder / model
    if not path.resolve().is_relative_to(folder.resolve()):
        raise RepositoryError(f"{folder}: model {model!r} lies outside the application's folder")
    if not path.is_file():
        raise RepositoryError(f"{path} is missing; {folder / APPLICATION_FILE} names it")
    return path


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
