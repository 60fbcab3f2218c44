"""Quarantine: model files a device could not load are planned around, until something about them changes.

The rule. The first time a device refuses a model file, the plan is sent again: loading may have failed for a passing
reason. The second time, the file is barred from that device. A file barred from two devices is barred from all: it is
the file that is broken. A device is released when its process starts anew, a file when no application names it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

PATIENCE = 2  # refusals of one file by one device
WITNESSES = 2  # devices that bar a file for all


@dataclass(slots=True)
class Quarantine:
    """Counts refusals by (device, digest); ``why`` keeps the last reason of those that are barred."""

    why: dict[tuple[str, str], str] = field(default_factory=dict)
    _refusals: Counter[tuple[str, str]] = field(default_factory=Counter)
    _processes: dict[str, str] = field(default_factory=dict)

    def refused(self, device: str, digests: Iterable[str], reason: str) -> bool:
        """A device refused an order that needed these files. True if one is barred from it now, False: try again."""
        barred = False
        for digest in digests:
            self._refusals[device, digest] += 1
            if self._refusals[device, digest] >= PATIENCE:
                self.why[device, digest] = reason
                barred = True
        return barred

    def seen(self, device: str, process: str) -> None:
        """A device reports from this process; a new process is a new chance."""
        if self._processes.setdefault(device, process) != process:
            self._processes[device] = process
            self._forget({key for key in self._refusals if key[0] == device})

    def keep_only(self, digests: Collection[str]) -> None:
        """The files applications name now; others are forgotten."""
        self._forget({key for key in self._refusals if key[1] not in digests})

    def barred(self, devices: Collection[str]) -> frozenset[tuple[str, str]]:
        """The (device, digest) pairs not to be planned, for these devices."""
        if not self.why:
            return frozenset()
        by_digest: dict[str, set[str]] = defaultdict(set)
        for device, digest in self.why:
            by_digest[digest].add(device)
        broken = {digest for digest, witnesses in by_digest.items() if len(witnesses) >= WITNESSES}
        everywhere = {(device, digest) for device in devices for digest in broken}
        return frozenset(everywhere | {key for key in self.why if key[0] in devices})

    def _forget(self, keys: Collection[tuple[str, str]]) -> None:
        for key in keys:
            self._refusals.pop(key, None)
            self.why.pop(key, None)
