"""Pages and notices of a session: help, boards, map, the lobby's hints, the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.address import DEFAULT_SERVER
from tableturn_client.clock_text import new_options
from tableturn_client.drawing import boards, clocks, lobby, results, status, table
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, folded
from tableturn_client.play.scene import Scene
from tableturn_client.play.words import help_page


def page(word: str, scene: Scene, look: Look) -> Text:
    """The page for a command."""
    if word == "help":
        return help_page(scene.view, look)
    first = scene.active or (scene.own[0] if scene.own else 0)
    if word == "boards" and scene.view.HasField("game_view"):
        return boards(scene.view, look, first)
    return table.draw(scene.view, replace(look, height=999), table.Eyes(scene.own, first))


def at_server(server: str) -> str:
    """The option for a server that is not the usual one."""
    return "" if server in ("", DEFAULT_SERVER) else f" --server {server}"


def hints(
    view: table_pb2.TableView, own: Sequence[int], host: bool, server: str, code: str = ""
) -> tuple[str, ...]:
    """What can be done while no own seat is asked; `code` is the table's, where it is known."""
    name = clean(view.table_id, 40)
    if view.status == table_pb2.TABLE_STATUS_OPEN:
        free = any(seat.occupant == table_pb2.OCCUPANT_NOBODY for seat in view.seats)
        if free:
            by = [] if view.private else [name]
            by += [code] if code else []
            return tuple(
                f"{'or' if number else 'Others join with:'} "
                f"tableturn play {one}{at_server(server)} --name NAME"
                for number, one in enumerate(by)
            )
        return ("All are here: type start",) if host else ("Waiting for the host to start.",)
    if view.paused:
        return ("Paused: resume lets the game go on",) if own else ()
    return tuple(
        f"{clean(seat.stand_in, 16)} plays for {Seats.of(view).plain(seat.seat)}: "
        "type back to play on"
        for seat in view.seats
        if seat.stand_in and seat.seat in own
    )


def farewell(view: table_pb2.TableView | None, own: Sequence[int], server: str) -> Text:
    """How to come back."""
    if view is None or not own:
        return Text("Bye.")
    seats = Seats.of(view)
    who = ", ".join(seats.plain(seat) for seat in own)
    back = f"tableturn play {clean(view.table_id, 40)}{at_server(server)}"
    if risk := clocks.leaving(view):
        return Text(f"{who}: be back {risk}.\nCome back with: {back}")
    stays = "Your seat stays yours" if len(own) == 1 else "Your seats stay yours"
    return Text(f"{stays}: {who}.\nCome back with: {back}")


def result(view: table_pb2.TableView, look: Look, *, head: bool = True) -> RenderableType:
    """The result table, with how far it can be trusted."""
    told = [Text(folded(line, look.width - 1), "dim") for line in status.small_print(view)]
    return Group(results.table(view, look, head=head), *told)


def next_table(view: table_pb2.TableView, server: str, *, seated: bool = False) -> Text:
    """How to go on: for whoever sat there with the same people, else at another table."""
    name, there = clean(view.game, 40), at_server(server)
    options = "".join(f" {option}" for option in new_options(view))
    lines = [f"Another game: tableturn new {name} --seats {len(view.seats)}{options}{there}"]
    if seated:
        again = f"tableturn rematch {clean(view.table_id, 40)}{there}"
        lines.insert(0, f"Rematch with the same people: {again}")
    return Text("\n".join(lines))


def opening(view: table_pb2.TableView, look: Look) -> Text:
    """What a table is about, for who comes to it."""
    return Text(f"{status.head(view, look).plain}  ({lobby.options(view)})")
