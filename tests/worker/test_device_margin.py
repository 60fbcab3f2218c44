import random

from worker_stories import LARGE, World

from tidewise.worker.margin import renewed


def test_the_margin_settles_where_nineteen_in_twenty_batches_end_in_time() -> None:
    chance, margin, exceeded = random.Random(1), 0.0, 0
    for number in range(6000):
        took = 0.1 + abs(chance.gauss(0, 0.02))
        exceeded += number >= 1000 and took > 0.1 + margin
        margin = renewed(margin, 0.1, took)
    assert 0.03 < exceeded / 5000 < 0.07


def test_one_outlier_moves_the_margin_no_further_than_any_slow_batch() -> None:
    assert renewed(0.0, 0.1, 50.0) == renewed(0.0, 0.1, 0.11)


def test_the_margin_never_falls_below_the_reserve() -> None:
    assert renewed(0.002, 0.1, 0.01, least=0.002) == 0.002


def test_a_device_slower_than_its_profile_soon_answers_nothing_late() -> None:
    world = World(stretch=1.2)
    world.host(LARGE)
    while world.now < 20.0:
        world.send(0.4)
        world.until(world.now + 0.005)
    counts = world.device.counters.outcomes
    assert counts["late"] < 0.05 * counts["on_time"]


def test_a_bad_minute_is_forgotten() -> None:
    """Batches take ten times their profile for a while; afterwards the device serves as if nothing had been."""
    world = World(stretch=10.0)
    world.host(LARGE)
    while world.now < 60.0:
        world.send(0.4)
        world.until(world.now + 0.05)
    world.stretch, before = 1.0, len(world.answers())
    while world.now < 80.0:
        world.send(0.4)
        world.until(world.now + 0.05)
    assert len(world.answers()) - before > 300
