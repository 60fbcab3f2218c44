"""Running one batch on a session: assembled, run, cut apart; and the thread, or the timer, that does it."""

from __future__ import annotations

import asyncio
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tidewise.core.errors import EngineError
from tidewise.core.profile import VariantProfile
from tidewise.worker.engine.base import Session
from tidewise.worker.engine.emulated import profiled_median, with_noise
from tidewise.worker.tensors import Array, Tensors, assemble, split

Piece = dict[str, Array]
EARLY = 0.0005  # seconds: the event loop's timers ring at the next whole millisecond, so half of one early is right


@dataclass(frozen=True, slots=True)
class Work:
    """A batch for the engine: each part's tensors and rows, the padded size, the outputs that anybody wants."""

    session: Session
    inputs: Sequence[Tensors]
    rows: Sequence[int]
    size: int
    outputs: Sequence[str]


@dataclass(frozen=True, slots=True)
class Done:
    """Each part's outputs, or the sentence that says why there are none; ``seconds`` the engine took."""

    pieces: Sequence[Piece | str]
    seconds: float


Report = Callable[[Done], None]


class Runner(Protocol):
    """What runs a device's batches, one at a time."""

    def start(self, work: Work, report: Report) -> None:
        """Run it; ``report`` is called on the event loop when it is done."""
        ...

    def close(self) -> None:
        """Run nothing more."""
        ...


def run(work: Work, clock: Callable[[], float] = time.monotonic) -> Done:
    """Run a batch. If it fails, run its parts one by one, so that a bad one harms only itself."""
    started = clock()
    try:
        pieces: list[Piece | str] = list(_run_together(work))
    except Exception as error:  # whatever an engine throws ends a query, never the device
        pieces = (
            [sentence(error)] if len(work.rows) == 1 else [_run_alone(work, place) for place in range(len(work.rows))]
        )
    return Done(pieces, clock() - started)


def _run_together(work: Work) -> list[Piece]:
    outputs = work.session.run(assemble(work.inputs, work.size), work.outputs)
    return split(outputs, work.rows)


def _run_alone(work: Work, place: int) -> Piece | str:
    alone = Work(work.session, work.inputs[place : place + 1], work.rows[place : place + 1], work.size, work.outputs)
    try:
        return _run_together(alone)[0]
    except Exception as error:  # as above
        return sentence(error)


def sentence(error: Exception) -> str:
    """What a caller is told of an engine's failure."""
    return str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"


class ThreadRunner:
    """A thread of its own for the device: the engine blocks in it with the interpreter lock released."""

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: queue.SimpleQueue[tuple[Work, Report] | None] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name=f"device-{name}", daemon=True).start()

    def start(self, work: Work, report: Report) -> None:
        """Hand the batch to the thread."""
        self._queue.put((work, report))

    def close(self) -> None:
        """End the thread after what it runs now."""
        self._queue.put(None)

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            work, report = item
            done = run(work)
            try:
                self._loop.call_soon_threadsafe(report, done)
            except RuntimeError:  # the loop was closed while the batch ran; nobody waits for it any more
                return


class TimedRunner:
    """No thread: an emulated device's batches are timers, so that many devices share one event loop.

    The sessions themselves take no time; ``profile`` says how long a batch of a session takes, give or take ``noise``.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        profile: Mapping[Session, VariantProfile],
        noise: float = 0.0,
        generator: random.Random | None = None,
    ) -> None:
        self._loop = loop
        self._profile = profile
        self._noise = noise
        self._generator = generator or random.Random()

    def start(self, work: Work, report: Report) -> None:
        """Set the timer for the batch's profiled median, give or take the noise."""
        now = self._loop.time()
        seconds = with_noise(profiled_median(self._profile[work.session], work.size), self._noise, self._generator)
        self._loop.call_at(now + seconds - EARLY, self._finish, work, report, now)

    def close(self) -> None:
        """Nothing is held."""

    def _finish(self, work: Work, report: Report, started: float) -> None:
        report(Done(run(work).pieces, self._loop.time() - started))
