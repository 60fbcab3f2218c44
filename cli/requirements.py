"""The packages Tidewise declares, and which of them are here."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import tidewise

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_MODULES = {"grpcio": "grpc", "grpcio-health-checking": "grpc_health.v1.health", "protobuf": "google.protobuf.message"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One declared package; ``extra`` is the group it is optional in, "" if it is needed. No ``version``: not here."""

    name: str
    extra: str
    version: str | None


def requirements() -> Iterator[Requirement]:
    """Every declared package, those needed first."""
    for text in sorted(_declared(), key=lambda one: (bool(_EXTRA.search(one)), one)):
        name, extra = _NAME.match(text), _EXTRA.search(text)
        if name is not None:
            yield Requirement(name[0], extra[1] if extra else "", _version(name[0]))


def import_fault(one: Requirement) -> str | None:
    """Why a package that is here cannot be used, None if it can."""
    try:
        importlib.import_module(_MODULES.get(one.name, one.name.replace("-", "_")))
    except ImportError as error:
        return str(error)
    return None


def _declared() -> list[str]:
    """From what is installed; in a tree that is not installed, from its pyproject.toml."""
    try:
        return metadata.requires("tidewise") or []
    except metadata.PackageNotFoundError:
        file = Path(tidewise.__file__).resolve().parent.parent / "pyproject.toml"
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"] if file.exists() else {}
    groups = project.get("optional-dependencies", {})
    extras = [f'{text}; extra == "{extra}"' for extra, texts in groups.items() for text in texts]
    return [*project.get("dependencies", []), *extras]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
