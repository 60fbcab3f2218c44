from hypothesis import settings

settings.register_profile("router", deadline=None)  # no promise here is about the speed of one example
settings.load_profile("router")
