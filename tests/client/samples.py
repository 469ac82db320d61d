"""Tables of real games with merchant cards, to be drawn in tests.

python -m tests.client.samples      play the games and write the tables anew
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict

from tableturn.v1 import actions_pb2, table_pb2, views_pb2
from tableturn_server.rules.actions import AcquireCard, Action, PutCube
from tableturn_server.service import convert
from tests.client.test_drawing import DRAWINGS
from tests.rules.golden import written
from tests.rules.play import Table
from tests.rules.players import take_turn

NAMES = ("Anna", "Ben", "Çağla", "Dörte-Wilhelmina", "Edo")
VIEWER = 2


def moments(table: Table, chance: int) -> Iterator[int]:
    """Play a whole game; before each turn, the seat that takes it."""
    random = Random(chance)
    while table.prompts:
        seat = table.prompts[0].seat
        yield seat
        for action in take_turn(table.game, table.confirmed, seat, random):
            table.stage(seat, action)
        table.confirm(seat)


def busiest(game: str, seats: int) -> Table:
    """The table before the turn of seat 2 with the most cards in its hand, a row being there."""

    def hands() -> Iterator[tuple[int, int]]:
        table = Table(game, seats)
        for number, seat in enumerate(moments(table, seats)):
            see = table.see(seat)
            if seat == VIEWER and see.merchants and see.merchants.deck:
                yield len(see.players[seat - 1].hand), -number

    _, number = max(hands())
    table = Table(game, seats)
    played = moments(table, seats)
    for _ in range(1 - number):
        next(played)
    return table


def finished(game: str, seats: int) -> Table:
    """The table when the game is over."""
    table = Table(game, seats)
    for _ in moments(table, seats):
        pass
    return table


def acquiring(table: Table) -> Table:
    """Seat 2 has chosen a card, and has put a cube on the first of those to its left."""
    row = table.see(VIEWER).merchants
    assert row is not None
    choice = table.seat(VIEWER).may("acquire_card")
    assert choice is not None
    table.stage(VIEWER, AcquireCard(choice.cards[min(2, len(choice.cards) - 1)]))
    put = table.seat(VIEWER).may("put_cube")
    assert put is not None
    table.stage(VIEWER, PutCube(put.colors[0], put.cards[0]))
    return table


def seen(table: Table, viewer: int = VIEWER) -> table_pb2.TableView:
    """What the seat sees, as the service tells it."""
    game, position = table.game, table.position(viewer)
    view = table_pb2.TableView(
        table_id="evening",
        game=game.name,
        revision=12,
        status=table_pb2.TABLE_STATUS_RUNNING if table.prompts else table_pb2.TABLE_STATUS_FINISHED,
        viewer=viewer,
        prompts=[actions_pb2.Prompt(**_plain(prompt)) for prompt in game.prompts(position)],
        choices=[convert.choice(choice) for choice in game.legal_actions(position, viewer)],
        game_view=views_pb2.GameView(**_plain(game.view(position, viewer))),
    )
    for seat in range(1, game.setting.seats + 1):
        view.seats.add(
            seat=seat,
            color=COLORS[seat - 1],
            name=NAMES[seat - 1],
            occupant=table_pb2.OCCUPANT_PERSON,
        )
    for seat, actions in table.staged.items():
        if actions:
            view.staged.add(seat=seat, texts=[_words(action) for action in actions])
    if table.outcome:
        view.outcome.CopyFrom(views_pb2.Outcome(**_plain(table.outcome)))
    return view


COLORS = ("red", "blue", "green", "yellow", "white")


def _words(action: Action) -> str:
    return written([action])


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields


def write() -> None:
    """Write the tables."""
    made = {
        "spice_turn": busiest("spice-road", 5),
        "spice_acquire": acquiring(busiest("spice-road", 3)),
        "spice_result": finished("spice-road", 5),
        "sea_turn": busiest("from-sand-to-sea", 4),
        "sea_acquire": acquiring(busiest("from-sand-to-sea", 2)),
        "sea_result": finished("from-sand-to-sea", 4),
    }
    for name, table in made.items():
        document = MessageToDict(seen(table), preserving_proto_field_name=True)
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (DRAWINGS / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write()
