"""Reading a table of a TOML or JSON file strictly: every key known, every value of its kind, or one clear sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from tidewise.core.errors import InputError

_NOTHING = object()
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Table:
    """One table of a parsed file. Take each key, then call ``done``: a key nobody took is unknown and refused.

    ``where`` names the place for error texts (such as ``cluster.toml [planner]``); ``error`` is the class raised. Where
    a list of ``faults`` is given, nothing is raised: every fault is noted there, and something harmless stands in.
    """

    def __init__(
        self, values: object, where: str, error: type[InputError] = InputError, faults: list[str] | None = None
    ) -> None:
        self.where = where
        self.error = error
        self.faults = faults
        self._known: list[str] = []
        if not isinstance(values, Mapping):
            self.fault(f"{where} must be a table of keys and values, not {type(values).__name__}")
            values = {}
        self.values: dict[str, Any] = dict(values)

    def fault(self, text: str) -> None:
        """Something here is wrong: raise the error, or note it."""
        if self.faults is None:
            raise self.error(text)
        self.faults.append(text)

    def take(self, key: str) -> Any:
        """The raw value of the key, or None if it is absent."""
        self._known.append(key)
        return self.values.pop(key, None)

    def number(self, key: str, default: float | None = None, *, low: float = 0.0, high: float = float("inf")) -> float:
        """A finite number within [low, high]."""
        value = self._or_default(key, default)
        stand_in = max(low, 0.0) if default is None else default
        if value is _NOTHING:
            return stand_in
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.fault(f"{self.where}: {key} must be a number {_between(low, high)}, not {value!r}")
            return stand_in
        if abs(value) > sys.float_info.max:
            self.fault(f"{self.where}: {key} must be finite, not {value!r:.20}")
            return stand_in
        return float(value)

    def integer(self, key: str, default: int | None = None, *, low: int = 0, high: int = 2**53) -> int:
        """A whole number within [low, high]."""
        value = self._or_default(key, default)
        stand_in = low if default is None else default
        if value is _NOTHING:
            return stand_in
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(f"{self.where}: {key} must be a whole number {_between(low, high)}, not {value!r}")
            return stand_in
        return value

    def boolean(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._or_default(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{self.where}: {key} must be true or false, not {value!r}")
        return value

    def text(self, key: str, default: str | None = None, *, choices: tuple[str, ...] = ()) -> str:
        """A string, one of ``choices`` if any are given."""
        value = self._or_default(key, default)
        if value is _NOTHING:
            return choices[0] if choices else ""
        if not isinstance(value, str):
            self.fault(f"{self.where}: {key} must be text, not {value!r}")
            return default or ""
        if choices and value not in choices:
            self.fault(f"{self.where}: {key} must be one of {', '.join(choices)}, not {value!r}")
            return choices[0]
        return value

    def name(self, key: str) -> str:
        """A name that can stand in paths, labels and gRPC metadata."""
        before = len(self.faults or ())
        found = self.text(key)
        return found if len(self.faults or ()) > before else self.checked_name(found, key)

    def checked_name(self, name: str, what: str) -> str:
        """The name, if it is one; ``what`` says whose it is in the error text."""
        if not _NAME.fullmatch(name):
            self.fault(
                f"{self.where}: {what} {name!r} must start with a letter or digit and hold only letters, digits, . _ -"
                " (63 at most)"
            )
        return name

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, empty if absent."""
        value = self.take(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            self.fault(f"{self.where}: {key} must be a list of texts, not {value!r}")
            return ()
        return tuple(value or ())

    def integers(self, key: str, default: tuple[int, ...] | None = None, *, low: int = 0) -> tuple[int, ...]:
        """A list of whole numbers, each at least ``low``."""
        value = self._or_default(key, default)
        if value is _NOTHING:
            return ()
        if not isinstance(value, list | tuple) or not all(type(one) is int and one >= low for one in value):
            self.fault(f"{self.where}: {key} must be a list of whole numbers of at least {low}, not {value!r}")
            return default or ()
        return tuple(value)

    def table(self, key: str) -> Table:
        """The table under the key, empty if absent."""
        value = self.take(key)
        return Table({} if value is None else value, f"{self.where} [{key}]", self.error, self.faults)

    def tables(self, key: str) -> list[Table]:
        """The list of tables under the key, empty if absent."""
        value = self.take(key)
        value = [] if value is None else value
        if not isinstance(value, list):
            self.fault(f"{self.where}: {key} must be a list of tables ([[{key}]])")
            return []
        return [Table(one, f"{self.where} {key}[{i}]", self.error, self.faults) for i, one in enumerate(value)]

    def named_tables(self, key: str) -> dict[str, Table]:
        """The tables under ``key`` by name, as in [device_types.big]."""
        inner = self.table(key)
        return {
            name: Table(value, f"{self.where} [{key}.{name}]", self.error, self.faults)
            for name, value in inner.values.items()
        }

    def has(self, key: str) -> bool:
        """Whether an optional key is there; it is known from now on."""
        self._known.append(key)
        return key in self.values

    def done(self) -> None:
        """Refuse whatever was not taken."""
        if self.values:
            unknown = ", ".join(sorted(map(repr, self.values)))
            self.fault(f"{self.where}: unknown key {unknown}; known: {', '.join(sorted(set(self._known)))}")

    def _or_default(self, key: str, default: Any) -> Any:
        value = self.take(key)
        if value is not None:
            return value
        if default is None:
            self.fault(f"{self.where}: {key} is missing")
            return _NOTHING
        return default


def _between(low: float, high: float) -> str:
    return f"of at least {low:g}" if high >= 2**53 else f"between {low:g} and {high:g}"
