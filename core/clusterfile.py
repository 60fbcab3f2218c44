"""The cluster file: TOML in, a Cluster out. Every key is optional over the built-in default."""

from __future__ import annotations

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


def parse_cluster(text: str, where: str) -> Cluster:
    """The cluster a TOML text describes; ``where`` names the file in error texts. Raises ConfigError."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}") from error
    table = Table(values, where, ConfigError)
    types = table.named_tables("device_types")
    cluster = Cluster(
        device_types={name: _device_type(name, one) for name, one in types.items()} or default_cluster().device_types,
        ports=_ports(table.table("ports")),
        policies=_policies(table.table("policies")),
        planner=_planner(table.table("planner")),
        limits=_limits(table.table("limits")),
    )
    table.done()
    return cluster


def _device_type(name: str, table: Table) -> DeviceType:
    provider = table.text("provider", CPU)
    memory = table.number("memory_mb", low=1) if "memory_mb" in table.values else None
    found = DeviceType(
        name=name,
        count=table.integer("count", 1, high=1_000_000),
        threads=table.integer("threads", 1, low=1, high=1024),
        provider=provider,
        slowdown=table.number("slowdown", 1.0, low=1.0),
        memory=None if memory is None else round(memory * 1e6),
        batch_sizes=tuple(sorted(set(table.integers("batch_sizes", DEFAULT_BATCH_SIZES, low=1)))),
        profile=table.text("profile") if "profile" in table.values else None,
    )
    table.done()
    if not found.batch_sizes:
        raise ConfigError(f"{table.where}: batch_sizes must not be empty")
    if provider == EMULATED and found.profile is None:
        raise ConfigError(f'{table.where}: an emulated device type needs profile = "FILE.json"')
    if found.slowdown != 1.0 and provider != SLOWDOWN:
        raise ConfigError(f'{table.where}: slowdown only acts with provider = "slowdown", not {provider!r}')
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
    return ports


def _policies(table: Table) -> Policies:
    default = Policies()
    policies = Policies(
        **{
            key: table.text(key, getattr(default, key))
            for key in ("allocation", "routing", "batching", "variant_choice")
        }
    )
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
    )
    table.done()
    if settings.hold_off > settings.period:
        raise ConfigError(
            f"{table.where}: hold_off_s {settings.hold_off:g} exceeds period_s {settings.period:g}; lower it, or bursts"
            " are never answered sooner than the period"
        )
    return settings


def _limits(table: Table) -> Limits:
    default = Limits()
    limits = Limits(
        max_message=round(table.number("max_message_mb", default.max_message / MIB, low=0.001, high=2047) * MIB),
        max_queue=table.integer("max_queue", default.max_queue, low=1),
    )
    table.done()
    return limits
