"""The text formats of a model repository: application.toml and accuracy.json."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidewise.core.application import Application, TensorSpec, TestData, Variant
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import RepositoryError
from tidewise.core.table import Table

ACCURACY_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy:
    """Share of ``total`` samples answered correctly, for the model file with this SHA-256."""

    correct: int
    total: int
    digest: str

    @property
    def accuracy(self) -> float:
        """The share answered correctly."""
        return self.correct / self.total


@dataclass(frozen=True, slots=True)
class ApplicationSource:
    """An application as the text of its files, the form in which it travels between processes.

    ``digests`` holds the SHA-256 of each variant's model file, by variant name.
    """

    toml: str
    accuracy_json: str
    digests: Mapping[str, str]

    def parse(self, where: str = "application.toml") -> Application:
        """The application, with digests and measured accuracies. Raises RepositoryError."""
        application = parse_application(self.toml, where)
        missing = [one.name for one in application.variants if one.name not in self.digests]
        if missing:
            raise RepositoryError(f"{where}: no model file for variant {missing[0]!r}")
        measured = parse_accuracy(self.accuracy_json, "accuracy.json") if self.accuracy_json else {}
        return with_measurements(application, self.digests, measured)


def parse_application(text: str, where: str, faults: list[str] | None = None) -> Application:
    """The application an application.toml describes; ``where`` names the file in error texts.

    Raises RepositoryError with one sentence naming what is wrong; or, given a list of ``faults``, notes all there.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RepositoryError(f"{where} is not valid TOML: {error}") from error
    table = Table(values, where, RepositoryError, faults)
    application = Application(
        name=table.name("name"),
        description=table.text("description", ""),
        slo=table.number("slo_ms", low=0.001) / 1e3,
        weight=table.number("weight", 1.0, low=1e-9),
        min_accuracy=table.number("min_accuracy", 0.0, high=1.0),
        min_replicas=table.integer("min_replicas", 0, high=1_000_000),
        headroom=table.number("headroom", low=1.0, high=100.0)
        if "headroom" in table.values
        else table.take("headroom"),
        inputs=_tensors(table, "inputs"),
        outputs=_tensors(table, "outputs"),
        test_data=_test_data(table),
        variants=_variants(table),
    )
    table.done()
    return application


def _tensors(table: Table, key: str) -> tuple[TensorSpec, ...]:
    found = []
    for one in table.tables(key):
        name = one.text("name")
        datatype = one.text("datatype", choices=tuple(DATATYPES))
        shape = one.integers("shape", low=-1)
        if 0 in shape:
            one.fault(f"{one.where}: shape {list(shape)} has an axis of length 0; use -1 for a free axis")
        found.append(TensorSpec(name, datatype, shape))
        one.done()
    if not found:
        table.fault(f"{table.where}: at least one [[{key}]] is needed")
    _refuse_repeats(table, key, [tensor.name for tensor in found])
    return tuple(found)


def _test_data(table: Table) -> TestData | None:
    if "test_data" not in table.values:
        table.take("test_data")
        return None
    inner = table.table("test_data")
    data = TestData(
        file=inner.text("file"),
        labels=inner.text("labels"),
        output=inner.text("output"),
        metric=inner.text("metric", "top1", choices=("top1",)),
    )
    inner.done()
    return data


def _variants(table: Table) -> tuple[Variant, ...]:
    found = []
    for one in table.tables("variants"):
        name = one.name("name")
        found.append(
            Variant(
                name=name,
                version=one.integer("version", low=1, high=2**31 - 1),
                model=one.text("model", f"{name}/model.onnx"),
                tolerance=one.number("tolerance", 1e-3),
                batch_sizes=tuple(sorted(one.integers("batch_sizes", (), low=1))),
            )
        )
        one.done()
    if not found:
        table.fault(f"{table.where}: at least one [[variants]] is needed")
    _refuse_repeats(table, "variants", [variant.name for variant in found])
    _refuse_repeats(table, "variants", [str(variant.version) for variant in found])
    _refuse_ambiguity(table, found)
    return tuple(sorted(found, key=lambda variant: variant.version))


def _refuse_ambiguity(table: Table, variants: list[Variant]) -> None:
    """A client pins a variant by name or by version, so no name may be another's version."""
    versions = {str(one.version): one.name for one in variants}
    for one in variants:
        if versions.get(one.name, one.name) != one.name:
            other = versions[one.name]
            table.fault(
                f"{table.where}: variant {one.name!r} is named like the version of variant {other!r}; rename it"
            )


def _refuse_repeats(table: Table, key: str, names: list[str]) -> None:
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            table.fault(f"{table.where}: {key} names {name!r} twice")


def parse_accuracy(text: str, where: str) -> dict[str, MeasuredAccuracy]:
    """Measured accuracy by variant name."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise RepositoryError(f"{where} is not valid JSON: {error}") from error
    table = Table(values, where, RepositoryError)
    table.integer("schema_version", low=ACCURACY_SCHEMA, high=ACCURACY_SCHEMA)
    return {name: _measured(inner) for name, inner in table.named_tables("variants").items()}


def _measured(table: Table) -> MeasuredAccuracy:
    total = table.integer("total", low=1)
    return MeasuredAccuracy(table.integer("correct", high=total), total, table.text("model_sha256"))


def format_accuracy(measured: Mapping[str, MeasuredAccuracy]) -> str:
    """The text of an accuracy.json, with Wilson 95 % intervals."""
    variants: dict[str, Any] = {}
    for name, one in measured.items():
        low, high = wilson_interval(one.correct, one.total)
        variants[name] = {
            "correct": one.correct,
            "total": one.total,
            "accuracy": round(one.accuracy, 6),
            "ci95": [round(low, 6), round(high, 6)],
            "model_sha256": one.digest,
        }
    return json.dumps({"schema_version": ACCURACY_SCHEMA, "variants": variants}, indent=2) + "\n"


def wilson_interval(correct: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson score interval of a proportion (E. B. Wilson, 1927)."""
    share = correct / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def with_measurements(
    application: Application, digests: Mapping[str, str], measured: Mapping[str, MeasuredAccuracy]
) -> Application:
    """The application with each variant's digest, and its accuracy where the measured file is the present one."""
    return replace(
        application,
        variants=tuple(_with_measurement(one, digests[one.name], measured) for one in application.variants),
    )


def _with_measurement(variant: Variant, digest: str, measured: Mapping[str, MeasuredAccuracy]) -> Variant:
    found = measured.get(variant.name)
    accuracy = found.accuracy if found is not None and found.digest == digest else None
    return replace(variant, digest=digest, accuracy=accuracy)
