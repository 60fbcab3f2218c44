"""A process of the command line with its log in a file, and its metrics as numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


@dataclass
class Process:
    """A running `tidewise` process."""

    popen: subprocess.Popen[bytes]
    file: Path

    def lines(self, **values: str) -> list[dict[str, Any]]:
        """The log's lines so far that have these values."""
        whole = self.file.read_text().rpartition("\n")[0].splitlines()
        found = [json.loads(line) for line in whole]
        return [line for line in found if values.items() <= line.items()]

    def line(self, **values: str) -> dict[str, Any]:
        """The first such line, waited for."""
        wait_until(lambda: self.lines(**values), str(values))
        return self.lines(**values)[0]


@contextmanager
def tidewise(file: Path, *words: str) -> Iterator[Process]:
    """A process, ended with SIGTERM when the block ends."""
    with file.open("wb") as log:
        popen = subprocess.Popen(
            [sys.executable, "-m", "tidewise.cli.main", *words],
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    try:
        yield Process(popen, file)
    finally:
        popen.terminate()
        try:
            popen.wait(30)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()


class Scrape:
    """What a process exported at one moment."""

    def __init__(self, address: str) -> None:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
            self.text = answer.read().decode()
        self.samples = [one for family in text_string_to_metric_families(self.text) for one in family.samples]

    def all(self, name: str, **labels: str) -> list[Sample]:
        """Every series of this name with these labels."""
        return [one for one in self.samples if one.name == name and labels.items() <= one.labels.items()]

    def sum(self, name: str, **labels: str) -> float:
        """Their sum."""
        return sum(one.value for one in self.all(name, **labels))

    def buckets(self, name: str, **labels: str) -> dict[float, float]:
        """Cumulative counts by upper bound, summed over series."""
        found: dict[float, float] = {}
        for one in self.all(f"{name}_bucket", **labels):
            bound = float(one.labels["le"])
            found[bound] = found.get(bound, 0.0) + one.value
        return found


def wait_until(condition: Callable[[], Any], what: str = "", seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)
