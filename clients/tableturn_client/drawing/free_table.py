"""The state of a free table: the order, who is on turn, who passed, who is ready, points."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import many

_PHASES = {
    views_pb2.FREE_TABLE_PHASE_ORDER: "the order of the round is being chosen",
    views_pb2.FREE_TABLE_PHASE_TURNS: "taking turns",
    views_pb2.FREE_TABLE_PHASE_TOGETHER: "all act at the same time",
    views_pb2.FREE_TABLE_PHASE_BETWEEN: "between rounds",
}


def phase(free: views_pb2.FreeTableView) -> str:
    """Where the round stands, in words."""
    return _PHASES.get(free.phase, "")


def draw(view: table_pb2.TableView, look: Look) -> Text:
    """A line for each seat, in the order of the round."""
    game, free, seats = view.game_view, view.game_view.free_table, Seats.of(view)
    lines = []
    if phase(free) and view.status == table_pb2.TABLE_STATUS_RUNNING:
        lines.append(Text(phase(free).capitalize(), "italic"))
    if free.named:
        lines.append(Text("order so far: ") + seats.listed(free.named, f" {look.signs.arrow} "))
    asked = {prompt.seat for prompt in view.prompts}
    players = {player.seat: player for player in game.players}
    for seat in _in_order(view):
        player = players.get(seat, views_pb2.PlayerView(seat=seat))
        on_turn = seat in asked
        line = Text().append(f" {look.signs.turn} " if on_turn else "   ", "bold green")
        line.append_text(seats.label(seat, 20))
        line.append(" " * max(1, 24 - line.cell_len))
        line.append(f"{seats.color(seat):<8}")
        if player.HasField("points"):
            line.append(f"{many(player.points, 'point'):>12}  ", "bold")
        line.append_text(_state(view, seat, player, on_turn))
        lines.append(line)
    for line in lines:
        line.truncate(look.width)
    return Text("\n").join(lines)


def _in_order(view: table_pb2.TableView) -> list[int]:
    """All seats, those with a place in the order of the round first."""
    order = list(dict.fromkeys(view.game_view.turn_order))
    return order + [seat.seat for seat in view.seats if seat.seat not in order]


def _state(
    view: table_pb2.TableView, seat: int, player: views_pb2.PlayerView, on_turn: bool
) -> Text:
    """What there is to say of a seat."""
    free = view.game_view.free_table
    if player.dropped:
        return Text("left the game", "dim")
    if free.phase == views_pb2.FREE_TABLE_PHASE_TOGETHER:
        return Text("ready", "green") if seat in free.ready else Text("not ready yet", "bold")
    if seat in free.passed and free.phase == views_pb2.FREE_TABLE_PHASE_TURNS:
        return Text("on turn, passes", "bold green") if on_turn else Text("passed", "dim")
    if not on_turn:
        return Text("")
    if free.phase == views_pb2.FREE_TABLE_PHASE_ORDER:
        return Text("chooses the order", "bold")
    if free.phase == views_pb2.FREE_TABLE_PHASE_BETWEEN:
        return Text("may begin the next round")
    return Text("on turn", "bold green")
