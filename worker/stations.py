"""Which kind of station drives a device: the one in C++ where it is built, else the one in Python."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tidewise.core.cluster import DeviceType
from tidewise.core.errors import ConfigError
from tidewise.worker.device import Device, Policy
from tidewise.worker.sessions import Loader
from tidewise.worker.station import Station

if TYPE_CHECKING:
    from tidewise.worker.native_device import NativeDevice
    from tidewise.worker.native_station import NativeStation

AnyStation: TypeAlias = "Station | NativeStation"
AnyDevice: TypeAlias = "Device | NativeDevice"
BATCHER_VARIABLE, FRONT_VARIABLE = "TIDEWISE_BATCHER", "TIDEWISE_FRONT"


def native_is_built() -> bool:
    """Whether the C++ batcher was built with this installation."""
    return importlib.util.find_spec("tidewise.native._worker") is not None


def batcher_name(environment: Mapping[str, str] = os.environ) -> str:
    """native where it is built, else python; TIDEWISE_BATCHER forces one. Raises ConfigError."""
    forced = environment.get(BATCHER_VARIABLE, "")
    if forced not in ("", "python", "native"):
        raise ConfigError(f"{BATCHER_VARIABLE} must be python or native, not {forced!r}")
    if forced == "native" and not native_is_built():
        raise ConfigError(
            f"{BATCHER_VARIABLE}=native, but the C++ batcher is not built; unset it or install a compiler"
        )
    return forced or ("native" if native_is_built() else "python")


def front_is_built() -> bool:
    """Whether the C++ front was built with this installation."""
    if not native_is_built():
        return False
    try:
        from tidewise.native import _worker
    except ImportError:  # built, but it does not load: `tidewise doctor` says why
        return False
    return hasattr(_worker, "Front")


def front_name(environment: Mapping[str, str] = os.environ) -> str:
    """native where it is built and so is the batcher it feeds, else python; TIDEWISE_FRONT forces python."""
    forced = environment.get(FRONT_VARIABLE, "")
    if forced not in ("", "python", "native"):
        raise ConfigError(f"{FRONT_VARIABLE} must be python or native, not {forced!r}")
    possible = batcher_name(environment) == "native" and front_is_built()
    if forced == "native" and not possible:
        raise ConfigError(f"{FRONT_VARIABLE}=native, but the C++ front needs the C++ batcher and libnghttp2; unset it")
    return forced or ("native" if possible else "python")


def make_stations(
    devices: Mapping[str, DeviceType],
    policy: Policy,
    loader: Loader,
    changed: Callable[[], None] = lambda: None,
) -> dict[str, AnyStation]:
    """A station for each device of a process, by name. Raises ConfigError."""
    make = _native if batcher_name() == "native" else _python
    return make(devices, policy, loader, changed)


def _python(
    devices: Mapping[str, DeviceType], policy: Policy, loader: Loader, changed: Callable[[], None]
) -> dict[str, AnyStation]:
    return {
        name: Station(Device(name, policy, memory=one.memory), one, loader, changed) for name, one in devices.items()
    }


def _native(
    devices: Mapping[str, DeviceType], policy: Policy, loader: Loader, changed: Callable[[], None]
) -> dict[str, AnyStation]:
    """In C++, unless the policy has a rule that only Python knows."""
    from tidewise.native import _worker  # only where it is built
    from tidewise.worker.native_device import policy_names
    from tidewise.worker.native_station import NativeStation

    if not _worker.knows(*policy_names(policy)):
        return _python(devices, policy, loader, changed)
    clockwork = _worker.Clockwork()
    return {name: NativeStation(name, policy, one, loader, changed, clockwork) for name, one in devices.items()}
