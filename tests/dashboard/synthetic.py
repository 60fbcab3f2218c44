"""A made-up run with the shape of a real one: demand swings, plans follow, a spike comes too fast for one of them."""

import math
import random
from dataclasses import dataclass

from tidewise.core.outcome import Outcome, Reason
from tidewise.core.plan import Assignment, Plan
from tidewise.core.record import QueryRecord
from tidewise.core.run import MachineSample, PlanChange, Run, RunApplication, WorkerSample
from tidewise.traces.runs import RunWriter

GARMENTS = RunApplication("garments", 0.2, {"xl": 0.936, "l": 0.931, "m": 0.921, "s": 0.902, "xs": 0.874})
DIGITS = RunApplication("digits", 0.15, {"large": 0.985, "medium": 0.972, "small": 0.945})
APPLICATIONS = {one.name: one for one in (DIGITS, GARMENTS)}
CAPACITY = {"xl": 24, "l": 33, "m": 47, "s": 66, "xs": 90, "large": 44, "medium": 70, "small": 130}
WORKERS = {"big-0": 1.6, "big-1": 1.6, "small-0": 0.8, "small-1": 0.8}
HOMES = {"big-0": "garments", "big-1": "garments", "small-0": "garments", "small-1": "digits"}
PERIOD = 10.0


@dataclass
class Phase:
    """A plan in force: the variants of each worker, and what their application can carry."""

    change: PlanChange
    variants: dict
    capacity: dict


def rate(name, at, seconds, spikes=True):
    """Queries per second wanted of one application."""
    turn = 2 * math.pi * at / seconds
    if name == "digits":
        return 22 + 14 * math.sin(2 * turn + 1)
    spike = 60 if spikes and 0.62 < at / seconds < 0.68 else 0
    return 95 - 55 * math.cos(2 * turn) + spike


