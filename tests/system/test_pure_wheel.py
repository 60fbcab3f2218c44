"""Where no C++ compiler is found, a pure-Python wheel is built, and a cluster of it serves queries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tidewise.cli.options import STARTER_MODELS
from tidewise.cli.state_folder import STATE_FILE

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = """
[ports]
http = 0
grpc = 0
metrics = 0
controller = 0

[device_types.cpu]
batch_sizes = [1, 2]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that sees our dependencies, and of Tidewise only the wheel built without a compiler."""
    tmp_path = tmp_path_factory.mktemp("pure")
    without = {**os.environ, "CC": "/nonexistent/cc", "CXX": "/nonexistent/c++"}
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], env=without, check=True, capture_output=True, timeout=110)
    (wheel,) = tmp_path.glob("tidewise-*.whl")
    assert wheel.name.endswith("-none-any.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    return tmp_path / "venv" / "bin" / "python"


def ended(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = [str(python), "-m", "tidewise.cli.main", *words]
    return subprocess.run(run, cwd=folder, env=clean, capture_output=True, text=True, timeout=110)


def tidewise(python: Path, folder: Path, *words: str) -> str:
    found = ended(python, folder, *words)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.timeout(240)
def test_a_query_is_served_by_the_pure_python_wheel(python: Path, tmp_path: Path) -> None:
    findings = {one["what"]: one for one in json.loads(tidewise(python, tmp_path, "doctor", "--json"))["findings"]}
    for what, instead in (("engine", "Python engine"), ("router", "Python data plane")):
        assert findings[what]["state"] == "missing" and instead in findings[what]["text"]
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    tidewise(python, tmp_path, "up", "--detach", "--cluster", "cluster.toml")
    try:
        router = json.loads((tmp_path / ".tidewise" / STATE_FILE).read_text())["router"]
        client = [sys.executable, str(Path(__file__).with_name("stock_client.py")), router, "digits"]
        data = str(STARTER_MODELS / "digits" / "test.npz")
        found = subprocess.run([*client, data, "5"], capture_output=True, text=True, timeout=60)
        assert found.returncode == 0, found.stderr
        assert len(json.loads(found.stdout)) == 5
    finally:
        tidewise(python, tmp_path, "down")


@pytest.mark.timeout(240)
def test_a_data_plane_that_is_not_built_is_missed_in_a_sentence(python: Path, tmp_path: Path) -> None:
    found = ended(python, tmp_path, "up", "--data-plane", "native")
    assert found.returncode == 2
    assert found.stderr.startswith("tidewise: the native data plane is not built; install ")
    assert len(found.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
