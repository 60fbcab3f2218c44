"""Solves run in a process of their own, kept warm between solves and killed when one takes too long.

Solvers do not always respect their own time limits, and some have crashed the process they ran in. The child is
started as a new program, never forked: forking after gRPC has started its threads can deadlock.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import Sequence

from tidewise.controller.allocation.solve import Limits
from tidewise.controller.policies.policy import Answer, Problem
from tidewise.controller.solver_child import LENGTH, frame
from tidewise.core.errors import SolverError
from tidewise.core.scenario import ScenarioSolution
from tidewise.core.solution import Solution

START_LIMIT = 60.0  # seconds for the child to import its solvers, on a busy machine
OWN_SHARE = 0.5  # of the wall-clock limit is what one solve inside may take before it must return what it has
COMMAND = (sys.executable, "-m", "tidewise.controller.solver_child")


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

    async def solve(self, case: Problem, method: str, gap: float, limit: float) -> Answer:
        """The solution of a case, within ``limit`` wall-clock seconds. Raises SolverError."""
        async with self._lock:
            process = await self._ready()
            request = frame((case, method, Limits(gap=gap, seconds=limit * OWN_SHARE)))
            try:
                answer = await asyncio.wait_for(self._exchange(process, request), limit)
            except TimeoutError as error:
                await self._kill()
                raise SolverError(f"the solver did not answer within {limit:g} s and was killed") from error
            except (OSError, asyncio.IncompleteReadError, pickle.UnpicklingError) as error:
                await self._kill()
                raise SolverError(f"the solver's process ended with exit code {process.returncode}") from error
            except asyncio.CancelledError:
                await self._kill()
                raise
        if not isinstance(answer, Solution | ScenarioSolution):
            raise SolverError(f"the solver failed: {answer}")
        return answer

    async def stop(self) -> None:
        """End the child."""
        await self._kill()

    async def _ready(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
            await asyncio.wait_for(self._read(self._process), START_LIMIT)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, pickle.UnpicklingError) as error:
            await self._kill()
            raise SolverError(f"the solver's process could not be started: {error}") from error
        return self._process

    async def _exchange(self, process: asyncio.subprocess.Process, request: bytes) -> object:
        assert process.stdin is not None
        process.stdin.write(request)
        await process.stdin.drain()
        return await self._read(process)

    async def _read(self, process: asyncio.subprocess.Process) -> object:
        assert process.stdout is not None
        header = await process.stdout.readexactly(LENGTH.size)
        return pickle.loads(await process.stdout.readexactly(LENGTH.unpack(header)[0]))

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
