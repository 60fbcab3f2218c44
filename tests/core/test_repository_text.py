"""application.toml and accuracy.json: what they say is read, what they should not say is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.application import TestData as LabelledData
from tidewise.core.errors import RepositoryError
from tidewise.core.files import application_folders, read_repository, read_source
from tidewise.core.repository import (
    ApplicationSource,
    MeasuredAccuracy,
    format_accuracy,
    parse_accuracy,
    parse_application,
    wilson_interval,
)

GOOD = """
name = "letters"
description = "single letters"
slo_ms = 150.0
weight = 2.0
min_accuracy = 0.5
[[inputs]]
name = "x"
datatype = "FP32"
shape = [1, -1]
[[outputs]]
name = "y"
datatype = "INT64"
shape = []
[test_data]
file = "test.npz"
labels = "labels"
output = "y"
[[variants]]
name = "top"
version = 6
tolerance = 0.01
batch_sizes = [8, 1]
[[variants]]
name = "low"
version = 2
model = "models/low.onnx"
"""


def test_everything_an_application_says_is_read() -> None:
    assert parse_application(GOOD, "application.toml") == Application(
        name="letters",
        slo=0.15,
        variants=(
            Variant("low", 2, "models/low.onnx"),
            Variant("top", 6, "top/model.onnx", tolerance=0.01, batch_sizes=(1, 8)),
        ),
        inputs=(TensorSpec("x", "FP32", (1, -1)),),
        outputs=(TensorSpec("y", "INT64", ()),),
        weight=2.0,
        min_accuracy=0.5,
        description="single letters",
        test_data=LabelledData("test.npz", "labels", "y"),
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "letters"', "", "name is missing"),
        ('name = "letters"', 'name = "../up"', r"name '\.\./up' must start with a letter or digit"),
        ('name = "letters"', 'name = "a b"', "name 'a b' must"),
        ("slo_ms = 150.0", "slo_ms = 0", "slo_ms must be a number of at least 0.001, not 0"),
        ("slo_ms = 150.0", "slo = 150", "slo_ms is missing"),
        ("min_accuracy = 0.5", "min_accuracy = 50", "min_accuracy must be a number between 0 and 1, not 50"),
        ("weight = 2.0", "min_replicas = 1.5", "min_replicas must be a whole number"),
        ("weight = 2.0", "headroom = 0.9", "headroom must be a number between 1 and 100, not 0.9"),
        ("weight = 2.0", "weight = 0", "weight must be"),
        ("weight = 2.0", "wieght = 2.0", "unknown key 'wieght'"),
        ('datatype = "FP32"', 'datatype = "FLOAT"', r"inputs\[0\]: datatype must be one of BOOL, .* not 'FLOAT'"),
        ("shape = [1, -1]", "shape = [1, -2]", r"inputs\[0\]: shape must be a list of whole numbers of at least -1"),
        ("shape = [1, -1]", "shape = [0]", r"inputs\[0\]: shape \[0\] has an axis of length 0; use -1 for a free axis"),
        ("version = 6", "version = 2", "variants names '2' twice"),
        ("version = 6", "version = 0", "version must be a whole number"),
        ('name = "top"', 'name = "low"', "variants names 'low' twice"),
        ('name = "top"', 'name = "2"', "variant '2' is named like the version of variant 'low'"),
        ('output = "y"', 'output = "y"\nmetric = "f1"', "metric must be one of top1, not 'f1'"),
        ('labels = "labels"', "", r"\[test_data\]: labels is missing"),
        ("[[variants]]", "[[variant]]", "at least one \\[\\[variants\\]\\] is needed"),
        ("[[inputs]]", "[[input]]", "at least one \\[\\[inputs\\]\\] is needed"),
        ("slo_ms = 150.0", "slo_ms = ", "application.toml is not valid TOML"),
    ],
)
def test_a_wrong_application_is_one_sentence(old: str, new: str, said: str) -> None:
    with pytest.raises(RepositoryError, match=said):
        parse_application(GOOD.replace(old, new), "application.toml")


def test_a_variant_is_found_by_name_or_version() -> None:
    application = parse_application(GOOD, "t")
    assert application.variant("top") is application.variant("6") is not None
    assert application.variant("nothing") is None


def test_accuracy_counts_only_for_the_model_it_was_measured_on() -> None:
    measured = {"top": MeasuredAccuracy(9, 10, "digest-top"), "low": MeasuredAccuracy(7, 10, "older")}
    digests = {"top": "digest-top", "low": "digest-low"}
    application = ApplicationSource(GOOD, format_accuracy(measured), digests).parse()
    assert [(one.name, one.accuracy, one.digest) for one in application.variants] == [
        ("low", None, "digest-low"),
        ("top", 0.9, "digest-top"),
    ]
    assert application.best_accuracy() == 0.9


def test_an_application_that_was_never_measured_says_how_to_measure_it() -> None:
    application = ApplicationSource(GOOD, "", {"top": "d", "low": "e"}).parse()
    with pytest.raises(RepositoryError, match="tidewise profile --accuracy"):
        application.best_accuracy()


def test_a_variant_without_a_digest_has_no_model_file() -> None:
    with pytest.raises(RepositoryError, match="no model file for variant 'low'"):
        ApplicationSource(GOOD, "", {"top": "d"}).parse()


@given(st.dictionaries(st.text(max_size=5), st.tuples(st.integers(0, 100), st.text("0123456789abcdef")), max_size=4))
def test_accuracies_written_and_read_are_the_same(values: dict[str, tuple[int, str]]) -> None:
    measured = {name: MeasuredAccuracy(correct, 100, digest) for name, (correct, digest) in values.items()}
    assert parse_accuracy(format_accuracy(measured), "accuracy.json") == measured


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "accuracy.json is not valid JSON"),
        ("[]", "accuracy.json must be a table"),
        ('{"schema_version": 3}', "schema_version must be"),
        (json.dumps({"schema_version": 1, "variants": {"top": {"correct": 11, "total": 10}}}), "correct must be"),
        (json.dumps({"schema_version": 1, "variants": {"top": {"correct": 1, "total": 0}}}), "total must be"),
        (json.dumps({"schema_version": 1, "variants": {"top": {"correct": 1, "total": 2}}}), "model_sha256 is missing"),
    ],
)
def test_a_wrong_accuracy_file_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(RepositoryError, match=said):
        parse_accuracy(text, "accuracy.json")


@given(st.integers(1, 10_000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_holds_the_measured_share_within_zero_and_one(case: tuple[int, int]) -> None:
    low, high = wilson_interval(*case)
    assert 0 <= low <= case[0] / case[1] + 1e-12 and case[0] / case[1] - 1e-12 <= high <= 1


def test_the_interval_is_that_of_wilson() -> None:
    assert wilson_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_a_tensor_takes_free_axes_of_any_length_and_fixed_ones_exactly() -> None:
    spec = TensorSpec("x", "FP32", (3, -1))
    assert spec.accepts((2, 3, 7)) and spec.accepts((1, 3, 1))
    assert not spec.accepts((2, 4, 7)) and not spec.accepts((3, 7)) and not spec.accepts((0, 3, 7))
    assert spec.row_bytes() is None
    assert TensorSpec("x", "INT64", (3, 2)).row_bytes() == 48


def make_folder(root: Path, name: str = "letters") -> Path:
    folder = root / name
    for model in ("top/model.onnx", "models/low.onnx"):
        (folder / model).parent.mkdir(parents=True, exist_ok=True)
        (folder / model).write_bytes(model.encode())
    (folder / "application.toml").write_text(GOOD)
    return folder


def test_a_repository_is_every_folder_with_an_application(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (tmp_path / "make").mkdir()
    assert application_folders(tmp_path) == [folder]
    assert list(read_repository(tmp_path)) == ["letters"]


def test_faults_of_a_repository_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="holds no application"):
        application_folders(tmp_path)
    with pytest.raises(RepositoryError, match="is not a folder"):
        application_folders(tmp_path / "none")
    folder = make_folder(tmp_path)
    make_folder(tmp_path, "twin")
    with pytest.raises(RepositoryError, match="both describe application 'letters'; rename one"):
        read_repository(tmp_path)
    (folder / "accuracy.json").write_bytes(b"\xff\xfe")
    with pytest.raises(RepositoryError, match=r"accuracy\.json cannot be read"):
        read_source(folder)
    (folder / "accuracy.json").unlink()
    (folder / "top" / "model.onnx").unlink()
    with pytest.raises(RepositoryError, match=r"top/model\.onnx is missing"):
        read_source(folder)
    (folder / "application.toml").write_text(GOOD.replace("models/low.onnx", "../../low.onnx"))
    with pytest.raises(RepositoryError, match="lies outside the application's folder"):
        read_source(folder)
