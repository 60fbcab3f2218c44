"""How a worker process is started, named and told what it lacks: the same whatever it serves queries with."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from worker_cluster import (
    BEST,
    CHEAP,
    DIGITS,
    applied,
    controller,
    digits,
    environment,
    profile_of,
    wait_for,
    worker,
)

from tidewise.core.profile import Profile, parse_profile
from tidewise.core.report import MeasureRequest


def test_what_nobody_measured_is_refused_until_the_worker_has_profiled_it(tmp_path: Path) -> None:
    with controller() as (pretend, port), worker(port, tmp_path, Profile()):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name)
        wait_for(lambda: pretend.device.refused_version == 1)
        assert f"{CHEAP.name!r} of 'digits' has no profile on device type 'real'" in pretend.device.refused_reason
        pretend.order(2, measures=(MeasureRequest("w0", "digits", (CHEAP.name,)),))
        wait_for(lambda: len([one for one in pretend.reports if one.profiles]) == 2)
        (news,) = [one for one in pretend.reports if one.profiles][1:]
        entry = parse_profile(news.profiles[0], "the report").entries["digits", CHEAP.name, "real"]
        assert [one.size for one in entry.batches] == [1, 2, 4, 8, 16]
        pretend.order(3, CHEAP.name)
        applied(pretend, 3)


def test_a_variant_that_cannot_be_profiled_is_reported_and_holds_up_no_other(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(DIGITS, tmp_path / "digits"))
    (folder / BEST.model).write_bytes(b"no model")
    with controller(folder) as (pretend, port), worker(port, tmp_path, Profile()):
        wait_for(lambda: pretend.reports)
        pretend.order(1, measures=(MeasureRequest("w0", "digits", (BEST.name, CHEAP.name)),))
        wait_for(lambda: pretend.device.unprofiled)
        wait_for(lambda: len([one for one in pretend.reports if one.profiles]) == 2)
        (found,) = pretend.device.unprofiled
        assert (found.application, found.variant) == ("digits", BEST.name) and "model" in found.reason
        (news,) = [one for one in pretend.reports if one.profiles][1:]
        assert set(parse_profile(news.profiles[0], "the report").entries) == {("digits", CHEAP.name, "real")}


def test_what_another_device_of_the_type_measured_is_good_enough(tmp_path: Path) -> None:
    with controller() as (pretend, port), worker(port, tmp_path, Profile()):
        wait_for(lambda: pretend.reports)
        pretend.order(1, CHEAP.name, profile=profile_of(digits(), "real"))
        applied(pretend, 1)


def test_a_worker_that_is_given_no_name_is_named_after_its_host(tmp_path: Path) -> None:
    with controller() as (pretend, port):
        words = [sys.executable, "-m", "tidewise.cli.main", "worker", "--join", f"127.0.0.1:{port}"]
        words += ["--listen", "0.0.0.0:0", "--device-type", "big", "--state", str(tmp_path)]
        process = subprocess.Popen(words, env=environment())
        wait_for(lambda: pretend.reports)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert pretend.device.name == f"big-{socket.gethostname()}"
        assert pretend.reports[0].address.startswith("127.0.0.1:")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--join", "nowhere"], "--join must be HOST:PORT, not 'nowhere'"),
        (["--join", "127.0.0.1:1", "--device-type", "huge"], "--device-type 'huge' is not in the cluster"),
        (["--join", "127.0.0.1:1"], "say which device type this worker is with --device-type"),
        (["--join", "127.0.0.1:1", "--device-type", "big", "--profile", "/nowhere"], "/nowhere cannot be read"),
        (["--join", "127.0.0.1:1", "--device-type", "big", "--name", "a", "--count", "2"], "exclude each other"),
    ],
)
def test_wrong_options_get_one_sentence_and_exit_code_2(words: list[str], sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidewise.cli.main", "worker", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
