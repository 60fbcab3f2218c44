"""What the study runs: a row is one simulation, groups of rows make the tables and pictures of docs/evaluation.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace

NORMAL, TIGHT = "medium-normal_load/300", "medium-normal_load/1x"
TRACES = (NORMAL, TIGHT, "zipf_exponential/300", "zipf_flat_bursty/300", "zipf_flat_uniform/300")
RIVALS = (
    "proteus",
    "proteus-periodic",
    "proteus-mended",
    "infaas",
    "sommelier",
    "anytime",
    "anytime-backlog",
    "clipper-ha",
    "clipper-ht",
)
ON_OUR_WORKER = ("proteus", "infaas", "sommelier", "clipper-ht", "clipper-ha")
ORACLE = "static-oracle"  # placed once for all true windows of the trace; with our worker and our steering
ABLATED = (
    "tidewise-planned",
    "tidewise-blocking",
    "tidewise-single",
    "tidewise-random",
    "tidewise-cycle",
    "tidewise-one-scenario",
    "tidewise-unsteered",
    "tidewise-counts",
)
PAPER_ABLATED = ("without-selection", "without-placement", "without-assignment", "without-batching")
RULES = ("eager", "adaptive", "deadline", "nexus", "aimd", "single")
SLO_ROWS = ("1x", "1.5x", "2.1x", "2.5x", "3x", "3.5x")
POOL_SIZES = ("12", "16", "20", "28", "40", "60")


@dataclass(frozen=True, slots=True)
class Row:
    """One simulation. ``world`` is the seed of a generated world, which then replaces the testbed.

    ``permuted`` and ``parts`` as in testbed.permuted; ``slo`` is a row of its table of SLOs; "" and -1 mean: as it is.
    ``tuning`` changes the scenarios ("sigma=1.0,level_sigma=0.0"); ``headroom``, ``period`` and ``batch_share`` the
    cluster's, 0 for the policy's own; the rest is what is charged.
    """

    policy: str
    trace: str = NORMAL
    pool: str = "half"
    worker: str = "published"
    seed: int = 0
    batching: str = ""
    slo: str = ""
    permuted: int = -1
    parts: int = 1
    world: int = -1
    noise: float = 0.03
    solve: float = 0.5
    load: float = 1.0
    tuning: str = ""
    headroom: float = 0.0
    period: float = 0.0
    batch_share: float = 0.0

    @property
    def key(self) -> str:
        """What differs from the defaults, in words: the row's name in the file of results."""
        plain = {one.name: one.default for one in fields(self)}
        return " ".join(f"{name}={value}" for name, value in asdict(self).items() if value != plain[name])


def policies() -> Iterator[Row]:
    """Every policy on every trace, in both pools; three seeds for ours and the nearest rivals."""
    places = [(NORMAL, "half"), (TIGHT, "half"), *((trace, "full") for trace in TRACES)]
    for trace, pool in places:
        yield from (Row(one, trace, pool) for one in ("tidewise", *RIVALS))
    for seed in (1, 2):
        for trace, pool in places:
            yield from (Row(one, trace, pool, seed=seed) for one in ("tidewise", "proteus-mended", "proteus"))


def our_worker() -> Iterator[Row]:
    """The rivals' plans on our worker where it matters: the half pool."""
    for trace in (NORMAL, TIGHT):
        yield from (Row(one, trace, worker="ours") for one in (ORACLE, *ON_OUR_WORKER))


def permutations() -> Iterator[Row]:
    """Six worlds with the applications' rates permuted, four in which they are permuted anew in each third."""
    rivals = [("tidewise", "published"), *((one, "ours") for one in (ORACLE, "proteus", "infaas", "sommelier"))]
    rivals.append(("anytime", "published"))
    for policy, worker in rivals:
        yield from (Row(policy, worker=worker, permuted=one) for one in range(6))
        yield from (Row(policy, worker=worker, permuted=10 + one, parts=3) for one in range(4))


