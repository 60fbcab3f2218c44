"""Applications and their variants: what clients call, and the models that can answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import RepositoryError


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One input or output of an application, without its batch axis.

    ``shape`` holds -1 for an axis whose length a query may choose.
    """

    name: str
    datatype: str
    shape: tuple[int, ...]

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape (batch axis first) fits."""
        if len(shape) != len(self.shape) + 1 or shape[0] < 1:
            return False
        return all(want in (-1, got) and got >= 0 for want, got in zip(self.shape, shape[1:], strict=True))

    def row_bytes(self) -> int | None:
        """Bytes of one row, or None if an axis is free."""
        if -1 in self.shape:
            return None
        return math.prod(self.shape) * DATATYPES[self.datatype].itemsize


@dataclass(frozen=True, slots=True)
class Variant:
    """One servable version of an application's model.

    ``accuracy`` is a fraction measured on the test data, None until measured. ``tolerance`` is the largest absolute
    difference between two engines, or two batch sizes, that still counts as the same answer. ``batch_sizes`` limits
    the sizes that may run (a smaller queue is padded); empty means any.
    """

    name: str
    version: int
    model: str
    accuracy: float | None = None
    tolerance: float = 1e-3
    batch_sizes: tuple[int, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class TestData:
    """Labelled samples shipped with an application (``file`` is an .npz beside its application.toml)."""

    file: str
    labels: str
    output: str
    metric: str = "top1"


@dataclass(frozen=True, slots=True)
class Application:
    """What clients call: owns one SLO (seconds) and a family of variants, ordered by version.

    ``weight`` and ``min_accuracy`` say what its accuracy counts and where a plan must keep it, ``min_replicas`` how
    many devices host it at least while all demand is served; ``headroom`` replaces the cluster's, if given.
    """

    name: str
    slo: float
    variants: tuple[Variant, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weight: float = 1.0
    min_accuracy: float = 0.0
    min_replicas: int = 0
    headroom: float | None = None
    description: str = ""
    test_data: TestData | None = None

    def variant(self, name_or_version: str) -> Variant | None:
        """The variant with this name or this version number, if there is one."""
        for variant in self.variants:
            if name_or_version in (variant.name, str(variant.version)):
                return variant
        return None

    def best_accuracy(self) -> float:
        """Accuracy of the most accurate measured variant.

        Raises RepositoryError if none has been measured.
        """
        measured = [variant.accuracy for variant in self.variants if variant.accuracy is not None]
        if not measured:
            raise RepositoryError(
                f"application {self.name!r} has no measured accuracy; run: tidewise profile --accuracy --repository"
                f" REPOSITORY --application {self.name}, where REPOSITORY is the folder that holds the application's"
            )
        return max(measured)
