"""The stages of the router's and the worker's tests serve here too."""

import sys
from pathlib import Path

for name in ("router", "worker"):
    sys.path.append(str(Path(__file__).resolve().parent.parent / name))

from planes import plane, pytest_generate_tests  # noqa: E402, F401 - pytest finds them here
