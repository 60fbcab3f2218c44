"""Measuring a repository: what is measured, what is taken from the file, what is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tidewise.core.application import Variant
from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.errors import EngineError, ProfileError
from tidewise.core.profile import BatchLatency, Profile, VariantProfile, format_profile
from tidewise.worker.profiling.effort import FULL, QUICK, Effort
from tidewise.worker.profiling.profiler import slowed
from tidewise.worker.profiling.store import Step, load_or_measure, read_profile, write_profile
from tidewise.worker.profiling.subject import read_subjects
from tidewise.worker.profiling.tasks import conditions, missing_tasks, still_holds

BRIEF = QUICK


class Steps:
    def __init__(self) -> None:
        self.seen: list[Step] = []

    def __call__(self, step: Step) -> None:
        self.seen.append(step)


def measured_again(repository: Path, cluster: Cluster, cache: Path, effort: Effort = BRIEF) -> list[str]:
    steps = Steps()
    load_or_measure(repository, cluster, cache, effort, steps)
    return [one.label for one in steps.seen if one.label]


@pytest.fixture
def cache(tmp_path: Path, measured: Path) -> Path:
    path = tmp_path / "state" / "profile.json"
    path.parent.mkdir()
    shutil.copy(measured, path)
    return path


def test_every_variant_is_measured_on_every_device_type_at_every_batch_size(cache: Path) -> None:
    profile = read_profile(cache)
    assert sorted(profile.entries) == [
        ("pictures", name, kind) for name in ("large", "small") for kind in ("big", "slow")
    ]
    for entry in profile.entries.values():
        assert [one.size for one in entry.batches] == [1, 2, 8]
        assert all(0 < one.p50 <= one.p95 for one in entry.batches)
        assert entry.memory > 0
        assert entry.load > 0
        assert len(entry.digest) == 64


def test_a_slowed_type_shares_the_measurement_of_the_processor_it_plays_on(cache: Path) -> None:
    profile = read_profile(cache)
    big, slow = (profile.entries["pictures", "large", kind] for kind in ("big", "slow"))
    for real, played in zip(big.batches, slow.batches, strict=True):
        assert played.p50 == pytest.approx(4 * real.p50, rel=1e-3)
        assert played.p95 - played.p50 == pytest.approx(real.p95 - real.p50, abs=2e-9)


def test_slowing_moves_the_median_and_keeps_the_spread() -> None:
    slow = DeviceType("slow", provider="slowdown", slowdown=3.0)
    assert slowed(BatchLatency(1, 0.25, 0.5), slow) == BatchLatency(1, 0.75, 1.0)
    assert slowed(BatchLatency(1, 0.010, 0.012), DeviceType("big")) == BatchLatency(1, 0.010, 0.012)


def test_what_the_file_holds_is_not_measured_again(repository: Path, cluster: Cluster, cache: Path) -> None:
    before = cache.read_text()
    assert measured_again(repository, cluster, cache) == []
    assert cache.read_text() == before


def test_only_a_changed_model_file_is_measured_again(repository: Path, cluster: Cluster, cache: Path) -> None:
    shutil.copy(repository / "pictures/large/model.onnx", repository / "pictures/small/model.onnx")
    assert measured_again(repository, cluster, cache) == ["pictures small on big, slow"]


def test_only_the_device_type_whose_settings_changed_is_measured_again(
    repository: Path, cluster: Cluster, cache: Path
) -> None:
    slower = replace(cluster.device_types["slow"], slowdown=8.0)
    changed = replace(cluster, device_types={**cluster.device_types, "slow": slower})
    assert measured_again(repository, changed, cache) == ["pictures small on slow", "pictures large on slow"]


def test_an_interrupted_profile_goes_on_where_it_stopped(repository: Path, cluster: Cluster, tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(step: Step) -> None:
        if step.done == 1:
            raise Interrupted

    out = tmp_path / "profile.json"
    with pytest.raises(Interrupted):
        load_or_measure(repository, cluster, out, BRIEF, interrupt)
    assert measured_again(repository, cluster, out) == ["pictures large on big, slow"]


def test_figures_of_another_machine_are_measured_anew(repository: Path, cluster: Cluster, cache: Path) -> None:
    write_profile(cache, replace(read_profile(cache), host="elsewhere"))
    assert len(measured_again(repository, cluster, cache)) == 2


def test_a_thorough_measurement_serves_where_a_quick_one_is_asked_for_but_not_the_reverse() -> None:
    big, variant = DeviceType("big", batch_sizes=(1,)), Variant("v", 1, "v.onnx", digest="d")
    entry = VariantProfile("a", "v", "big", (BatchLatency(1, 1.0, 1.0),), digest="d", notes=(conditions(big, FULL),))
    assert still_holds(entry, variant, big, QUICK)
    assert still_holds(entry, variant, big, FULL)
    assert not still_holds(replace(entry, notes=(conditions(big, QUICK),)), variant, big, FULL)


def test_fewer_allotted_cores_make_old_figures_of_more_threads_void(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, variant = DeviceType("pair", threads=2, batch_sizes=(1,)), Variant("v", 1, "v.onnx", digest="d")
    monkeypatch.setattr("tidewise.worker.engine.choose.allotted_cores", lambda: 2)
    entry = VariantProfile("a", "v", "pair", (BatchLatency(1, 1.0, 1.0),), digest="d", notes=(conditions(pair, QUICK),))
    assert still_holds(entry, variant, pair, QUICK)
    monkeypatch.setattr("tidewise.worker.engine.choose.allotted_cores", lambda: 1)
    assert not still_holds(entry, variant, pair, QUICK)


def test_a_variant_s_own_batch_sizes_are_the_ones_measured(repository: Path, cluster: Cluster, tmp_path: Path) -> None:
    toml = repository / "pictures/application.toml"
    toml.write_text(toml.read_text() + "batch_sizes = [2, 4, 64]\n")  # of the last variant, large
    profile = load_or_measure(repository, cluster, tmp_path / "p.json", BRIEF)
    assert [one.size for one in profile.entries["pictures", "large", "big"].batches] == [2, 4]


def test_a_variant_that_cannot_be_trusted_stops_the_profile_by_name_and_keeps_the_rest(
    repository: Path, cluster: Cluster, tmp_path: Path
) -> None:
    leaky = Path(__file__).parent.parent / "data/engine/leaky_rows.onnx"
    shutil.copy(leaky, repository / "pictures/large/model.onnx")
    with pytest.raises(EngineError, match=r"'large' of 'pictures'.*input 0 of test\.npz"):
        load_or_measure(repository, cluster, tmp_path / "p.json", BRIEF)
    assert ("pictures", "small", "big") in read_profile(tmp_path / "p.json").entries


def emulated(tmp_path: Path, variants: tuple[str, ...]) -> Cluster:
    batches = (BatchLatency(1, 0.01, 0.02),)
    entries = [VariantProfile("pictures", name, "rack", batches) for name in variants]
    (tmp_path / "rack.json").write_text(format_profile(Profile().with_entries(entries)))
    return Cluster({"rack": DeviceType("rack", provider="emulated", profile=str(tmp_path / "rack.json"))})


def test_an_emulated_type_takes_its_figures_from_its_file(repository: Path, tmp_path: Path) -> None:
    steps = Steps()
    cluster = emulated(tmp_path, ("small", "large"))
    profile = load_or_measure(repository, cluster, tmp_path / "p.json", BRIEF, steps)
    assert [one.total for one in steps.seen] == [0]
    assert profile.entries["pictures", "small", "rack"].p50(1) == 0.01
    assert read_profile(tmp_path / "p.json").entries == profile.entries


def test_an_emulated_variant_without_figures_is_refused_not_invented(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"rack\.json has no entry for variant 'large' of 'pictures'"):
        load_or_measure(repository, emulated(tmp_path, ("small",)), tmp_path / "p.json", BRIEF)


def test_a_broken_profile_file_is_named(repository: Path, cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("{")
    with pytest.raises(ProfileError, match=r"p\.json is not valid JSON"):
        load_or_measure(repository, cluster, tmp_path / "p.json", BRIEF)


def test_types_that_differ_in_threads_are_measured_apart(repository: Path) -> None:
    types = [DeviceType("one", threads=1), DeviceType("two", threads=2), DeviceType("also-one", threads=1)]
    found = missing_tasks(read_subjects(repository), types, Profile(), QUICK)
    assert [one.label for one in found] == [
        "pictures small on one, also-one",
        "pictures large on one, also-one",
        "pictures small on two",
        "pictures large on two",
    ]
