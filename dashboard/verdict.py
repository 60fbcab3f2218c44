"""What a run amounts to, in words: one sentence that tells the outcome as it is, and notes on what spoils it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tidewise.core.outcome import Outcome
from tidewise.core.run import Run
from tidewise.dashboard.card import Card
from tidewise.dashboard.numbers import count, milliseconds, percent, rate
from tidewise.dashboard.palette import VIOLATIONS
from tidewise.dashboard.series import columns, series

HELD, MOSTLY = 0.03, 0.10  # violation ratios up to which deadlines count as held, or mostly held
SENDER_LATE = 0.010  # seconds of p99 send lateness above which the sender, not the cluster, shapes the result
BUSY = 0.60  # of the machine's CPU, above which sharing it with the sender may shape the result
SIMULATED = "simulated"  # the target of a run in pretend time
POLICY_NAMES = {
    "tidewise": "Tidewise",
    "ilp": "Exact counts for one demand",
    "clipper-ha": "Always the most accurate",
    "clipper-ht": "Always the cheapest",
    "static": "A plan that never changes",
    "proteus": "Proteus",
    "infaas": "INFaaS",
    "sommelier": "Sommelier",
}


class Level(StrEnum):
    """How good the news is."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Note:
    """One remark."""

    level: Level
    text: str


def title(run: Run) -> str:
    """What to call a run: what its policy does, its policy, or its own name; and whether it was only simulated."""
    words = POLICY_NAMES.get(run.policy) or run.policy or run.name
    return f"{words}, simulated" if run.target == SIMULATED else words


def headline(run: Run, card: Card) -> Note:
    """The outcome in one sentence."""
    whole = card.whole
    if not whole.arrivals:
        return Note(Level.BAD, "Nothing arrived, so this run shows nothing.")
    asked = f"{count(whole.arrivals)} queries"
    low, high = _swing(run)
    demand = f"demand moved between {rate(low)} and {rate(high)} queries a second"
    accuracy = _accuracy_words(card)
    missed = whole.violation_ratio
    if missed <= HELD:
        answered = f"{percent(1 - missed)} of {asked}" if missed else f"all {asked}"
        return Note(Level.GOOD, f"Deadlines held: {answered} were answered on time while {demand}, {accuracy}.")
    words = "Deadlines mostly held" if missed <= MOSTLY else "Deadlines were missed"
    level = Level.FAIR if missed <= MOSTLY else Level.BAD
    return Note(level, f"{words}: {percent(missed)} of {asked} were not answered on time while {demand}, {accuracy}.")


def notes(run: Run, card: Card) -> list[Note]:
    """What a reader must know before trusting or praising the figures."""
    return [
        *_complete(run, card),
        *_measurement(card),
        *_shortfalls(run, card),
        *(Note(Level.FAIR, one) for one in run.notes),
    ]


def _accuracy_words(card: Card) -> str:
    whole = card.whole
    if whole.effective_accuracy is None or whole.accuracy_drop is None:
        return "and no answer on time had a known accuracy"
    if whole.accuracy_drop == 0:
        return "always at the best possible accuracy"
    mean, lowest = percent(whole.effective_accuracy), percent(1 - whole.accuracy_drop)
    return f"at {mean} of the best possible accuracy ({lowest} in the worst ten seconds)"


def _swing(run: Run) -> tuple[float, float]:
    """Lowest and highest arrivals a second over whole windows of about three seconds."""
    arrivals = series(columns(run), width=min(3.0, run.seconds)).arrivals
    whole = arrivals[:-1] if len(arrivals) > 1 else arrivals
    return float(whole.min()), float(whole.max())


def _complete(run: Run, card: Card) -> Iterator[Note]:
    if card.whole.arrivals != run.arrivals:
        yield Note(
            Level.BAD,
            f"The trace held {count(run.arrivals)} arrivals but {count(card.whole.arrivals)} outcomes were kept;"
            " every figure here is over the outcomes kept.",
        )


def _measurement(card: Card) -> Iterator[Note]:
    if card.lateness is not None and card.lateness > SENDER_LATE:
        yield Note(
            Level.BAD,
            f"The sender was late: 1 % of queries left {milliseconds(card.lateness)} or more after they were due."
            " Deadlines count from when a query was due"
            + (", so part of the violations may be the sender's." if card.whole.violation_ratio else "."),
        )
    if card.cpu is not None and card.cpu > BUSY:
        yield Note(
            Level.FAIR,
            f"The machine was {percent(card.cpu)} busy at its busiest; above {percent(BUSY)} the sender and the cluster"
            " compete for the same cores, and latencies may be worse than the cluster's own.",
        )


def _shortfalls(run: Run, card: Card) -> Iterator[Note]:
    whole = card.whole
    kinds = [
        f"{percent(whole.outcomes[kind] / whole.arrivals)} {kind}" for kind in VIOLATIONS if whole.outcomes.get(kind)
    ]
    if kinds:
        level = Level.GOOD if whole.violation_ratio <= HELD else Level.FAIR
        yield Note(level, f"Not on time: {', '.join(kinds)}, of all arrivals.{_why(run)}")
    if card.worst and len(card.applications) > 1:
        yield _worst(card, card.worst)
    short = [one.plan for one in run.plans if one.plan.status == "overload"]
    if short:
        yield Note(
            Level.FAIR,
            f"{len(short)} of {len(run.plans)} plans found the cluster too small for the demand; the worst could carry"
            f" {percent(min(one.phi for one in short))} of it.",
        )
    gone = sorted({one.worker for one in run.workers if not one.connected})
    if gone:
        yield Note(Level.FAIR, f"Not connected for part of the run: {', '.join(gone)}.")


def _worst(card: Card, name: str) -> Note:
    worst, whole = card.applications[name], card.whole
    level = Level.GOOD if worst.violation_ratio <= HELD else Level.FAIR
    figures = (
        f"{percent(worst.violation_ratio)} of its queries not on time, accuracy {percent(worst.effective_accuracy)}"
    )
    mean = f"{percent(whole.violation_ratio)} and {percent(whole.effective_accuracy)}"
    return Note(level, f"Worst application: {name}, {figures} of its best (over all: {mean}).")


def _why(run: Run) -> str:
    reasons = Counter(one.reason for one in run.records if one.reason and one.outcome is not Outcome.ON_TIME)
    if not reasons:
        return ""
    named = ", ".join(f"{reason.replace('_', ' ')} {count(number)}" for reason, number in reasons.most_common(4))
    return f" Reasons given: {named}."
