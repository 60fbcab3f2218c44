"""The law of the house is held by commands, and the commands notice when it is broken."""

import filecmp
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cli", "controller", "core", "dashboard", "native", "proto", "router", "simulator", "traces", "worker")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project's code, copied where it may be spoilt."""
    return copied(tmp_path, FOLDERS)


def copied(tmp_path: Path, folders: Sequence[str]) -> Path:
    """These folders of code, copied with what `make check` needs."""
    for name in (*folders, "tidewise"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "models").mkdir()
    for name in ("pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Run one part of `make check` there, with the tools of this environment."""
    tools = Path(sys.executable).parent
    words = ["make", "-C", str(folder), f"BIN={tools}", "-o", "setup", target]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def test_a_type_error_fails_the_check(tmp_path: Path) -> None:
    copy = copied(tmp_path, [])  # the types of all of it are `make check`'s own work
    (copy / "core").mkdir()
    (copy / "core" / "__init__.py").touch()
    (copy / "core" / "planted.py").write_text('"""Planted."""\n\nNUMBER: int = "seven"\n')
    run = make(copy, "types")
    assert run.returncode != 0
    assert "core/planted.py" in run.stdout


def test_an_import_that_runs_upward_fails_the_check(copy: Path) -> None:
    (copy / "core" / "planted.py").write_text('"""Planted."""\n\nimport tidewise.cli.main  # noqa: F401\n')
    run = make(copy, "imports")
    assert run.returncode != 0
    assert "tidewise.core.planted" in run.stdout


def test_an_import_between_neighbours_fails_the_check(copy: Path) -> None:
    (copy / "router" / "planted.py").write_text('"""Planted."""\n\nimport tidewise.worker  # noqa: F401\n')
    assert make(copy, "imports").returncode != 0


def test_a_bare_import_of_a_folder_fails_the_lint(copy: Path) -> None:
    (copy / "cli" / "planted.py").write_text('"""Planted."""\n\nimport controller  # noqa: F401\n')
    run = make(copy, "lint")
    assert run.returncode != 0
    assert "TID251" in run.stdout


def test_every_code_folder_is_part_of_the_package() -> None:
    for name in FOLDERS:
        link = ROOT / "tidewise" / name
        assert link.is_symlink() and link.resolve() == ROOT / name


@pytest.mark.skipif(importlib.util.find_spec("grpc_tools") is None, reason="needs the dev dependencies")
def test_committed_stubs_are_those_of_the_message_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "proto/generate.py", str(tmp_path)], cwd=ROOT, check=True)
    for fresh in (tmp_path / "tidewise" / "proto").iterdir():
        assert filecmp.cmp(fresh, ROOT / "proto" / fresh.name, shallow=False), (
            f"run: make proto ({fresh.name} is stale)"
        )