def slos() -> Iterator[Row]:
    """The sweep over SLOs."""
    for policy in ("tidewise", "proteus-mended", "anytime", "infaas", "proteus"):
        yield from (Row(policy, slo=one) for one in SLO_ROWS)


def ablations() -> Iterator[Row]:
    """What each part is worth: ours on the half pool, the paper's own on the full one."""
    for trace in (NORMAL, TIGHT):
        yield from (Row(one, trace) for one in ABLATED)
    yield from (Row(one, NORMAL, "full") for one in PAPER_ABLATED)


def batching() -> Iterator[Row]:
    """Every batching rule under our plan."""
    places = ((NORMAL, "half"), (TIGHT, "half"), (TRACES[2], "half"), (TRACES[3], "half"), (TRACES[4], "half"))
    for trace, pool in places:
        yield from (Row("tidewise", trace, pool, batching="" if one == "eager" else one) for one in RULES)


def scaling() -> Iterator[Row]:
    """The same demand on fewer and on more devices."""
    for policy in ("tidewise", "proteus-mended"):
        yield from (Row(policy, pool=one) for one in POOL_SIZES)


def robustness() -> Iterator[Row]:
    """What is charged and how much is put on top, one change at a time."""
    base = Row("tidewise")
    yield from (replace(base, seed=seed) for seed in range(6))
    yield from (replace(base, noise=one) for one in (0.0, 0.1, 0.2))
    yield from (replace(base, solve=one) for one in (0.05, 2.0, 4.0))
    yield from (replace(base, load=one) for one in (0.5, 3.0))
    yield from (replace(base, headroom=one) for one in (1.0, 1.15, 1.3))
    yield from (replace(base, tuning=f"sigma={one}") for one in ("0.5", "1.0"))
    yield from (replace(base, tuning=f"level_sigma={one}") for one in ("0.0", "1.0"))


def worlds(held_out: bool) -> Iterator[Row]:
    """Generated worlds; odd seeds were never looked at while anything was chosen."""
    rivals = [("tidewise", "published"), ("proteus-mended", "published"), ("anytime", "published")]
    rivals += [("infaas", "ours"), ("proteus", "ours"), ("sommelier", "ours")]
    for seed in range(int(held_out), 24, 2):
        yield from (Row(policy, trace="", pool="", worker=worker, world=seed) for policy, worker in rivals)


def choices() -> Iterator[tuple[str, list[Row]]]:
    """What the default could be instead: a name for each change, and its rows in the generated worlds looked at."""
    base = Row("tidewise", trace="", pool="")
    changes = {"as it is": base}
    changes |= {one.removeprefix("tidewise-"): replace(base, policy=one) for one in ABLATED}
    changes |= {f"batching {one}": replace(base, batching=one) for one in RULES if one not in ("eager", "single")}
    changes |= {f"batch share {one}": replace(base, batch_share=one) for one in (0.45, 0.5, 0.6, 0.65)}
    changes |= {f"period {one} s": replace(base, period=float(one)) for one in (3, 5, 20, 30)}
    changes |= {f"headroom {one}": replace(base, headroom=one) for one in (1.0, 1.15, 1.3)}
    margins = ((0.0, 0.0), (0.0, 1.0), (0.25, 0.5), (0.5, 0.5), (0.5, 1.0))
    changes |= {f"margins {a}, {b}": replace(base, tuning=f"sigma={a},level_sigma={b}") for a, b in margins}
    for name, change in changes.items():
        yield name, [replace(change, world=seed) for seed in range(0, 24, 2)]


def groups() -> Mapping[str, Iterable[Row]]:
    """Every group by name."""
    return {
        "policies": policies(),
        "our-worker": our_worker(),
        "permuted": permutations(),
        "slo": slos(),
        "ablations": ablations(),
        "batching": batching(),
        "scaling": scaling(),
        "robustness": robustness(),
        "choices": [row for _, each in choices() for row in each],
        "worlds": worlds(held_out=False),
        "held-out": worlds(held_out=True),
    }
