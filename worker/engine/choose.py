"""Which engine runs a variant on a device type."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

from tidewise.core.cluster import CPU, SLOWDOWN, DeviceType
from tidewise.core.errors import ConfigError
from tidewise.worker.engine.base import Engine, Session, SessionOptions
from tidewise.worker.threads import allotted_cores, granted_threads

ENGINE_VARIABLE = "TIDEWISE_ENGINE"
CPU_PROVIDER = "CPUExecutionProvider"


def native_is_built() -> bool:
    """Whether the C++ engine was built with this installation."""
    return importlib.util.find_spec("tidewise.native._engine") is not None


def engine_name(provider: str = CPU_PROVIDER, environment: Mapping[str, str] = os.environ) -> str:
    """native where it is built and offers the provider, else python; TIDEWISE_ENGINE forces one. Raises ConfigError."""
    forced = environment.get(ENGINE_VARIABLE, "")
    if forced not in ("", "python", "native"):
        raise ConfigError(f"{ENGINE_VARIABLE} must be python or native, not {forced!r}")
    if forced == "native" and not native_is_built():
        raise ConfigError(f"{ENGINE_VARIABLE}=native, but the C++ engine is not built; unset it or install a compiler")
    return forced or ("native" if native_is_built() and provider == CPU_PROVIDER else "python")


def choose_engine(provider: str = CPU_PROVIDER, environment: Mapping[str, str] = os.environ) -> Engine:
    """The engine of that name; imported only when it is chosen."""
    if engine_name(provider, environment) == "native":
        from tidewise.worker.engine.native import NativeEngine

        return NativeEngine()
    from tidewise.worker.engine.onnx import OnnxEngine

    return OnnxEngine()


def session_options(device_type: DeviceType, cores: int | None = None) -> SessionOptions:
    """How variants are loaded on a device of this type: its threads, but no more than the cores allotted to us."""
    allotted = allotted_cores() if cores is None else cores
    provider = CPU_PROVIDER if device_type.provider in (CPU, SLOWDOWN) else device_type.provider
    return SessionOptions(threads=granted_threads(device_type.threads, allotted), provider=provider)


def open_model(device_type: DeviceType, model: Path) -> Session:
    """The model file, loaded to compute on a device of this type. Raises EngineError."""
    options = session_options(device_type)
    return choose_engine(options.provider).load(model, options)
