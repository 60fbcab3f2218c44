"""`tidewise doctor`: what this machine can do, what is missing, and how to get it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from tidewise import __version__
from tidewise.cli.options import STARTER_MODELS, json_option
from tidewise.cli.requirements import import_fault, requirements
from tidewise.core.errors import TidewiseError
from tidewise.core.files import read_repository
from tidewise.native.data_plane import GET_IT, MEND_IT, find_data_plane, version_of
from tidewise.worker.stations import front_is_built, front_name


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    ``state`` is ok, optional (not here, and only needed for what the text says), missing (a fallback is used) or broken
    (something will not work).
    """

    what: str
    state: str
    text: str


@click.command(name="doctor")
@json_option
@click.option("--brief", is_flag=True, help="Only what is not as it should be, and one closing line.")
def command(as_json: bool, brief: bool) -> None:
    """Say what is installed, what is missing and how to get it. Exit 1 if something is broken."""
    findings = list(examine())
    broken = any(one.state == "broken" for one in findings)
    if as_json:
        click.echo(json.dumps({"ok": not broken, "findings": [asdict(one) for one in findings]}, indent=1))
    else:
        _tell(findings, brief)
    sys.exit(1 if broken else 0)


def _tell(findings: list[Finding], brief: bool) -> None:
    for one in findings:
        if not brief or one.state in ("missing", "broken"):
            click.echo(f"{one.state:9}{one.what}: {one.text}")
    if brief:
        broken = [one.what for one in findings if one.state == "broken"]
        engine = next(one.text for one in findings if one.what == "engine")
        click.echo(f"tidewise {__version__}: " + (f"broken: {', '.join(broken)}" if broken else f"ready, {engine}"))


def examine() -> Iterator[Finding]:
    """Every finding on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding(
        "machine", "ok", f"{platform.system()} {platform.machine()}, {cores} cores, Python {sys.version.split()[0]}"
    )
    yield from _packages()
    yield _extension("engine", "_engine", "C++ engine", "Python engine (same answers, more overhead a batch)")
    yield _extension("planner", "_planner", "C++ planner", "HiGHS (same plans, more CPU a solve)")
    yield _data_plane()
    yield _extension("batcher", "_worker", "C++ batcher", "Python batcher (same decisions, more overhead a batch)")
    yield _front()
    yield _models()


def _packages() -> Iterator[Finding]:
    for one in requirements():
        if one.extra:
            text = one.version or f"not here; to get it: pip install -e '.[{one.extra}]'"
            yield Finding(one.name, "ok" if one.version else "optional", f"{text} (optional: {one.extra})")
        elif one.version is None:
            yield Finding(one.name, "broken", "not installed; install again: pip install -e .")
        elif (fault := import_fault(one)) is not None:
            yield Finding(one.name, "broken", f"{one.version} cannot be imported ({fault}); install it again")
        else:
            yield Finding(one.name, "ok", one.version)


def _extension(what: str, module: str, here: str, instead: str) -> Finding:
    name = f"tidewise.native.{module}"
    if importlib.util.find_spec(name) is None:
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        how = (
            "install again: pip install -e ."
            if compiler
            else "install a C++ compiler (Debian: g++), then again: pip install -e ."
        )
        return Finding(what, "missing", f"{instead}; for the {here}, {how}")
    try:
        importlib.import_module(name)
    except ImportError as error:
        return Finding(what, "broken", f"{here} is built but does not load: {error}; build again: pip install -e .")
    return Finding(what, "ok", here)


def _data_plane() -> Finding:
    program = find_data_plane()
    if program is None:
        return Finding(
            "router", "missing", f"Python data plane (same answers, more CPU a query); for the C++ one, {GET_IT}"
        )
    version = version_of(program)
    if version is None:
        return Finding(
            "router", "missing", f"Python data plane: {program} is built but does not start; for the C++ one, {MEND_IT}"
        )
    return Finding("router", "ok", f"C++ data plane ({version})")


def _front() -> Finding:
    if not front_is_built():
        return Finding(
            "front", "missing", f"Python front of workers (same answers, more CPU a query); for the C++ one, {GET_IT}"
        )
    forced = " (switched off by the environment)" if front_name() == "python" else ""
    return Finding("front", "ok", f"C++ front of workers{forced}")


def _models() -> Finding:
    try:
        found = read_repository(STARTER_MODELS)
    except TidewiseError as error:
        return Finding("models", "broken", str(error))
    sizes = ", ".join(f"{name} ({len(application.variants)} variants)" for name, (_, _, application) in found.items())
    return Finding("models", "ok", sizes)
