"""Messages to nouns and back; the only place where the control plane's messages are read or built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidewise.core.plan import Assignment, Plan
from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import Route, RoutingSnapshot, Tally
from tidewise.proto import control_pb2 as pb


def source_message(source: ApplicationSource) -> pb.ApplicationSpec:
    """An application's files as a message."""
    return pb.ApplicationSpec(toml=source.toml, accuracy_json=source.accuracy_json, digests=dict(source.digests))


def source_noun(message: pb.ApplicationSpec) -> ApplicationSource:
    """An application's files from a message."""
    return ApplicationSource(message.toml, message.accuracy_json, dict(message.digests))


def catalogue_message(sources: Iterable[ApplicationSource]) -> pb.Catalogue:
    """All applications as a message."""
    return pb.Catalogue(applications=[source_message(one) for one in sources])


def assignment_message(one: Assignment) -> pb.Assignment:
    """An assignment as a message."""
    return pb.Assignment(
        worker=one.worker,
        application=one.application,
        warm=one.warm,
        ceiling=one.ceiling,
        share=one.share,
        capacity=one.capacity,
    )


def assignment_noun(message: pb.Assignment) -> Assignment:
    """An assignment from a message."""
    return Assignment(
        worker=message.worker,
        application=message.application,
        warm=tuple(message.warm),
        ceiling=message.ceiling,
        share=message.share,
        capacity=message.capacity,
    )


def plan_message(plan: Plan) -> pb.Plan:
    """A plan as a message."""
    return pb.Plan(
        version=plan.version,
        trigger=plan.trigger,
        status=plan.status,
        phi=plan.phi,
        objective=plan.objective,
        bound=plan.bound,
        gap=plan.gap,
        solve_s=plan.solve,
        demand=dict(plan.demand),
        served=dict(plan.served),
        assignments=[assignment_message(one) for one in plan.assignments],
    )


def plan_noun(message: pb.Plan) -> Plan:
    """A plan from a message."""
    return Plan(
        version=message.version,
        trigger=message.trigger,
        status=message.status,
        phi=message.phi,
        objective=message.objective,
        bound=message.bound,
        gap=message.gap,
        solve=message.solve_s,
        demand=dict(message.demand),
        served=dict(message.served),
        assignments=tuple(assignment_noun(one) for one in message.assignments),
    )


def snapshot_message(snapshot: RoutingSnapshot, sources: Mapping[str, ApplicationSource]) -> pb.RoutingSnapshot:
    """A routing snapshot as a message; applications travel as the text of their files."""
    return pb.RoutingSnapshot(
        revision=snapshot.revision,
        plan_version=snapshot.plan_version,
        catalogue=catalogue_message(sources[name] for name in snapshot.applications),
        routes=[_route_message(one) for one in snapshot.routes],
        max_message_bytes=snapshot.max_message,
        routing=snapshot.routing,
    )


def snapshot_noun(message: pb.RoutingSnapshot) -> RoutingSnapshot:
    """A routing snapshot from a message. Raises RepositoryError if an application in it cannot be read."""
    applications = [source_noun(one).parse() for one in message.catalogue.applications]
    return RoutingSnapshot(
        revision=message.revision,
        plan_version=message.plan_version,
        applications={one.name: one for one in applications},
        routes=tuple(_route_noun(one) for one in message.routes),
        max_message=message.max_message_bytes,
        routing=message.routing,
    )


def _route_message(route: Route) -> pb.Route:
    return pb.Route(
        worker=route.worker,
        address=route.address,
        application=route.application,
        variants=route.variants,
        share=route.share,
        capacity=route.capacity,
        fastest_s=route.fastest,
    )


def _route_noun(message: pb.Route) -> Route:
    return Route(
        worker=message.worker,
        address=message.address,
        application=message.application,
        variants=tuple(message.variants),
        share=message.share,
        capacity=message.capacity,
        fastest=message.fastest_s,
    )


def tally_message(tally: Tally) -> pb.Tally:
    """A tally as a message."""
    return pb.Tally(
        application=tally.application,
        seconds=tally.seconds,
        arrivals=tally.arrivals,
        outcomes=dict(tally.outcomes),
        variants=dict(tally.variants),
    )


def tally_noun(message: pb.Tally) -> Tally:
    """A tally from a message."""
    return Tally(
        application=message.application,
        seconds=message.seconds,
        arrivals=message.arrivals,
        outcomes=dict(message.outcomes),
        variants=dict(message.variants),
    )
