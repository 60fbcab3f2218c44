"""The same verbs as the real processes, under pretend time."""
