"""Engines: what loads a model file and runs a batch through it."""
