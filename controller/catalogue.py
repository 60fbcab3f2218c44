"""The applications a controller starts with, and where their files are."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from tidewise.controller.store import Store
from tidewise.controller.upload import safe_path
from tidewise.core.application import Application
from tidewise.core.errors import RepositoryError
from tidewise.core.files import model_path, read_repository, read_source
from tidewise.core.repository import ApplicationSource

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Catalogue:
    """Folders by application. What was applied at run time wins over the repository given at the start."""

    folders: dict[str, Path] = field(default_factory=dict)

    def load(self, repository: Path | None, store: Store) -> list[tuple[ApplicationSource, Application]]:
        """Every application that counts. Raises RepositoryError if the repository is wrong.

        An application in the state folder that can no longer be read is left out with a warning: it was checked
        when it came, and the others must serve.
        """
        found = {}
        for name, (folder, source, application) in (read_repository(repository) if repository else {}).items():
            if name not in store.removed and name not in store.applied:
                application.best_accuracy()
                found[name] = (folder, source, application)
        for name in store.applied:
            folder = store.repository / store.applied[name]
            try:
                source = read_source(folder)
                found[name] = (folder, source, source.parse())
            except RepositoryError as error:
                log.warning("an applied application cannot be read", extra={"application": name, "reason": str(error)})
        self.folders = {name: folder for name, (folder, _, _) in found.items()}
        return [(source, application) for _, source, application in found.values()]

    def file(self, application: Application, path: str, digest: str) -> Path:
        """The file of an application with this digest, or at this path. Raises RepositoryError if there is none."""
        folder = self.folders[application.name]
        if digest:
            for variant in application.variants:
                if variant.digest == digest:
                    return model_path(folder, variant.model)
            raise RepositoryError(f"application {application.name!r} has no model file with digest {digest}")
        found = folder / safe_path(path)
        if not found.is_file() or not found.resolve().is_relative_to(folder.resolve()):
            raise RepositoryError(f"application {application.name!r} has no file {path!r}")
        return found
