"""The life of a model on a device as a Mermaid diagram, made from the table so that the two cannot disagree."""

from __future__ import annotations

from collections.abc import Iterator

from tidewise.worker.hosting import TRANSITIONS, State


def diagram() -> str:
    """A Mermaid state diagram. Transitions that change nothing and do nothing are left out."""
    return "\n".join(["stateDiagram-v2", "    [*] --> absent", *_arrows()]) + "\n"


def _arrows() -> Iterator[str]:
    for (state, event), (after, action) in TRANSITIONS.items():
        if after is not state or action is not None:
            does = f" / {action.__name__.lower()}" if action else ""
            yield f"    {_name(state)} --> {_name(after)}: {event.name.lower()}{does}"


def _name(state: State) -> str:
    return state.name.lower()
