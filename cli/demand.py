"""Options that describe demand: which applications, how much of each, with which deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import tidewise
from tidewise.core.application import Application
from tidewise.core.errors import InputError
from tidewise.core.files import read_repository

STARTER = Path(tidewise.__file__).parent / "models"


def repository_or_starter(path: Path | None) -> Path:
    """The repository asked for, or the starter ladders that come with Tidewise."""
    return STARTER if path is None else path


def applications_of(repository: Path) -> dict[str, Application]:
    """Every application of a repository by name."""
    return {name: application for name, (_, _, application) in read_repository(repository).items()}


def named_numbers(values: Iterable[str], option: str) -> dict[str, float]:
    """NAME=NUMBER options as a table; a bare NUMBER stands under the empty name, for all. Raises InputError."""
    found: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise InputError(f"{option} takes NAME=NUMBER or a NUMBER for all, not {value!r}") from None
    return found


def named_texts(values: Iterable[str], option: str) -> dict[str, str]:
    """OLD=NEW options as a table. Raises InputError."""
    pairs = [value.partition("=") for value in values]
    for (old, _, new), value in zip(pairs, values, strict=True):
        if not old or not new:
            raise InputError(f"{option} takes OLD=NEW, not {value!r}")
    return {old: new for old, _, new in pairs}


def weights_of(values: Iterable[str]) -> dict[str, float]:
    """--application NAME or NAME=WEIGHT, in order; a NAME alone has weight 1."""
    return {
        name: weight
        for value in values
        for name, weight in named_numbers([value if "=" in value else f"{value}=1"], "--application").items()
    }


def deadlines_of(names: Iterable[str], given: Mapping[str, float], slos: Mapping[str, float]) -> dict[str, float]:
    """Each application's deadline in seconds: its own in ``given`` (milliseconds), else the one for all, else its SLO.

    An application with none of the three is left out.
    """
    found = {name: given.get(name, given.get("")) for name in names}
    seconds = {name: slos.get(name) if value is None else value / 1e3 for name, value in found.items()}
    return {name: value for name, value in seconds.items() if value is not None}
