"""Is a freshly loaded variant to be trusted? It is compared with a separate onnxruntime session, and with itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.datatype import DATATYPES
from tidewise.core.errors import EngineError
from tidewise.worker.engine.base import Session
from tidewise.worker.samples import Samples
from tidewise.worker.tensors import Array, Tensors, assemble, row_count, select

ROWS = 4  # enough to see rows that are mixed up, few enough to cost little at load time


@dataclass(frozen=True, slots=True)
class _Check:
    session: Session
    application: Application
    variant: Variant
    samples: Samples

    def run(self, inputs: Tensors, session: Session | None = None) -> dict[str, Array]:
        """Outputs of these rows, padded to a batch size the variant may run, without the padding."""
        rows = row_count(inputs)
        size = next((size for size in self.variant.batch_sizes if size >= rows), rows)
        names = [one.name for one in self.application.outputs]
        outputs = (session or self.session).run(assemble([inputs], pad_to=size), names)
        for output in self.application.outputs:
            _check_signature(output, outputs[output.name], self.variant, size)
        return select(outputs, slice(rows))

    def agree(self, got: Tensors, want: Tensors, index: int, other: str) -> None:
        """Refuse the variant if its answer to sample ``index`` differs; ``other`` says from what."""
        for name, value in got.items():
            if np.allclose(value, want[name], rtol=0, atol=self.variant.tolerance, equal_nan=True):
                continue
            gap = np.max(np.abs(value.astype(np.float64) - want[name].astype(np.float64)))
            raise EngineError(
                f"variant {self.variant.name!r} of {self.application.name!r} cannot be trusted: its output {name!r}"
                f" for input {index} of {self.samples.source} differs by {gap:.3g} from {other} (tolerance"
                f" {self.variant.tolerance:g})"
            )


def cross_check(
    session: Session, reference: Session, application: Application, variant: Variant, samples: Samples
) -> None:
    """Compare a session's outputs, within the variant's tolerance, and refuse one that cannot be trusted.

    Its answers must have the signature's types and shapes and equal the reference's; a row's answer must depend
    neither on the batch size nor on the other rows. Raises EngineError naming variant, output and input.
    """
    limit = max(variant.batch_sizes, default=ROWS)
    check = _Check(session, application, variant, samples.first(min(ROWS, limit)))
    inputs = check.samples.inputs
    together = check.run(inputs)
    expected = check.run(inputs, reference)
    for index in range(len(check.samples)):
        row = slice(index, index + 1)
        answer = select(together, row)
        check.agree(answer, select(expected, row), index, "a separate onnxruntime session's")
        check.agree(check.run(select(inputs, row)), answer, index, "the same row's in a larger batch")
    _check_isolation(check, together)


def _check_signature(output: TensorSpec, value: Array, variant: Variant, rows: int) -> None:
    fits = value.dtype == DATATYPES[output.datatype] and len(value.shape) > 0 and len(value) == rows
    if not (fits and output.accepts(value.shape)):
        raise EngineError(
            f"variant {variant.name!r} answers {output.name!r} as {value.dtype} {list(value.shape)} to {rows} rows, but"
            f" application.toml says {output.datatype} {list(output.shape)} for each row"
        )


def _check_isolation(check: _Check, together: Tensors) -> None:
    """The last row keeps its place and its answer while all other rows are replaced."""
    last = len(check.samples) - 1
    if last == 0:
        return
    inputs = check.samples.inputs
    others = select(inputs, np.full(last, last))  # copies of the last row itself
    changed = check.run(assemble([others, select(inputs, slice(last, None))]))
    check.agree(
        select(changed, slice(last, None)), select(together, slice(last, None)), last, "its own in other company"
    )
