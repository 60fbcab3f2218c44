"""Solves in a process of their own, so that a hung, crashed or lying solver costs nothing but its plan.

The child is started afresh (never forked: gRPC does not survive a fork), answers first with the fast plan and then
with the best one, and is killed when the wall-clock limit passes. Every answer passes our own check before use.
"""

from __future__ import annotations

import contextlib
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import tidewise
from tidewise.controller.allocation.exchange import READY, Reply, Request
from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.solve import Limits
from tidewise.core.case import Case
from tidewise.core.solution import Solution, faults

# The child finds the package where its owner did, installed or not.
ROOT = str(Path(tidewise.__file__).parents[1])
ENTRY = f"import sys; sys.path.insert(0, {ROOT!r}); from tidewise.controller.allocation.child_main import main; main()"
COMMAND = (sys.executable, "-c", ENTRY)
START_LIMIT = 60.0  # seconds until a fresh child says that it is ready


class Failure(StrEnum):
    """Why the best plan did not come."""

    HUNG = "hung"  # killed at the wall-clock limit
    CRASHED = "crashed"  # the process ended
    LIED = "lied"  # a plan broke its own promises
    REFUSED = "refused"  # the solver reported an error


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best plan that passed the check, None if the last good plan is to be kept; and what failed, if anything."""

    solution: Solution | None
    failure: Failure | None = None
    detail: str = ""


@dataclass(slots=True)
class SolverChild:
    """The solver's process, started when first needed and again after every failure. Use from one thread at a time."""

    command: Sequence[str] = COMMAND
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _received: bytearray = field(default_factory=bytearray, init=False)

    def solve(
        self,
        case: Case,
        *,
        wall_limit: float,
        method: str = "auto",
        limits: Limits | None = None,
        terms: Terms | None = None,
    ) -> Verdict:
        """A checked plan within ``wall_limit`` seconds (once the child runs), or what became of it."""
        request = Request(case, method, limits or Limits(), terms or Terms())
        plan: Solution | None = None
        try:
            process = self._running()
            self._send(process, request)
            deadline = time.monotonic() + wall_limit
            while True:
                reply = self._receive(process, deadline)
                if not isinstance(reply, Reply):
                    return self._failed(plan, Failure.LIED, f"answered {type(reply).__name__}")
                if reply.solution is None:
                    return Verdict(plan, Failure.REFUSED, reply.error)
                fault = next(faults(case, reply.solution), None)
                if fault is not None:
                    return self._failed(plan, Failure.LIED, fault)
                plan = reply.solution
                if reply.final:
                    return Verdict(plan)
        except TimeoutError:
            return self._failed(plan, Failure.HUNG, f"no plan within {wall_limit:g} s")
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError) as error:
            return self._failed(plan, Failure.CRASHED, str(error) or type(error).__name__)

    def close(self) -> None:
        """End the child; a later solve starts another."""
        process, self._process = self._process, None
        self._received.clear()
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()

    def _failed(self, plan: Solution | None, failure: Failure, detail: str) -> Verdict:
        self.close()
        return Verdict(plan, failure, detail)

    def _running(self) -> subprocess.Popen[bytes]:
        """The child, started if it is not running."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._receive(self._process, time.monotonic() + START_LIMIT) != READY:
            raise EOFError("the solver's process did not start")
        return self._process

    def _send(self, process: subprocess.Popen[bytes], request: Request) -> None:
        assert process.stdin is not None
        payload = pickle.dumps(request)
        process.stdin.write(len(payload).to_bytes(8, "big") + payload)
        process.stdin.flush()

    def _receive(self, process: subprocess.Popen[bytes], deadline: float) -> object:
        """The next value from the child. Raises TimeoutError or EOFError."""
        length = int.from_bytes(self._take(process, 8, deadline), "big")
        value: object = pickle.loads(self._take(process, length, deadline))
        return value

    def _take(self, process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
        assert process.stdout is not None
        while len(self._received) < size:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            chunk = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not chunk:
                raise EOFError(f"the solver's process ended with {process.wait()}")
            self._received += chunk
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken
