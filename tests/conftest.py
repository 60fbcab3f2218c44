"""What holds for every test."""

import os
import signal

from hypothesis import settings

settings.register_profile("tidewise", deadline=None)  # a busy machine is no failing test
settings.load_profile("tidewise")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process under test compiles all of Tidewise again

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in a shell's background jobs: the processes under test inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
