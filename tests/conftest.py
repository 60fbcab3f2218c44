"""What holds for every test."""

from hypothesis import settings

settings.register_profile("tidewise", deadline=None)  # a busy machine is no failing test
settings.load_profile("tidewise")
