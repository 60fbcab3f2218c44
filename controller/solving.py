"""Solves run in a process of their own, so that a hung, crashed or lying solver costs nothing but its plan.

Solvers do not always respect their own time limits, and some have crashed the process they ran in. The child is
started as a new program, never forked: forking after gRPC has started its threads can deadlock. It is kept warm between
solves, answers first with the fast plan and then with the best one, and is killed when the wall-clock limit passes.
Every answer is checked here before anyone sees it.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tidewise.controller.exchange import LENGTH, READY, Reply, Request, frame
from tidewise.controller.policies.policy import Answer, Problem
from tidewise.core.case import Case
from tidewise.core.errors import SolverError
from tidewise.core.scenario import ScenarioCase, ScenarioSolution, scenario_faults
from tidewise.core.solution import Solution, faults

START_LIMIT = 60.0  # seconds for the child to import its solvers, on a busy machine
COMMAND = (sys.executable, "-m", "tidewise.controller.solver_child")


class Failure(StrEnum):
    """Why the best plan did not come."""

    HUNG = "hung"  # killed at the wall-clock limit
    CRASHED = "crashed"  # the process ended, or cannot be started
    LIED = "lied"  # what it said is no answer, or breaks its own promises
    REFUSED = "refused"  # the solver reported an error


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best plan that passed the check, None if the last good plan is to be kept; and what failed, if anything."""

    answer: Answer | None
    failure: Failure | None = None
    detail: str = ""

    @property
    def reason(self) -> str:
        """What failed, in a sentence."""
        return f"the solver {self.failure}: {self.detail}" if self.failure else ""


class _NoiseError(Exception):
    """What the child said is no value."""


class SolverProcess:
    """One child, one solve at a time. ``command`` is for tests that need a child that misbehaves."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = tuple(command)
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Have a child ready before the first case comes. Raises SolverError if it cannot be started."""
        async with self._lock:
            await self._ready()

    async def solve(self, request: Request, limit: float) -> Verdict:
        """A checked plan within ``limit`` wall-clock seconds (once the child runs), or what became of it."""
        async with self._lock:
            try:
                return await self._verdict(await self._ready(), request, limit)
            except SolverError as error:
                return Verdict(None, Failure.CRASHED, str(error))
            except asyncio.CancelledError:
                await self._kill()
                raise

    async def stop(self) -> None:
        """End the child."""
        await self._kill()

    async def _verdict(self, process: asyncio.subprocess.Process, request: Request, limit: float) -> Verdict:
        plan: Answer | None = None
        try:
            async with asyncio.timeout(limit):
                await self._send(process, request)
                while True:
                    reply = await self._read(process)
                    fault = fault_of(request.case, reply)
                    if fault is not None or not isinstance(reply, Reply):
                        return await self._failed(plan, Failure.LIED, fault or "no answer")
                    if reply.answer is None:
                        return Verdict(plan, Failure.REFUSED, reply.error)
                    plan = reply.answer
                    if reply.final:
                        return Verdict(plan)
        except TimeoutError:
            return await self._failed(plan, Failure.HUNG, f"it did not answer within {limit:g} s and was killed")
        except (OSError, asyncio.IncompleteReadError):
            await self._kill()
            return Verdict(plan, Failure.CRASHED, f"its process ended with exit code {process.returncode}")
        except _NoiseError as error:
            return await self._failed(plan, Failure.LIED, str(error))

    async def _failed(self, plan: Answer | None, failure: Failure, detail: str) -> Verdict:
        await self._kill()
        return Verdict(plan, failure, detail)

    async def _ready(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
            async with asyncio.timeout(START_LIMIT):
                said = await self._read(self._process)
            if said != READY:
                raise _NoiseError("it did not say that it is ready")
        except (OSError, TimeoutError, asyncio.IncompleteReadError, _NoiseError) as error:
            await self._kill()
            raise SolverError(f"the solver's process could not be started: {error}") from error
        return self._process

    async def _send(self, process: asyncio.subprocess.Process, request: Request) -> None:
        assert process.stdin is not None
        process.stdin.write(frame(request))
        await process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process) -> object:
        assert process.stdout is not None
        header = await process.stdout.readexactly(LENGTH.size)
        body = await process.stdout.readexactly(LENGTH.unpack(header)[0])
        try:
            return pickle.loads(body)
        except Exception as error:  # of noise a pickle may make anything
            raise _NoiseError(f"it answered noise ({type(error).__name__})") from error

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def fault_of(case: Problem, reply: object) -> str | None:
    """What is wrong with a reply to this case, None if nothing is."""
    if not isinstance(reply, Reply):
        return f"it answered with a {type(reply).__name__}"
    answer = reply.answer
    if answer is None:
        return None
    if isinstance(case, Case) and isinstance(answer, Solution):
        return next(faults(case, answer), None)
    if isinstance(case, ScenarioCase) and isinstance(answer, ScenarioSolution):
        return next(scenario_faults(case, answer), None)
    return f"it answered a {type(case).__name__} with a {type(answer).__name__}"
