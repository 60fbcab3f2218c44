"""The stages of the router's and the worker's tests serve here too."""

import sys
from pathlib import Path

for name in ("router", "worker"):
    sys.path.append(str(Path(__file__).resolve().parent.parent / name))
