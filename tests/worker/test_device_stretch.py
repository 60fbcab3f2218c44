from itertools import pairwise

from worker_stories import LARGE, World

from tidewise.worker.stretch import STEP, Stretch, stretch_of


def read(stretch: Stretch, ratio: float, seconds: float, busy: float = 0.8, start: float = 0.0) -> list[float]:
    """Levels over this time in a device busy for a share of what its profile says, batches ``ratio`` times as long."""
    took, expected = stretch._before[1:]
    levels = []
    for number in range(1, round(4 * seconds) + 1):
        took, expected = took + busy * ratio / 4, expected + busy / 4
        levels.append(stretch.update(start + number / 4, took, expected))
    return levels


def test_a_device_as_profiled_is_not_stretched() -> None:
    assert set(read(Stretch(), 1.0, 60)) == {1.0}


def test_a_device_faster_than_its_profile_is_not_stretched() -> None:
    assert set(read(Stretch(), 0.6, 60)) == {1.0}


def test_a_slow_device_is_noticed_within_seconds_and_trusted_again_afterwards() -> None:
    stretch = Stretch()
    slow = read(stretch, 2.0, 30)
    assert slow[12] > 1.2 and abs(slow[-1] / 2.0 - 1) < STEP - 1
    assert read(stretch, 1.0, 60, start=30)[-1] == 1.0


def test_noise_around_the_edge_of_a_step_moves_the_level_once_at_most() -> None:
    stretch, levels = Stretch(), [1.0]
    for number in range(40):
        levels += read(stretch, STEP**0.5 * (1.05 if number % 2 else 0.95), 2, start=2.0 * number)
    assert sum(one != other for one, other in pairwise(levels)) <= 1


def test_an_idle_device_is_trusted_again() -> None:
    stretch = Stretch()
    read(stretch, 3.0, 20)
    assert stretch.level > 2
    assert read(stretch, 1.0, 120, busy=0.0, start=20)[-1] == 1.0


def test_a_batch_that_hangs_counts_while_it_does() -> None:
    world = World(stretch=1000.0)
    world.host(LARGE)
    world.send(0.4)
    stretch = Stretch()
    readings = [stretch_of(world.device, stretch, world.now + after) for after in (0.0, 1.0, 5.0)]
    assert readings[0] == 1.0 and readings[2] > 5
