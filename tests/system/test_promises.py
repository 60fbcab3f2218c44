"""What one process counts on another to do in time."""

from tidewise.controller.rejoin import GRACE
from tidewise.worker.agent import LAST_RETRY
from tidewise.worker.server import RECONNECT_SECONDS


def test_workers_come_back_to_a_restarted_controller_well_before_it_plans_without_them() -> None:
    assert LAST_RETRY + RECONNECT_SECONDS < GRACE - 1
