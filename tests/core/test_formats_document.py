"""docs/formats.md shows files that are read, and the defaults that are."""

from pathlib import Path

import pytest

from tidewise.core.case_file import read_case
from tidewise.core.cluster import Cluster
from tidewise.core.clusterfile import parse_cluster
from tidewise.core.profile import parse_profile
from tidewise.core.repository import parse_application
from tidewise.core.trace import parse_trace

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text()


def block(first: str) -> str:
    """The indented block that begins with this line."""
    lines = TEXT.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(first))
    taken = []
    for line in lines[start:]:
        if line and not line.startswith("    "):
            break
        taken.append(line[4:])
    return "\n".join(taken)


def test_the_cluster_file_shown_is_the_default() -> None:
    shown, default = parse_cluster(block("[ports]"), "docs"), Cluster()
    assert (shown.ports, shown.policies) == (default.ports, default.policies)
    assert (shown.planner, shown.limits) == (default.planner, default.limits)
    assert shown.device_types["big"].slowdown == 16.0


def test_the_application_shown_is_read() -> None:
    application = parse_application(block('name = "garments"'), "docs")
    assert application.variants[0].batch_sizes == (1, 2, 4)


@pytest.mark.parametrize(
    ("first", "read"),
    [
        ('{"device_types"', read_case),
        ('{"schema_version": 1, "host"', lambda text: parse_profile(text, "docs")),
        ("arrival_s,", lambda text: parse_trace(text, "docs")),
    ],
)
def test_the_other_files_shown_are_read(first: str, read) -> None:  # type: ignore[no-untyped-def]
    assert read(block(first)) is not None
