"""Profiles: interpolation that never leaves what was measured, and the file that keeps them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.errors import ProfileError
from tidewise.core.profile import BatchLatency, Profile, VariantProfile, format_profile, parse_profile

milliseconds = st.integers(1, 10**9).map(lambda value: value / 1e6)  # whole nanoseconds


@st.composite
def entries(draw: st.DrawFn) -> VariantProfile:
    sizes = sorted(draw(st.sets(st.integers(1, 64), min_size=1, max_size=5)))
    batches = [BatchLatency(size, draw(milliseconds) / 1e3, draw(milliseconds) / 1e3) for size in sizes]
    return VariantProfile(
        application=draw(st.sampled_from(["a", "b"])),
        variant=draw(st.sampled_from(["x", "y"])),
        device_type=draw(st.sampled_from(["big", "small"])),
        batches=tuple(batches),
        memory=draw(st.integers(0, 10**6)) * 1000,
        load=draw(st.integers(0, 10**6)) / 1e6,
        digest=draw(st.text("0123456789abcdef", max_size=8)),
        notes=tuple(draw(st.lists(st.text(max_size=5), max_size=2))),
    )


def profile(*points: tuple[int, float]) -> VariantProfile:
    return VariantProfile("a", "v", "big", tuple(BatchLatency(size, p50, 2 * p50) for size, p50 in points))


def test_between_sizes_it_is_linear_and_below_the_smallest_level() -> None:
    one = profile((2, 0.010), (4, 0.030), (8, 0.040))
    assert [one.p50(rows) for rows in (1, 2, 3, 4, 6, 8)] == pytest.approx([0.010, 0.010, 0.020, 0.030, 0.035, 0.040])
    assert one.p95(3) == pytest.approx(0.040)


def test_it_is_never_extrapolated() -> None:
    with pytest.raises(ValueError, match="9 rows exceed the largest profiled batch of 8"):
        profile((1, 0.01), (8, 0.05)).p50(9)


@given(entries(), st.integers(1, 64))
def test_an_interpolated_value_lies_between_its_neighbours(entry: VariantProfile, rows: int) -> None:
    if rows <= entry.max_batch:
        below = [one.p50 for one in entry.batches if one.size <= rows][-1:] or [entry.batches[0].p50]
        above = next(one.p50 for one in entry.batches if one.size >= rows)
        assert min(below[0], above) - 1e-12 <= entry.p50(rows) <= max(below[0], above) + 1e-12


@given(st.lists(entries(), max_size=6))
def test_a_profile_written_and_read_is_the_same(found: list[VariantProfile]) -> None:
    one = Profile(host="here", created="2026-01-31T12:00:00Z").with_entries(found)
    text = format_profile(one)
    again = parse_profile(text, "p.json")
    assert format_profile(again) == text
    assert (again.host, again.created, set(again.entries)) == (one.host, one.created, set(one.entries))
    for key, entry in one.entries.items():
        assert again.entries[key].batches == tuple(
            BatchLatency(each.size, pytest.approx(each.p50), pytest.approx(each.p95)) for each in entry.batches
        )
        assert (again.entries[key].memory, again.entries[key].notes) == (entry.memory, entry.notes)


def test_new_entries_replace_those_of_the_same_key_only() -> None:
    old, new = profile((1, 0.01)), profile((1, 0.02))
    other = VariantProfile("a", "w", "big", old.batches)
    merged = Profile().with_entries([old, other]).with_entries([new])
    assert merged.get("a", "v", "big") == new
    assert merged.get("a", "w", "big") == other
    assert merged.get("a", "v", "small") is None


def entry_text(**changes: object) -> str:
    entry = {"application": "a", "variant": "v", "device_type": "big", "batches": [BATCH]} | changes
    return json.dumps({"schema_version": 1, "entries": [entry]})


BATCH = {"size": 1, "p50_ms": 1.0, "p95_ms": 1.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "p.json is not valid JSON"),
        ("[]", "p.json must be a table"),
        ('{"schema_version": 2, "entries": []}', "schema_version must be"),
        ('{"schema_version": 1, "entries": {}}', "entries must be a list of tables"),
        ('{"schema_version": 1, "extra": 1}', "unknown key 'extra'"),
        (entry_text(batches=[]), r"entries\[0\]: batches must ascend in size and not be empty"),
        (
            entry_text(batches=[{**BATCH, "size": 2}, BATCH]),
            r"batches must ascend in size and not be empty, not \[2, 1",
        ),
        (entry_text(batches=[BATCH, BATCH]), "batches must ascend"),
        (entry_text(batches=[{**BATCH, "p95_ms": 0}]), r"entries\[0\] batches\[0\]: p95_ms must be a number"),
        (entry_text(batches=[{**BATCH, "p99_ms": 2}]), "unknown key 'p99_ms'"),
        (entry_text(variant=None), "variant is missing"),
        (entry_text(notes="one"), "notes must be a list of texts"),
    ],
)
def test_a_wrong_profile_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        parse_profile(text, "p.json")


def test_one_entry_measured_twice_is_refused() -> None:
    entry = {"application": "a", "variant": "v", "device_type": "big", "batches": [BATCH]}
    with pytest.raises(
        ProfileError, match=r"entries\[1\]: application 'a', variant 'v', device type 'big' stands twice"
    ):
        parse_profile(json.dumps({"schema_version": 1, "entries": [entry, entry]}), "p.json")
