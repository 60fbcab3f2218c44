"""The state folder: applications applied at run time, the plan in force, and what must never go back.

    repository/<application>.<n>/    files of an application, complete before anything names the folder
    incoming/                        uploads that are not complete
    lock                             held while a controller uses the folder
    state.json                       which folders count, which applications were removed, the revision block
    plan.json                        the plan in force
    transitions.json                 applications that are being replaced while they serve

Every file is replaced by a rename, so that a kill at any moment leaves the old state or the new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from google.protobuf import json_format

from tidewise.controller.retiring import Transition
from tidewise.controller.transition_file import format_transitions, parse_transitions
from tidewise.core.errors import ConfigError
from tidewise.core.plan import EMPTY_PLAN, Plan
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import plan_message, plan_noun

SCHEMA = 1
REVISIONS = 1_000_000  # each start takes a fresh block of revisions, so they need not be written one by one


@dataclass(slots=True)
class Store:
    """The state folder, opened. ``applied`` maps applications to folder names under repository/."""

    folder: Path
    applied: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    revision_base: int = 0
    _number: int = 0
    _lock: IO[str] | None = None

    @property
    def repository(self) -> Path:
        """Where applied applications live."""
        return self.folder / "repository"

    @classmethod
    def open(cls, folder: Path) -> Store:
        """The store in this folder, made if need be. Raises ConfigError if it cannot be used."""
        store = cls(folder)
        try:
            store.repository.mkdir(parents=True, exist_ok=True)
            store._take()
            shutil.rmtree(folder / "incoming", ignore_errors=True)
            store._load(_read(folder / "state.json"))
            store.revision_base += REVISIONS
            store._save()
        except OSError as error:
            raise ConfigError(f"the state folder {folder} cannot be used: {error}") from error
        store._sweep()
        return store

    def close(self) -> None:
        """Let another controller use the folder."""
        if self._lock is not None:
            self._lock.close()

    def folder_of(self, application: str) -> Path | None:
        """Where the files of an applied application are."""
        name = self.applied.get(application)
        return None if name is None else self.repository / name

    def incoming(self) -> Path:
        """A new empty folder for an upload."""
        (self.folder / "incoming").mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=self.folder / "incoming"))

    def commit(self, application: str, upload: Path) -> Path:
        """Make a complete upload the files of this application; returns where they are now. OSError changes nothing."""
        self._number += 1
        name = f"{application}.{self._number}"
        upload.rename(self.repository / name)
        old = self.folder_of(application)
        self._change({**self.applied, application: name}, self.removed - {application})
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
        return self.repository / name

    def remove(self, application: str) -> None:
        """Forget an application, also one that a repository given at the start would bring back.

        OSError changes nothing.
        """
        old = self.folder_of(application)
        left = {name: folder for name, folder in self.applied.items() if name != application}
        self._change(left, self.removed | {application})
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def keep_plan(self, plan: Plan) -> None:
        """Write the plan in force."""
        _replace(self.folder / "plan.json", json_format.MessageToJson(plan_message(plan)))

    def last_plan(self) -> Plan:
        """The plan in force when the controller stopped; the empty one if there was none or it cannot be read."""
        try:
            text = (self.folder / "plan.json").read_text(encoding="utf-8")
            return plan_noun(json_format.Parse(text, pb.Plan()))
        except (OSError, ValueError, json_format.ParseError):
            return EMPTY_PLAN

    def keep_transitions(self, transitions: Mapping[str, Transition]) -> None:
        """Write which applications are being replaced."""
        _replace(self.folder / "transitions.json", format_transitions(transitions))

    def last_transitions(self) -> dict[str, Transition]:
        """Those under way when the controller stopped; none if there were none or they cannot be read."""
        file = self.folder / "transitions.json"
        try:
            return parse_transitions(file.read_text(encoding="utf-8"), str(file))
        except (OSError, ValueError, ConfigError):
            return {}

    def _take(self) -> None:
        self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(f"the state folder {self.folder} is used by another controller; give --state") from error

    def _load(self, values: dict[str, Any]) -> None:
        self.applied = dict(values.get("applied", {}))
        self.removed = set(values.get("removed", []))
        self.revision_base = int(values.get("revision_base", 0))
        self._number = int(values.get("number", 0))

    def _change(self, applied: dict[str, str], removed: set[str]) -> None:
        """Written first: what the folder does not hold would be undone by the next start."""
        before = self.applied, self.removed
        self.applied, self.removed = applied, removed
        try:
            self._save()
        except OSError:
            self.applied, self.removed = before
            raise

    def _save(self) -> None:
        values = {
            "schema_version": SCHEMA,
            "applied": self.applied,
            "removed": sorted(self.removed),
            "revision_base": self.revision_base,
            "number": self._number,
        }
        _replace(self.folder / "state.json", json.dumps(values, indent=1) + "\n")

    def _sweep(self) -> None:
        """Delete folders nothing names: what a kill left behind."""
        for path in self.repository.iterdir():
            if path.name not in self.applied.values():
                shutil.rmtree(path, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is damaged ({error}); move it away to start without what was applied") from error
    if not isinstance(values, dict) or values.get("schema_version") != SCHEMA:
        raise ConfigError(f"{path} was not written by this version; move it away to start without what was applied")
    return values


def _replace(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)
