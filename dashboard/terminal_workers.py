"""The workers of a live frame as a table: each, or in a large cluster how many host what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from tidewise.core.live import LiveWorker
from tidewise.dashboard.numbers import NOTHING

MOST_WORKERS = 16  # rows; a larger cluster is shown by what its workers host
DEPTHS = ("bold", "", "dim")  # the most accurate variant stands out, cheap ones recede


def workers_table(workers: Sequence[LiveWorker]) -> Table:
    """One row a worker; in a large cluster one for each thing hosted, and one for each worker that is not well."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    many = len(workers) > MOST_WORKERS
    shares = any(one.share is not None for one in workers)
    for name in ("workers" if many else "worker", "device", "hosts"):
        table.add_column(name, no_wrap=True)
    for name in ("share", "queue") if shares else ("queue",):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for row in _rows(workers) if many else map(_worker, workers):
        table.add_row(*(row if shares else [*row[:3], *row[4:]]))
    return table


def _rows(workers: Sequence[LiveWorker]) -> Iterator[list[Text]]:
    groups: dict[tuple[str, str, int, str], list[LiveWorker]] = defaultdict(list)
    for one in workers:
        if one.connected and not one.note:
            groups[one.application, one.device_type, one.depth, one.variant].append(one)
    for _, own in sorted(groups.items()):
        share = None if own[0].share is None else sum(one.share or 0.0 for one in own)
        queued, busy = sum(one.queued for one in own), sum(one.busy for one in own)
        yield _row(own[0], str(len(own)), share, queued, Text(f"{busy} busy"))
    yield from (_worker(one) for one in workers if not one.connected or one.note)


def _worker(one: LiveWorker) -> list[Text]:
    state = Text("busy") if one.busy else Text("idle", style="dim")
    if not one.connected:
        state = Text("not connected", style="red")
    elif one.note:
        state = Text(one.note, style="yellow")
    return _row(one, one.name, one.share, one.queued, state)


def _row(one: LiveWorker, name: str, share: float | None, queued: int, state: Text) -> list[Text]:
    hosts = Text(_hosts(one) or "nothing", style=_depth(one))
    shown = NOTHING if share is None else f"{100 * share:.0f} %"
    return [Text(name), Text(one.device_type, style="dim"), hosts, Text(shown), Text(str(queued)), state]


def hosted(workers: Sequence[LiveWorker]) -> list[str]:
    """What is hosted, and by how many."""
    groups: dict[str, int] = defaultdict(int)
    for one in workers:
        groups[_hosts(one) or "nothing"] += 1
    return [f"{name} x{number}" if number > 1 else name for name, number in sorted(groups.items())]


def _hosts(one: LiveWorker) -> str:
    return f"{one.application}/{one.variant}" if one.application else ""


def _depth(one: LiveWorker) -> str:
    return DEPTHS[min(one.depth, len(DEPTHS) - 1)] if one.application else "dim"
