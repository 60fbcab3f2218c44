"""What the tests of a real controller start from."""

from pathlib import Path

import pytest
from wire_stories import write_application


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A model repository of one application, pets."""
    write_application(tmp_path / "models", "pets")
    return tmp_path / "models"
