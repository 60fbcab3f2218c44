"""What the tests of a real controller start from."""

from pathlib import Path

import pytest
from wire_stories import write_application


@pytest.fixture
def patient_rejoin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restarted controller waits long enough for those it knew to come back on a busy machine."""
    monkeypatch.setattr("tidewise.controller.rejoin.GRACE", 60.0)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A model repository of one application, pets."""
    write_application(tmp_path / "models", "pets")
    return tmp_path / "models"
