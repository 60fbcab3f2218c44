"""A state folder belongs to one cluster at a time; what a killed one left in it is recognised and put away."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from tidewise.cli.down import command as down
from tidewise.cli.state_folder import LOCK_FILE, STATE_FILE, holder, holding
from tidewise.core.errors import InputError, TidewiseError

HOLD = """
import sys, time
from pathlib import Path
from tidewise.cli.state_folder import holding
with holding(Path(sys.argv[1]), print):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def other(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_cluster_is_refused_naming_process_and_folder(tmp_path: Path) -> None:
    with other(tmp_path) as process:
        with pytest.raises(InputError) as refused, holding(tmp_path, print):
            pass
        assert str(tmp_path) in str(refused.value) and f"process {process.pid}" in str(refused.value)
        assert holder(tmp_path) == process.pid


def test_a_holder_that_does_not_say_who_it_is_is_nobody_to_send_a_signal(tmp_path: Path) -> None:
    with other(tmp_path):
        (tmp_path / LOCK_FILE).write_text("")
        with pytest.raises(TidewiseError, match="does not say which it is"):
            holder(tmp_path)


def test_a_refused_cluster_leaves_the_others_words_alone(tmp_path: Path) -> None:
    with other(tmp_path):
        (tmp_path / STATE_FILE).write_text("{}")
        with pytest.raises(InputError), holding(tmp_path, print):
            pass
        assert (tmp_path / STATE_FILE).exists()


def test_a_killed_cluster_holds_nothing_and_its_children_are_ended(tmp_path: Path) -> None:
    with other(tmp_path) as process:
        orphan = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", str(tmp_path / "worker")])
        stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        children = {"worker": orphan.pid, "router": stranger.pid}  # its id was given anew
        (tmp_path / STATE_FILE).write_text(json.dumps({"pid": process.pid, "children": children}))
        while len(psutil.Process(orphan.pid).cmdline()) < 4:
            time.sleep(0.01)
    assert holder(tmp_path) is None
    said: list[str] = []
    try:
        with holding(tmp_path, said.append):
            assert not (tmp_path / STATE_FILE).exists()
        assert f"process {process.pid}) was killed" in said[0]
        assert orphan.poll() is not None
        assert stranger.poll() is None
    finally:
        for one in (orphan, stranger):
            one.kill()
            one.wait()


def test_down_puts_away_what_a_killed_cluster_left(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).write_text(json.dumps({"pid": 1, "children": {}}))
    result = CliRunner().invoke(down, ["--state", str(tmp_path)])
    assert result.exit_code == 0 and "was killed" in result.output
    assert isinstance(CliRunner().invoke(down, ["--state", str(tmp_path)]).exception, InputError)
