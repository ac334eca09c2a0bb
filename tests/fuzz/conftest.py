"""Random tests: no deadline, since a shared machine is slow at times; FUZZ_EXAMPLES sets how many each one tries."""

import os

from hypothesis import settings

settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("FUZZ_EXAMPLES", "100")))
settings.load_profile("fuzz")
