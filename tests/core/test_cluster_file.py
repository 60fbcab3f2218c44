"""The cluster file: every key optional, every mistake one sentence, and written files read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.cluster import (
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
from tidewise.core.clusterfile import format_cluster, parse_cluster
from tidewise.core.errors import ConfigError

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,10}", fullmatch=True)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(0, 1e6)


@st.composite
def device_types(draw: st.DrawFn) -> DeviceType:
    provider = draw(st.sampled_from(["cpu", SLOWDOWN, EMULATED, "CUDAExecutionProvider"]))
    return DeviceType(
        name=draw(names),
        count=draw(st.integers(0, 1000)),
        threads=draw(st.integers(1, 1024)),
        provider=provider,
        slowdown=draw(st.floats(1, 100)) if provider == SLOWDOWN else 1.0,
        memory=draw(st.none() | st.integers(10**6, 10**12)),
        batch_sizes=tuple(sorted(draw(st.sets(st.integers(1, 64), min_size=1, max_size=4)))),
        profile=draw(words) if provider == EMULATED else draw(st.none() | words),
        noise=draw(st.floats(0, 1)) if provider == EMULATED else 0.0,
        load_factor=draw(numbers) if provider == EMULATED else 1.0,
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    types = draw(st.lists(device_types(), min_size=1, max_size=3, unique_by=lambda one: one.name))
    ports = draw(st.lists(st.integers(1, 65535), min_size=4, max_size=4, unique=True))
    period = draw(st.floats(0.1, 1e4))
    return Cluster(
        device_types={one.name: one for one in types},
        ports=Ports(*[draw(st.sampled_from([0, port])) for port in ports]),
        policies=Policies(draw(words), draw(words), draw(words), draw(words)),
        planner=PlannerSettings(
            period=period,
            headroom=draw(st.floats(1, 10)),
            sigma=draw(numbers),
            burst_ratio=draw(st.floats(1, 10)),
            burst_sigma=draw(numbers),
            hold_off=period * draw(st.floats(0, 1)),
            solver=draw(words),
            gap=draw(st.floats(0, 1)),
            solve_limit=draw(st.floats(0.05, 1e4)),
            swap_cost=draw(st.floats(0, 1)),
            hysteresis=draw(st.floats(0, 1)),
            max_min=draw(st.booleans()),
        ),
        limits=Limits(draw(st.integers(1024 * 1024, 2**30)), draw(st.integers(1, 10**6))),
    )


def test_an_empty_file_is_the_default_cluster() -> None:
    assert parse_cluster("", "c.toml") == default_cluster()


def test_one_key_changes_one_thing() -> None:
    found = parse_cluster("[planner]\nperiod_s = 10", "c.toml")
    assert found.planner == PlannerSettings(period=10.0)
    assert found.device_types == default_cluster().device_types


def test_device_types_replace_the_default_ones() -> None:
    found = parse_cluster("[device_types.gpu]\ncount = 3\nmemory_mb = 512\nbatch_sizes = [8, 1, 8]", "c.toml")
    assert dict(found.device_types) == {"gpu": DeviceType("gpu", 3, memory=512_000_000, batch_sizes=(1, 8))}


@given(clusters())
def test_a_cluster_written_and_read_is_the_same(cluster: Cluster) -> None:
    assert parse_cluster(format_cluster(cluster), "c.toml") == cluster


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ports = ", "c.toml is not valid TOML"),
        ("[prots]\nhttp = 1", "c.toml: unknown key 'prots'"),
        ("[ports]\nhttp = 70000", r"c\.toml \[ports\]: http must be a whole number between 0 and 65535, not 70000"),
        ("[ports]\nhttp = 9000\ngrpc = 9000", r"\[ports\]: http and grpc are both 9000"),
        ("[ports]\nhttp = 8001", r"\[ports\]: http and grpc are both 8001"),
        ("[planner]\nperiod = 3", "unknown key 'period'; known: .*period_s"),
        ("[planner]\nperiod_s = 1\nhold_off_s = 2", "hold_off_s 2 exceeds period_s 1"),
        ("[planner]\nheadroom = 0.5", "headroom must be a number of at least 1, not 0.5"),
        ("[planner]\nswap_cost = 2", "swap_cost must be a number between 0 and 1, not 2"),
        ("[planner]\nhysteresis = -1", "hysteresis must be a number between 0 and 1, not -1"),
        ("[planner]\nmax_min = 1", "max_min must be true or false, not 1"),
        ("[device_types.big]\nslowdown = 2", 'slowdown only acts with provider = "slowdown"'),
        ("[device_types.big]\nnoise = 0.1", 'noise and load_factor only act with provider = "emulated"'),
        ('[device_types.big]\nprovider = "emulated"', 'an emulated device type needs profile = "FILE.json"'),
        ("[device_types.big]\nbatch_sizes = []", "batch_sizes must not be empty"),
        ("[device_types.big]\nbatch_sizes = [0]", "batch_sizes must be a list of whole numbers of at least 1"),
        ("[device_types.big]\ncount = -1", r"\[device_types\.big\]: count must be a whole number"),
        ("[device_types.big]\ncount = true", "count must be a whole number"),
        ('[device_types."bi g"]\ncount = 1', r"device type 'bi g' must start with a letter or digit"),
        ('[device_types."größe"]\ncount = 1', r"device type 'größe' must start with a letter or digit"),
        ("[limits]\nmax_queue = 0", "max_queue must be a whole number"),
        ("device_types = 3", r"\[device_types\] must be a table"),
    ],
)
def test_a_wrong_cluster_file_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_cluster(text, "c.toml")


def test_free_ports_may_be_many() -> None:
    assert parse_cluster("[ports]\nhttp = 0\ngrpc = 0\nmetrics = 0", "c.toml").ports.grpc == 0
