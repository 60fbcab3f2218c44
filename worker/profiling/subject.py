"""What is profiled: an application with its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidewise.core.application import Application, Variant
from tidewise.core.files import model_path, read_repository
from tidewise.core.repository import MeasuredAccuracy, parse_accuracy


@dataclass(frozen=True, slots=True)
class Subject:
    """An application, the folder that holds its models and test data, and the accuracies stated there."""

    folder: Path
    application: Application
    stated: Mapping[str, MeasuredAccuracy] = field(default_factory=dict)

    def model(self, variant: Variant) -> Path:
        """The variant's model file."""
        return model_path(self.folder, variant.model)

    def stated_accuracy(self, variant: Variant) -> MeasuredAccuracy | None:
        """The accuracy stated for this very model file."""
        found = self.stated.get(variant.name)
        return found if found is not None and found.digest == variant.digest else None


def read_subjects(repository: Path) -> list[Subject]:
    """Every application of a model repository, by name. Raises RepositoryError."""
    return [
        Subject(folder, application, _stated(source.accuracy_json, folder))
        for folder, source, application in read_repository(repository).values()
    ]


def _stated(accuracy_json: str, folder: Path) -> dict[str, MeasuredAccuracy]:
    return parse_accuracy(accuracy_json, str(folder / "accuracy.json")) if accuracy_json else {}
