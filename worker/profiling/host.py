"""Which machine a profile was taken on: figures from another one are not ours to use."""

from __future__ import annotations

import platform
from pathlib import Path

import onnxruntime

from tidewise.worker.threads import allotted_share

CPUINFO = Path("/proc/cpuinfo")


def host_name() -> str:
    """Processor, allotted cores and onnxruntime's version: whatever changes the figures of one and the same file."""
    return f"{_processor()}, {allotted_share():g} cores, onnxruntime {onnxruntime.__version__}"


def _processor() -> str:
    try:
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()
