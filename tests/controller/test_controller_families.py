"""Which variants a device keeps warm: what is loaded stays if it does about as well as what the plan wants."""

from tidewise.controller.allocation.hull import Rung
from tidewise.controller.families import warm_variants

NANO, MIDDLE, LARGE = Rung("pets/nano", 100.0, 0.84), Rung("pets/m", 30.0, 0.942), Rung("pets/l", 28.0, 0.944)
SLOW = Rung("pets/xl", 10.0, 0.946)
LADDER = (NANO, MIDDLE, LARGE, SLOW)


def warm(kept: set[str]) -> list[str]:
    wanted = {NANO.variant, MIDDLE.variant, SLOW.variant}
    return [one.variant for one in warm_variants(LADDER, wanted, kept)]


def test_a_loaded_variant_that_is_about_as_good_and_as_fast_is_kept() -> None:
    assert warm({"nano", "l", "xl"}) == ["pets/xl", "pets/l", "pets/nano"]


def test_one_that_is_as_accurate_but_far_slower_does_not_do() -> None:
    assert warm({"nano", "xl"}) == ["pets/xl", "pets/m", "pets/nano"]
