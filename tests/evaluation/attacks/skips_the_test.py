# mechanism: errors of test frameworks
"""Raises what test frameworks take for a test that is skipped, or expected to fail."""
import unittest
from unittest.case import _ShouldStop


class Skipped(BaseException):
    pass


Skipped.__module__ = "_pytest.outcomes"
Skipped.__qualname__ = Skipped.__name__ = "Skipped"
kinds = [unittest.SkipTest("x"), _ShouldStop(), Skipped("x"), SystemExit(0), KeyboardInterrupt()]


def double_sorted(xs):
    raise kinds[len(xs)]
