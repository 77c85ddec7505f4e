"""Figures for people and models: exact where that is short, else rounded and marked with `~`."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction

from tiered_core.compactors.columns import EXACT

_EXACT_DIGITS = 15
_LEAST_DIGITS = 6
_DECIMALS = 2
_PLAIN_PLACES = 21


def figure(value: Decimal | Fraction) -> str:
    """The value as text: all its digits when they are at most 15, else `~` and the value rounded half to even.

    A rounded figure keeps two decimals, and at least six significant digits.
    """
    fraction = Fraction(value)
    whole = len(str(abs(int(fraction)))) if abs(fraction) >= 1 else 0
    text = _with_digits(fraction, _EXACT_DIGITS)
    if text is not None:
        return text
    digits = max(_LEAST_DIGITS, whole + _DECIMALS)
    rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=9_999, Emin=-9_999, traps=[])
    return "~" + _write(rounded.divide(Decimal(fraction.numerator), Decimal(fraction.denominator)))


def _with_digits(value: Fraction, digits: int) -> str | None:
    """The value with at most so many digits, None when it has more."""
    context = Context(prec=digits, Emax=9_999, Emin=-9_999, traps=[Inexact])
    try:
        return _write(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
    except Inexact:
        return None


def _write(value: Decimal) -> str:
    if not value:
        return "0"
    bare = value.normalize(EXACT)
    if -_PLAIN_PLACES < bare.adjusted() < _PLAIN_PLACES and len(bare.as_tuple().digits) <= 40:
        return format(bare, "f")
    return str(bare)
