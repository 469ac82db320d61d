"""The cargo limit: cubes above it are returned, by several seats at once if need be.

Seats that are over the limit after somebody else's turn are asked all at once.
Each answers by itself, and the answers are applied together when the last one is
in (EW-R10). Until then an answer changes nothing but its own entry here, so that
seats can't hinder each other.
"""

from __future__ import annotations

import msgspec

from tableturn_server.rules.mechanics.cubes import Cubes


class Return(msgspec.Struct, frozen=True, array_like=True):
    """A seat must return `due` cubes."""

    seat: int
    due: int
    cubes: Cubes | None = None
    """What it chose; not applied yet."""
    confirmed: bool = False


Returns = tuple[Return, ...]
"""What is still to be returned, in turn order."""


def asked(returns: Returns, seat: int) -> Return | None:
    """What a seat is still asked, with the answer that it staged."""
    return next((r for r in returns if r.seat == seat and not r.confirmed), None)


def answered(returns: Returns, seat: int, cubes: Cubes) -> Returns:
    """A seat's answer is staged."""
    return tuple(msgspec.structs.replace(r, cubes=cubes) if r.seat == seat else r for r in returns)


def confirmed(returns: Returns, seat: int) -> Returns:
    """A seat's answer is confirmed."""
    return tuple(
        msgspec.structs.replace(r, confirmed=True) if r.seat == seat else r for r in returns
    )


def without(returns: Returns, seat: int) -> Returns:
    """A seat is asked no more; an answer that it has confirmed stands."""
    return tuple(r for r in returns if r.seat != seat or r.confirmed)


def complete(returns: Returns) -> bool:
    """The last answer is in."""
    return all(r.confirmed for r in returns)
