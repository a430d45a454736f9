"""Hypothesis profiles: the same examples on every run of CI, more of them by hand with ``HYPOTHESIS_PROFILE=thorough``."""

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200, suppress_health_check=_SLOW)
settings.register_profile("thorough", deadline=None, max_examples=3000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
