from hypothesis import settings
from planes import plane, pytest_generate_tests  # noqa: F401 - pytest finds them here

settings.register_profile("router", deadline=None)  # no promise here is about the speed of one example
settings.load_profile("router")
