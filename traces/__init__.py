"""Trace format, generators, converters and open-loop replay."""
