"""The cluster file: TOML in, a Cluster out. Every key is optional over the built-in default."""

from __future__ import annotations

import itertools
import json
import tomllib

from tidewise.core.cluster import (
    CPU,
    DEFAULT_BATCH_SIZES,
    EMULATED,
    SLOWDOWN,
    Cluster,
    DeviceType,
    Limits,
    PlannerSettings,
    Policies,
    Ports,
    default_cluster,
)
from tidewise.core.errors import ConfigError
from tidewise.core.table import Table

MIB = 1024 * 1024
POLICY_KEYS = ("allocation", "routing", "batching", "variant_choice", "swaps")


def parse_cluster(text: str, where: str, faults: list[str] | None = None) -> Cluster:
    """The cluster a TOML text describes; ``where`` names the file in error texts.

    Raises ConfigError at the first fault; or, given a list of ``faults``, notes them all there.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}") from error
    table = Table(values, where, ConfigError, faults)
    types = table.named_tables("device_types")
    cluster = Cluster(
        device_types={table.checked_name(name, "device type"): _device_type(name, one) for name, one in types.items()}
        or default_cluster().device_types,
        ports=_ports(table.table("ports")),
        policies=_policies(table.table("policies")),
        planner=_planner(table.table("planner")),
        limits=_limits(table.table("limits")),
    )
    table.done()
    return cluster


def _device_type(name: str, table: Table) -> DeviceType:
    provider = table.text("provider", CPU)
    memory = table.number("memory_mb", low=1) if table.has("memory_mb") else None
    found = DeviceType(
        name=name,
        count=table.integer("count", 1, high=1_000_000),
        threads=table.integer("threads", 1, low=1, high=1024),
        provider=provider,
        slowdown=table.number("slowdown", 1.0, low=1.0),
        memory=None if memory is None else round(memory * 1e6),
        batch_sizes=tuple(sorted(set(table.integers("batch_sizes", DEFAULT_BATCH_SIZES, low=1)))),
        profile=table.text("profile") if table.has("profile") else None,
        noise=table.number("noise", 0.0, high=1.0),
        load_factor=table.number("load_factor", 1.0),
    )
    table.done()
    if not found.batch_sizes:
        table.fault(f"{table.where}: batch_sizes must not be empty")
    if provider == EMULATED and found.profile is None:
        table.fault(f'{table.where}: an emulated device type needs profile = "FILE.json"')
    if found.slowdown != 1.0 and provider != SLOWDOWN:
        table.fault(f'{table.where}: slowdown only acts with provider = "slowdown", not {provider!r}')
    if (found.noise, found.load_factor) != (0.0, 1.0) and provider != EMULATED:
        table.fault(f'{table.where}: noise and load_factor only act with provider = "emulated", not {provider!r}')
    return found


def _ports(table: Table) -> Ports:
    default = Ports()
    ports = Ports(
        **{
            key: table.integer(key, getattr(default, key), high=65535)
            for key in ("http", "grpc", "metrics", "controller")
        }
    )
    table.done()
    given = [key for key in ("http", "grpc", "metrics", "controller") if getattr(ports, key)]
    for first, second in itertools.combinations(given, 2):
        if getattr(ports, first) == getattr(ports, second):
            table.fault(
                f"{table.where}: {first} and {second} are both {getattr(ports, first)}; change one, or use 0 for a free"
                " port"
            )
    return ports


def _policies(table: Table) -> Policies:
    default = Policies()
    policies = Policies(**{key: table.text(key, getattr(default, key)) for key in POLICY_KEYS})
    table.done()
    return policies


def _planner(table: Table) -> PlannerSettings:
    default = PlannerSettings()
    settings = PlannerSettings(
        period=table.number("period_s", default.period, low=0.1),
        headroom=table.number("headroom", default.headroom, low=1.0),
        sigma=table.number("sigma", default.sigma),
        burst_ratio=table.number("burst_ratio", default.burst_ratio, low=1.0),
        burst_sigma=table.number("burst_sigma", default.burst_sigma),
        hold_off=table.number("hold_off_s", default.hold_off),
        solver=table.text("solver", default.solver),
        gap=table.number("gap", default.gap, high=1.0),
        solve_limit=table.number("solve_limit_s", default.solve_limit, low=0.05),
        swap_cost=table.number("swap_cost", default.swap_cost, high=1.0),
        hysteresis=table.number("hysteresis", default.hysteresis, high=1.0),
        max_min=table.boolean("max_min", default.max_min),
    )
    table.done()
    if settings.hold_off > settings.period:
        table.fault(
            f"{table.where}: hold_off_s {settings.hold_off:g} exceeds period_s {settings.period:g}; lower it, or bursts"
            " are never answered sooner than the period"
        )
    return settings


def _limits(table: Table) -> Limits:
    default = Limits()
    limits = Limits(
        max_message=round(table.number("max_message_mb", default.max_message / MIB, low=0.001, high=2047) * MIB),
        max_queue=table.integer("max_queue", default.max_queue, low=1),
        batch_share=table.number("batch_share", default.batch_share, low=0.01, high=1.0),
    )
    table.done()
    return limits


def format_cluster(cluster: Cluster) -> str:
    """The complete cluster as TOML, every default spelled out; ``parse_cluster`` reads it back to an equal noun."""
    planner = cluster.planner
    lines = [
        "[ports]",
        *(_line(key, getattr(cluster.ports, key)) for key in ("http", "grpc", "metrics", "controller")),
        "",
        "[policies]",
        *(_line(key, getattr(cluster.policies, key)) for key in POLICY_KEYS),
        "",
        "[planner]",
        _line("period_s", planner.period),
        _line("headroom", planner.headroom),
        _line("sigma", planner.sigma),
        _line("burst_ratio", planner.burst_ratio),
        _line("burst_sigma", planner.burst_sigma),
        _line("hold_off_s", planner.hold_off),
        _line("solver", planner.solver),
        _line("gap", planner.gap),
        _line("solve_limit_s", planner.solve_limit),
        _line("swap_cost", planner.swap_cost),
        _line("hysteresis", planner.hysteresis),
        _line("max_min", planner.max_min),
        "",
        "[limits]",
        _line("max_message_mb", cluster.limits.max_message / MIB),
        _line("max_queue", cluster.limits.max_queue),
        _line("batch_share", cluster.limits.batch_share),
    ]
    for one in cluster.device_types.values():
        lines += ["", f"[device_types.{_toml(one.name)}]", *_device_lines(one)]
    return "\n".join(lines) + "\n"


def _device_lines(one: DeviceType) -> list[str]:
    lines = [_line("count", one.count), _line("threads", one.threads), _line("provider", one.provider)]
    lines += [_line("slowdown", one.slowdown)] if one.provider == SLOWDOWN else []
    lines += [_line("memory_mb", one.memory / 1e6)] if one.memory is not None else []
    lines += [_line("profile", one.profile)] if one.profile is not None else []
    if one.provider == EMULATED:
        lines += [_line("noise", one.noise), _line("load_factor", one.load_factor)]
    return [*lines, _line("batch_sizes", list(one.batch_sizes))]


def _line(key: str, value: object) -> str:
    return f"{key} = {_toml(value)}"


def _toml(value: object) -> str:
    """JSON as TOML reads it: the same, but for characters that JSON writes as halves or lets stand."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
