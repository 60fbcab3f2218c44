"""The C++ data plane as a child process: started, spoken to, and started again when it dies or no longer answers."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tidewise.router.plane_wire import HEAD, Kind, Payload, drain_frame, frame

FIRST_DELAY, LAST_DELAY = 0.05, 0.8  # seconds between a death and the next start; a crash costs less than one
STEADY_SECONDS = 5.0  # whoever lived so long did not die of its start
READ_SECONDS = 0.25  # between readings of its counts
SILENT_SECONDS = 10.0  # without an answer, after which it is taken to hang
STOP_SECONDS = 2.0  # beyond its grace, before it is killed
log = logging.getLogger("tidewise.router")


class PlaneProcess:
    """Keeps one process running until ``stop``.

    ``greeting`` gives the frames every new process is sent first, ``heard`` is told every frame that comes back, and
    ``lost`` that a process has ended and took with it what it had not said.
    """

    def __init__(
        self,
        program: Path,
        greeting: Callable[[], Iterable[bytes]],
        heard: Callable[[Kind, Payload], None],
        lost: Callable[[], None],
    ) -> None:
        self._program, self._greeting, self._heard, self._lost = program, greeting, heard, lost
        self._listeners: Sequence[socket.socket] = ()
        self._writer: asyncio.StreamWriter | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._readings: list[asyncio.Future[None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The process id, while there is one."""
        return None if self._process is None else self._process.pid

    async def start(self, listeners: Sequence[socket.socket]) -> None:
        """Run it, serving at these listening sockets, which stay open here so that its successors can have them."""
        self._listeners = listeners
        self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._tend())]

    def send(self, data: bytes) -> bool:
        """Send it a frame; False if there is no process now (the next one is greeted)."""
        if self._writer is None:
            return False
        self._writer.write(data)
        return True

    async def read(self) -> bool:
        """Have it say what it has counted; False if it did not within SILENT_SECONDS."""
        if not self.send(frame(Kind.READ)):
            return True
        reading = asyncio.get_running_loop().create_future()
        self._readings.append(reading)
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                await reading
        except TimeoutError:
            return False
        return True

    async def stop(self, grace: float | None) -> None:
        """Let its calls end within ``grace`` seconds (None: at once), and the process with them."""
        self._stopping = True
        if not self._tasks:
            return
        keeping, tending = self._tasks
        self._tasks = []
        tending.cancel()
        self.send(drain_frame(grace or 0.0))
        done, _ = await asyncio.wait({keeping}, timeout=(grace or 0.0) + STOP_SECONDS)
        if not done:
            self._kill()
            await asyncio.wait({keeping})
        with suppress(asyncio.CancelledError):
            await tending

    async def _keep(self) -> None:
        delay = FIRST_DELAY
        while not self._stopping:
            began = time.monotonic()
            try:
                code = await self._run()
            except OSError as error:
                log.error("the data plane cannot be started: %s", error)
            else:
                if not self._stopping:
                    log.error("the data plane ended (%s); starting it again", _ending(code))
            delay = FIRST_DELAY if time.monotonic() - began > STEADY_SECONDS else min(LAST_DELAY, delay * 2)
            if not self._stopping:
                await asyncio.sleep(delay)

    async def _run(self) -> int:
        """One process, from start to end."""
        ours, its = socket.socketpair()
        with its:
            words = ["--channel", str(its.fileno())]
            for one in self._listeners:
                words += ["--listen", str(one.fileno())]
            fds = [its.fileno(), *(one.fileno() for one in self._listeners)]
            process = await asyncio.create_subprocess_exec(
                self._program, *words, pass_fds=fds, stdin=asyncio.subprocess.DEVNULL
            )
        self._process = process
        reader, self._writer = await asyncio.open_connection(sock=ours)
        try:
            for data in self._greeting():
                self._writer.write(data)
            await self._listen(reader)
            return await process.wait()
        finally:
            self._gone()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = HEAD.unpack(await reader.readexactly(HEAD.size))
                data = await reader.readexactly(size)
                self._heard(Kind(data[0]), Payload(data[1:]))
                if data[0] == Kind.COUNTS and self._readings:
                    self._answered(self._readings.pop(0))

    def _gone(self) -> None:
        self._kill()
        if self._writer is not None:
            self._writer.close()
        self._writer = self._process = None
        while self._readings:
            self._answered(self._readings.pop())
        self._lost()

    async def _tend(self) -> None:
        """Read its counts every so often, so that a crash loses few; and end a process that no longer answers."""
        while True:
            await asyncio.sleep(READ_SECONDS)
            if not await self.read():
                log.error("the data plane does not answer; it is killed")
                self._kill()

    def _kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    @staticmethod
    def _answered(reading: asyncio.Future[None]) -> None:
        if not reading.done():
            reading.set_result(None)


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
