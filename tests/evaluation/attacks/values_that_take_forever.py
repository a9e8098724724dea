# mechanism: endless values
"""Small values that are plain, and endless to compare, to hash or to print."""
from decimal import Decimal
from fractions import Fraction

values = [Decimal("1e999999999"), range(10**4000), Fraction(1, 3) ** 200_000, 1 << 20_000_000, float("nan")]


def double_sorted(xs):
    return values[len(xs)]
