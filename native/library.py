"""Where the ONNX Runtime library lies: inside the onnxruntime wheel, which ships it without headers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tidewise.core.errors import EngineError

PATTERNS = ("libonnxruntime.so*", "libonnxruntime*.dylib")


def onnxruntime_library() -> Path:
    """The library file of the installed onnxruntime package, without importing it. Raises EngineError."""
    package = importlib.util.find_spec("onnxruntime")
    if package is None or not package.submodule_search_locations:
        raise EngineError("the onnxruntime package is not installed; run: pip install onnxruntime")
    folder = Path(next(iter(package.submodule_search_locations))) / "capi"
    found = sorted(path for pattern in PATTERNS for path in folder.glob(pattern))
    if not found:
        raise EngineError(f"{folder} holds no ONNX Runtime library; the native engine needs one")
    return found[0]
