"""Measuring what a variant costs on a device type, through the path that serves it, and how often it is right."""
