"""What holds for every test."""

import signal

from hypothesis import settings

settings.register_profile("tidewise", deadline=None)  # a busy machine is no failing test
settings.load_profile("tidewise")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in a shell's background jobs: the processes under test inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
