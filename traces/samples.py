"""What is sent: an application's test samples as ready-made request bytes, and their labels."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tidewise.core.application import Application, TensorSpec
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import RepositoryError, reason
from tidewise.core.files import read_repository
from tidewise.proto import inference_pb2 as pb

CACHE_LIMIT = 64 * 1024 * 1024  # bytes of requests kept ready for each application
FREE_AXIS = 1  # length of a free axis where there is no test data

Array = NDArray[np.generic]


@dataclass(slots=True)
class Samples:
    """The queries that can be sent for one application, in a fixed shuffled order.

    ``inputs`` holds one array for each input, first axis samples. ``labels`` is None where there is no test data; the
    query is then zeros and no answer is compared. ``output`` is the output that is scored.
    """

    application: Application
    inputs: Mapping[str, Array]
    labels: Array | None
    output: str
    order: NDArray[np.intp]
    _ready: dict[int, bytes] = field(default_factory=dict)
    _bytes: int = 0

    def __len__(self) -> int:
        return len(self.order)

    def sample(self, nth: int) -> int:
        """The sample that the application's nth query (from 0) carries: each once, then again."""
        return int(self.order[nth % len(self.order)])

    def body(self, sample: int) -> bytes:
        """The request's tensors, serialised: what of a ModelInferRequest follows its parameters."""
        found = self._ready.get(sample)
        if found is None:
            found = self._serialise(sample)
            if self._bytes < CACHE_LIMIT:
                self._ready[sample] = found
                self._bytes += len(found)
        return found

    def _serialise(self, sample: int) -> bytes:
        request = pb.ModelInferRequest()
        for spec in self.application.inputs:
            row = np.ascontiguousarray(self.inputs[spec.name][sample], dtype=DATATYPES[spec.datatype])
            request.inputs.add(name=spec.name, datatype=spec.datatype, shape=(1, *row.shape))
            request.raw_input_contents.append(row.tobytes())
        if self.output:
            request.outputs.add(name=self.output)
        return request.SerializeToString()

    def correct(self, sample: int, scores: Array) -> bool | None:
        """Whether the scored output's row says what the label says (top 1); None without labels."""
        if self.labels is None:
            return None
        return bool(np.array_equal(np.argmax(scores, axis=-1).reshape(-1), np.reshape(self.labels[sample], -1)))


def load_samples(repository: Path, rng: np.random.Generator) -> dict[str, Samples]:
    """The samples of every application of a repository. Raises RepositoryError naming a faulty test file."""
    return {
        name: samples_of(application, folder, rng)
        for name, (folder, _, application) in read_repository(repository).items()
    }


def samples_of(application: Application, folder: Path, rng: np.random.Generator) -> Samples:
    """One application's test data, or, where it has none, a single query of zeros."""
    data = application.test_data
    if data is None:
        zeros = {one.name: _zeros(one) for one in application.inputs}
        return Samples(application, zeros, None, "", np.zeros(1, dtype=np.intp))
    arrays = _arrays(folder / data.file)
    for name in (*(one.name for one in application.inputs), data.labels):
        if name not in arrays:
            raise RepositoryError(f"{folder / data.file} lacks the array {name!r}; it has {', '.join(sorted(arrays))}")
    labels = arrays.pop(data.labels)
    for spec in application.inputs:
        if not spec.accepts(arrays[spec.name].shape) or len(arrays[spec.name]) != len(labels):
            raise RepositoryError(
                f"{folder / data.file}: array {spec.name!r} has shape {list(arrays[spec.name].shape)}; expected"
                f" {[len(labels), *spec.shape]}, one row for each label"
            )
    return Samples(application, arrays, labels, data.output, rng.permutation(len(labels)))


def _zeros(spec: TensorSpec) -> Array:
    shape = [FREE_AXIS if length == -1 else length for length in spec.shape]
    return np.zeros((1, *shape), dtype=DATATYPES[spec.datatype])


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise RepositoryError(f"{path} cannot be read as test data: {reason(error)}") from error
