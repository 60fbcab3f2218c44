"""Profiles: measured latency and memory of a variant on a device type by batch size, and their file format.

{"schema_version": 1, "host": "...", "created": "2026-01-31T12:00:00Z", "entries": [
  {"application": "garments", "variant": "xl", "digest": "<sha256 of the model file>", "device_type": "big",
   "memory_mb": 12.5, "load_ms": 35.0,
   "batches": [{"size": 1, "p50_ms": 2.1, "p95_ms": 2.4}, {"size": 8, "p50_ms": 15.0, "p95_ms": 16.1}]}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tidewise.core.errors import ProfileError
from tidewise.core.table import Table

PROFILE_SCHEMA = 1
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class BatchLatency:
    """Seconds a batch of ``size`` rows takes: median and 95th percentile."""

    size: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class VariantProfile:
    """What was measured of one variant on one device type; ``batches`` ascend in size and are not empty.

    ``memory`` in bytes covers the loaded model and the largest profiled batch. ``load`` is the seconds from file to
    ready.
    """

    application: str
    variant: str
    device_type: str
    batches: tuple[BatchLatency, ...]
    memory: int = 0
    load: float = 0.0
    digest: str = ""
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """(application, variant, device type)."""
        return self.application, self.variant, self.device_type

    @property
    def max_batch(self) -> int:
        """The largest profiled batch size."""
        return self.batches[-1].size

    def p50(self, rows: int) -> float:
        """Median seconds of a batch of ``rows``, linear between profiled sizes.

        Below the smallest profiled size the smallest counts (it would be padded). Never extrapolated: ValueError
        above the largest.
        """
        first = self.batches[0]
        return first.p50 if rows <= first.size else _between(self.batches, rows, [one.p50 for one in self.batches])

    def p95(self, rows: int) -> float:
        """95th percentile, as ``p50``."""
        first = self.batches[0]
        return first.p95 if rows <= first.size else _between(self.batches, rows, [one.p95 for one in self.batches])

    def stretched(self, factor: float) -> VariantProfile:
        """The profile of a device on which every batch takes ``factor`` times as long."""
        if factor == 1.0:
            return self
        slower = tuple(BatchLatency(one.size, one.p50 * factor, one.p95 * factor) for one in self.batches)
        return replace(self, batches=slower)


def _between(batches: tuple[BatchLatency, ...], rows: int, values: list[float]) -> float:
    if rows > batches[-1].size:
        raise ValueError(f"{rows} rows exceed the largest profiled batch of {batches[-1].size}")
    below = batches[0].size
    value = values[0]
    for batch, here in zip(batches, values, strict=True):
        if rows <= batch.size:
            if batch.size == below:
                return here
            return value + (here - value) * max(0, rows - below) / (batch.size - below)
        below, value = batch.size, here
    return value


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of variant profiles taken on one host."""

    entries: dict[Key, VariantProfile] = field(default_factory=dict)
    host: str = ""
    created: str = ""

    def get(self, application: str, variant: str, device_type: str) -> VariantProfile | None:
        """The entry, if measured."""
        return self.entries.get((application, variant, device_type))

    def with_entries(self, entries: Iterable[VariantProfile]) -> Profile:
        """A profile in which these entries replace those of the same key."""
        merged = {**self.entries, **{one.key: one for one in entries}}
        return Profile(merged, self.host, self.created)


def parse_profile(text: str, where: str, faults: list[str] | None = None) -> Profile:
    """The profile in a JSON text; ``where`` names the file in error texts.

    Raises ProfileError at the first fault; or, given a list of ``faults``, notes them all there.
    """
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise ProfileError(f"{where} is not valid JSON: {error}") from error
    table = Table(values, where, ProfileError, faults)
    table.integer("schema_version", low=PROFILE_SCHEMA, high=PROFILE_SCHEMA)
    profile = Profile(host=table.text("host", ""), created=table.text("created", ""))
    entries = [(one.where, _entry(one)) for one in table.tables("entries")]
    table.done()
    seen: set[Key] = set()
    for at, entry in entries:
        if entry.key in seen:
            application, variant, device_type = entry.key
            table.fault(
                f"{at}: application {application!r}, variant {variant!r}, device type {device_type!r} stands twice;"
                " remove one"
            )
        seen.add(entry.key)
    return profile.with_entries(entry for _, entry in entries)


def _entry(table: Table) -> VariantProfile:
    entry = VariantProfile(
        application=table.text("application"),
        variant=table.text("variant"),
        device_type=table.text("device_type"),
        digest=table.text("digest", ""),
        memory=round(table.number("memory_mb", 0.0) * 1e6),
        load=table.number("load_ms", 0.0) / 1e3,
        batches=tuple(_batch(one) for one in table.tables("batches")),
        notes=table.texts("notes"),
    )
    table.done()
    sizes = [one.size for one in entry.batches]
    if not sizes or sizes != sorted(set(sizes)):
        table.fault(f"{table.where}: batches must ascend in size and not be empty, not {sizes}")
    return entry


def _batch(table: Table) -> BatchLatency:
    size = table.integer("size", low=1)
    p50 = table.number("p50_ms", low=1e-6) / 1e3
    p95 = table.number("p95_ms", low=1e-6) / 1e3
    table.done()
    return BatchLatency(size, p50, p95)


def format_profile(profile: Profile) -> str:
    """The JSON text of a profile, entries sorted by key."""
    entries = [_entry_values(profile.entries[key]) for key in sorted(profile.entries)]
    values = {
        "schema_version": PROFILE_SCHEMA,
        "host": profile.host,
        "created": profile.created,
        "entries": entries,
    }
    return json.dumps(values, indent=1) + "\n"


def _entry_values(entry: VariantProfile) -> dict[str, Any]:
    return {
        "application": entry.application,
        "variant": entry.variant,
        "device_type": entry.device_type,
        "digest": entry.digest,
        "memory_mb": round(entry.memory / 1e6, 3),
        "load_ms": round(entry.load * 1e3, 3),
        "batches": [
            {"size": one.size, "p50_ms": round(one.p50 * 1e3, 6), "p95_ms": round(one.p95 * 1e3, 6)}
            for one in entry.batches
        ],
        "notes": list(entry.notes),
    }
