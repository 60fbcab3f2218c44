"""An order that only moves the ceiling is followed at once, and comes out as if everything had been looked through."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from worker_stories import LARGE, OTHER, SMALL, order

from tidewise.worker.hosting import Hosting, Load
from tidewise.worker.orders import Order
from tidewise.worker.servable import Servable

LADDERS: tuple[tuple[Servable, ...], ...] = ((LARGE, SMALL), (LARGE, SMALL), (SMALL,), (OTHER,), ())


class Thorough(Hosting):
    """Looks through everything at every order."""

    def _moves_nothing(self, order: Order) -> bool:
        return False


@settings(max_examples=300)
@given(
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(["order", "order", "loaded", "failed"]), st.sampled_from(LADDERS)), max_size=20),
)
def test_hosting_does_the_same_with_and_without_its_shortcut(
    staged: bool, steps: list[tuple[str, tuple[Servable, ...]]]
) -> None:
    short, thorough = Hosting(staged), Thorough(staged)
    loading: list[Load] = []
    for version, (what, warm) in enumerate(steps, start=1):
        if what == "order":
            asked = order(version, *warm, ceiling=version % max(1, len(warm)))
            done = short.ordered(asked), thorough.ordered(asked)
        elif not loading:
            continue
        elif what == "loaded":
            model = loading.pop(0).model
            done = short.loaded(model), thorough.loaded(model)
        else:
            model = loading.pop(0).model
            done = short.load_failed(model, "corrupt"), thorough.load_failed(model, "corrupt")
        assert done[0] == done[1]
        loading += [one for one in done[0] if isinstance(one, Load)]
        assert (short.serving, short.pending) == (thorough.serving, thorough.pending)
        assert (short.states, short.refused) == (thorough.states, thorough.refused)
