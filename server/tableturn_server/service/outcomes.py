"""What is kept of an answer, so that the same call gets it again."""

from __future__ import annotations

import msgspec

from tableturn_server.tables import commands
from tableturn_server.tables.authority import waiting_for
from tableturn_server.tables.facts import still_to_vote
from tableturn_server.tables.state import Table


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What a command has led to: never a view, never a secret.

    `idle`: there was nothing to do, so the answer's revision is some other change's.
    """

    seat: int = 0
    waiting_for: tuple[int, ...] = ()
    idle: bool = False


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Outcome).decode


def idle(table: Table, command: commands.AnyCommand) -> Outcome:
    """What is answered to a command that has nothing to do, since all is as it wants it."""
    match command:
        case commands.TakeBack():
            return Outcome(waiting_for=waiting_for(table), idle=True)
        case commands.VoteDrop():
            still = still_to_vote(table, command.target)
            return Outcome(waiting_for=tuple(n for n in still if n not in command.away), idle=True)
        case commands.Reseat():
            return Outcome(command.seat, idle=True)
    return Outcome(idle=True)