def variants_for(policy, demand):
    """Each worker's variant: the most accurate mix that carries the demand, or what the policy pins."""
    ladders = {name: list(one.variants) for name, one in APPLICATIONS.items()}
    pinned = {"clipper-ha": 0, "clipper-ht": -1}
    if policy in pinned:
        return {worker: ladders[home][pinned[policy]] for worker, home in HOMES.items()}
    steps = dict.fromkeys(ladders, 0)
    chosen = {worker: ladders[home][0] for worker, home in HOMES.items()}
    for name, ladder in ladders.items():
        own = [worker for worker, home in HOMES.items() if home == name]
        while capacity_of(chosen)[name] < 1.12 * demand[name] and steps[name] < len(own) * (len(ladder) - 1):
            worker = own[steps[name] % len(own)]
            chosen[worker] = ladder[steps[name] // len(own) + 1]
            steps[name] += 1
    return chosen


def capacity_of(variants):
    """Queries per second each application can carry."""
    totals = dict.fromkeys(APPLICATIONS, 0.0)
    for worker, variant in variants.items():
        totals[HOMES[worker]] += WORKERS[worker] * CAPACITY[variant]
    return totals


def phases(policy, seconds):
    """The plans of a run: one a period, and one at once on the spike."""
    moments = [(-1.0, "first plan")] + [(at, "period") for at in frange(PERIOD, seconds, PERIOD)]
    moments = sorted([*moments, (0.63 * seconds + 1.2, "burst")])
    found = []
    for version, (at, trigger) in enumerate(moments, 1):
        demand = {name: expected(name, max(0.0, at), seconds) for name in APPLICATIONS}
        variants = variants_for(policy, demand)
        found.append(Phase(PlanChange(at, plan(version, trigger, demand, variants)), variants, capacity_of(variants)))
    return found


def expected(name, at, seconds):
    """What a planner would foresee: the tide, but no spike before it is there."""
    return max(rate(name, at, seconds), *(rate(name, at + ahead, seconds, spikes=False) for ahead in (3, 6)))


def plan(version, trigger, demand, variants):
    """The plan that gives each worker its variant."""
    capacity = capacity_of(variants)
    assignments = tuple(
        Assignment(
            worker=worker,
            application=HOMES[worker],
            warm=(variant,),
            ceiling=variant,
            share=WORKERS[worker] * CAPACITY[variant] / capacity[HOMES[worker]],
            capacity=WORKERS[worker] * CAPACITY[variant],
        )
        for worker, variant in variants.items()
    )
    served = {name: min(1.0, capacity[name] / demand[name]) for name in demand}
    phi = min(served.values())
    status = "optimal" if phi == 1 else "overload"
    return Plan(
        version, assignments, demand, served, trigger, status, phi, 0.97, 0.97, 0.00004, 0.023 + 0.004 * version
    )


def frange(start, stop, step):
    return [start + step * index for index in range(math.ceil((stop - start) / step))]


def records(found, seconds, clock, draw):
    """One query after another, each ended by a crude queue of fluid."""
    backlog = dict.fromkeys(APPLICATIONS, 0.0)
    for name, application in APPLICATIONS.items():
        at = 0.0
        while (at := at + (gap := clock.expovariate(rate(name, at, seconds)))) < seconds:
            now = [one for one in found if one.change.at + 0.6 <= at or one.change.at < 0][-1]
            backlog[name] = max(0.0, backlog[name] - gap * now.capacity[name])
            yield (one := record(application, at, backlog[name] / now.capacity[name], now, draw))
            backlog[name] += one.outcome is not Outcome.REFUSED


def record(application, at, wait, phase, draw):
    """What becomes of one query that finds ``wait`` seconds of work before it."""
    sent = at + draw.expovariate(2000)
    took = wait + draw.lognormvariate(math.log(0.03), 0.35)
    if wait > application.slo:
        reason, ended = Reason.PREDICTED_LATE, sent + 0.001
        outcome = Outcome.REFUSED
    elif took > 1.15 * application.slo:
        reason, ended = Reason.HOPELESS, at + application.slo
        outcome = Outcome.DROPPED
    else:
        return answered(application, at, sent, took, wait, phase, draw)
    return QueryRecord(application.name, at, sent, ended, application.slo, outcome, reason)


def answered(application, at, sent, took, wait, phase, draw):
    own = [worker for worker, home in HOMES.items() if home == application.name]
    weights = [WORKERS[worker] * CAPACITY[phase.variants[worker]] for worker in own]
    worker = draw.choices(own, weights)[0]
    variant = phase.variants[worker]
    accuracy = application.variants[variant]
    outcome = Outcome.ON_TIME if took <= application.slo else Outcome.LATE
    version = phase.change.plan.version
    right = draw.random() < accuracy
    return QueryRecord(
        application=application.name,
        due=at,
        sent=sent,
        ended=at + took,
        deadline=application.slo,
        outcome=outcome,
        variant=variant,
        worker=worker,
        plan_version=version,
        queued=wait,
        computed=took - wait,
        accuracy=accuracy,
        correct=right,
    )


def worker_samples(found, seconds, draw):
    for at in frange(0.0, seconds, 0.5):
        now = [one for one in found if one.change.at + 0.6 <= at or one.change.at < 0][-1]
        for worker, variant in now.variants.items():
            kind = worker.rsplit("-", 1)[0]
            queued = int(draw.expovariate(0.5))
            version = now.change.plan.version
            yield WorkerSample(at, worker, kind, HOMES[worker], variant, version, queued, queued > 0)


def synthetic_run(policy="tidewise", seconds=90.0, seed=1):
    """A run of about two minutes under one allocation policy."""
    draw = random.Random(f"{seed} {policy}")
    found = phases(policy, seconds)
    kept = tuple(sorted(records(found, seconds, random.Random(seed), draw), key=lambda one: one.due))
    return Run(
        name=policy,
        seconds=seconds,
        arrivals=len(kept),
        applications=APPLICATIONS,
        records=kept,
        plans=tuple(one.change for one in found),
        workers=tuple(worker_samples(found, seconds, draw)),
        machine=tuple(MachineSample(at, 0.38 + 0.15 * draw.random()) for at in frange(1.0, seconds, 1.0)),
        policy=policy,
        trace="diurnal with one spike, 2 applications",
        device_types={"big": 2, "small": 2},
        cores=2,
        started="2026-01-31 12:00 UTC",
        version="0.1.0",
    )


def keep(run, folder):
    """Write a run into a folder; the folder as text."""
    with RunWriter(folder) as writer:
        for record in run.records:
            writer.add(record)
        for event in (*run.plans, *run.workers, *run.machine):
            writer.note(event)
        writer.describe(run)
    return str(folder)
