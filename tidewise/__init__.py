"""Tidewise: accuracy scaling for machine-learning inference on a cluster of fixed size."""

import os

__version__ = "0.1.0"

# onnxruntime's wheels report usage to their maker unless told not to before they are loaded; a serving system must not.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
