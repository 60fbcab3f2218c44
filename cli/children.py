"""The child processes of `tidewise up`: started, watched, restarted with backoff, stopped in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidewise.cli.lifeline import PARENT
from tidewise.cli.restarts import Restarts, died, started

STOP_SECONDS = 8.0  # a child that drains longer than this is killed


@dataclass(frozen=True, slots=True)
class Command:
    """One child: its name and the words after `tidewise`."""

    name: str
    words: tuple[str, ...]


class Children:
    """Runs commands as child processes that die with this one, each logging to ``logs``/<name>.log.

    ``clock`` gives seconds that never run backwards; ``say`` is told of deaths and restarts.
    """

    def __init__(self, logs: Path, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.logs = logs
        self.say = say
        self.clock = clock
        self._commands: dict[str, Command] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._restarts: dict[str, Restarts] = {}

    def start(self, commands: Sequence[Command]) -> None:
        """Start these commands now."""
        for command in commands:
            self._commands[command.name] = command
            self._restarts.setdefault(command.name, Restarts())
            self._spawn(command)

    def pids(self) -> Mapping[str, int]:
        """Process ids of the running children, by name."""
        return {name: process.pid for name, process in self._running.items()}

    def tend(self) -> None:
        """Notice deaths, restart what is due. Call a few times a second."""
        now = self.clock()
        for name, process in list(self._running.items()):
            if process.poll() is not None:
                del self._running[name]
                self._restarts[name] = died(self._restarts[name], now)
                self.say(f"{name} ended ({_ending(process.returncode)}); its log is {self._log(name)}")
        for name, state in self._restarts.items():
            if name not in self._running and state.again_at is not None and now >= state.again_at:
                self.say(f"{name} is started again")
                self._spawn(self._commands[name])

    def stop(self) -> None:
        """Ask every child to drain, last started first; kill what does not end in time.

        The first one started ends last: the others report to it until they are gone.
        """
        last = next(iter(self._commands), None)
        running = list(reversed(self._running.items()))
        self._stop([one for one in running if one[0] != last])
        self._stop([one for one in running if one[0] == last])
        self._running.clear()

    def _stop(self, stopping: Sequence[tuple[str, subprocess.Popen[bytes]]]) -> None:
        for _, process in stopping:
            process.send_signal(signal.SIGTERM)
        deadline = self.clock() + STOP_SECONDS
        for name, process in stopping:
            try:
                process.wait(max(0.0, deadline - self.clock()))
            except subprocess.TimeoutExpired:
                self.say(f"{name} did not end within {STOP_SECONDS:g} s and is killed")
                process.kill()
                process.wait()

    def last_words(self, name: str, lines: int = 5) -> str:
        """The end of a child's log."""
        try:
            return "\n".join(self._log(name).read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def _log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def _spawn(self, command: Command) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with self._log(command.name).open("ab") as log:
            self._running[command.name] = subprocess.Popen(
                [sys.executable, "-m", "tidewise.cli.main", *command.words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, PARENT: str(os.getpid())},
                start_new_session=True,  # Ctrl-C reaches only the parent, which stops the children in order
            )
        self._restarts[command.name] = started(self._restarts[command.name], self.clock())


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
