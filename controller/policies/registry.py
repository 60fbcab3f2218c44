"""The allocation policies a cluster file may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tidewise.controller.allocation.problem import Terms
from tidewise.controller.allocation.scenario import ScenarioTerms
from tidewise.controller.allocation.scenario_plan import plan_scenarios, plan_scenarios_fast
from tidewise.controller.allocation.solve import Limits, solve
from tidewise.controller.policies.anytime import AnytimePolicy
from tidewise.controller.policies.counts import CountPolicy
from tidewise.controller.policies.infaas import InfaasPolicy
from tidewise.controller.policies.policy import AllocationPolicy, Answer, Problem
from tidewise.controller.policies.proteus import ProteusPolicy
from tidewise.controller.policies.restrict import least_accurate, most_accurate
from tidewise.controller.policies.sommelier import SommelierPolicy
from tidewise.controller.policies.tidewise import ScenarioPolicy
from tidewise.controller.policies.uniform import UniformPolicy
from tidewise.controller.scenarios import Tuning
from tidewise.core.errors import ConfigError
from tidewise.core.scenario import ScenarioCase

MANY, COARSE = 200, 1e-3  # beyond so many devices a finer gap takes seconds and changes little

POLICIES: Mapping[str, Callable[[], AllocationPolicy]] = {
    "ilp": CountPolicy,
    "highs": lambda: CountPolicy(method="highs"),
    "pulp": lambda: CountPolicy(method="pulp"),
    "fast": lambda: CountPolicy(method="fast"),
    "static": lambda: CountPolicy(static=True),
    "clipper-ha": lambda: CountPolicy(restrict=most_accurate, static=True),
    "clipper-ht": lambda: CountPolicy(restrict=least_accurate, static=True),
    "tidewise": ScenarioPolicy,
    "proteus": ProteusPolicy,
    "proteus-periodic": lambda: ProteusPolicy(sudden=False),
    "infaas": InfaasPolicy,
    "sommelier": SommelierPolicy,
    "anytime": AnytimePolicy,
    "anytime-backlog": lambda: AnytimePolicy(bounded=False),
    "without-selection": lambda: ProteusPolicy(restrict=most_accurate),
    "without-assignment": UniformPolicy,
    "one-scenario": lambda: ScenarioPolicy(tuning=Tuning(only_level=True)),
    "unsteered": lambda: ScenarioPolicy(steering=False),
}


def allocation_policy(name: str) -> AllocationPolicy:
    """A policy of this name, as new. Raises ConfigError."""
    if name not in POLICIES:
        raise ConfigError(f"allocation policy {name!r} is unknown; choose one of {', '.join(POLICIES)}")
    return POLICIES[name]()


def allocate(case: Problem, method: str, limits: Limits, terms: Terms | None = None) -> Answer:
    """The answer to a case, whose demand may carry a margin; runs in the solver's process."""
    if isinstance(case, ScenarioCase):
        return plan_scenarios(case, terms=_scenario_terms(case, terms))
    if sum(case.device_types.values()) > MANY and limits.gap is not None:
        limits = replace(limits, gap=max(limits.gap, COARSE))
    return solve(case, method=method, limits=limits, terms=terms)


def allocate_fast(case: Problem, terms: Terms | None = None) -> Answer:
    """An answer to a case that is there at once, for when no better one comes."""
    if isinstance(case, ScenarioCase):
        return plan_scenarios_fast(case, _scenario_terms(case, terms))
    return solve(case, method="fast", terms=terms)


def _scenario_terms(case: ScenarioCase, terms: Terms | None) -> ScenarioTerms:
    """The scenario plan's own terms, with the swap cost of these if they have one."""
    if terms is None or terms.swap_cost <= 0:
        return ScenarioTerms()
    return ScenarioTerms(reload_cost=terms.swap_cost * sum(case.case.device_types.values()))
