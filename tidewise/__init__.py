"""Tidewise: accuracy scaling for machine-learning inference on a cluster of fixed size."""

__version__ = "0.1.0"
