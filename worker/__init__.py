"""Devices: hosting, batching, variant choice, execution, profiling."""
