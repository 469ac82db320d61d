"""A whole table on a screen, composed of the drawings of its mechanics.

What is drawn follows from which fields the view has, so a game of its own needs
nothing here, and a mechanic that this version doesn't know is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing import (
    bonus,
    free_table,
    harbour,
    islands,
    lobby,
    piles,
    players,
    status,
)
from tableturn_client.drawing.islands import Islands, Marks
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats

_BESIDE = 31
"""Columns for the players beside a map."""
_GAP = 2
_BOARD = 38
"""Columns of a board with everything that belongs to a player."""


@dataclass(frozen=True)
class Eyes:
    """Whose table is drawn: the seats held here, and the one that plays now."""

    own: Collection[int] = ()
    seat: int = 0


def draw(view: table_pb2.TableView, look: Look, eyes: Eyes = Eyes(), lines: int = 0) -> Text:
    """The table: status, map or order, supplies, players, what is staged.

    `lines` bounds the height (0: any): then the map is as large as fits, and
    where even the smallest is too high, supplies are left out first.
    """
    top = [status.turn(view, look, eyes.own)]
    extra = [text for text in (status.notes(view, look), status.staged(view, look)) if text]
    if view.status == table_pb2.TABLE_STATUS_OPEN:
        middle = lobby.draw(view, look, eyes.own)
    elif not view.HasField("game_view"):
        middle = Text()
    elif view.game_view.HasField("islands"):
        room = max(1, lines - sum(_heights(*top, *extra)) - 1) if lines else 0
        middle = _with_map(view, look, eyes, room)
    else:
        middle = _without_map(view, look)
    top.insert(0, status.head(view, look))
    return Text("\n").join(part for part in [*top, middle, *extra] if part.plain)


def _without_map(view: table_pb2.TableView, look: Look) -> Text:
    """A game that has no map, or a mechanic that this version can't draw."""
    game = view.game_view
    if game.HasField("free_table"):
        return free_table.draw(view, look)
    known = [supplies(game, look), players.rows(view, look)]
    unknown = Text("This version can't draw this game; the log tells what happens.", "yellow")
    return Text("\n").join([unknown, *(part for part in known if part.plain)])


def _with_map(view: table_pb2.TableView, look: Look, eyes: Eyes, lines: int) -> Text:
    """A map with supplies and players below, or beside it where there is room."""
    game = view.game_view
    drawn = Islands(game.islands, game.harbour, Seats.of(view), marks(view, eyes))
    if look.wide:
        beside = _side(view, replace(look, width=_BESIDE))
        room = replace(look, width=look.width - _BESIDE - _GAP)
        chart = islands.draw(drawn, room, lines)
        if _height(beside) <= _height(chart) + 2 and max(_heights(beside, chart)) <= (lines or 99):
            return _side_by_side(chart, beside)
    rows = players.rows(view, look)
    supply = supplies(game, look)
    chart = islands.draw(drawn, look, max(1, lines - sum(_heights(rows, supply))) if lines else 0)
    parts = [chart, supply, rows]
    if lines and sum(_heights(*parts)) > lines:
        parts.remove(supply)
    return Text("\n").join(part for part in parts if part.plain)


def marks(view: table_pb2.TableView, eyes: Eyes) -> Marks:
    """The boat of the seat that plays now, and the tiles that it may choose from."""
    here = next((p.boat for p in view.game_view.players if p.seat == eyes.seat), "")
    if not eyes.seat or view.viewer != eyes.seat:
        return Marks(here)
    return Marks(here, frozenset(tile for choice in view.choices for tile in choice.tiles))


def supplies(game: views_pb2.GameView, look: Look) -> Text:
    """What lies beside the map: bonus tiles, the pile, starting cubes."""
    parts = []
    if game.piles:
        parts.append(Text("starting cubes ") + piles.piles(game.piles))
    if game.bonuses:
        parts.append(Text("bonus ") + bonus.supply(game.bonuses, look))
    if game.HasField("harbour"):
        parts.append(harbour.pile(game.harbour))
    lines: list[Text] = []
    for part in parts:
        if lines and lines[-1].cell_len + part.cell_len + 3 <= look.width:
            lines[-1].append("   ").append_text(part)
        else:
            part.truncate(look.width)
            lines.append(part)
    return Text("\n").join(lines)


def _side(view: table_pb2.TableView, look: Look) -> Text:
    """Players and supplies in a narrow column."""
    blocks = [_card(view, player, look) for player in view.game_view.players]
    game = view.game_view
    if game.piles:
        blocks.append(Text("starting cubes\n  ") + piles.piles(game.piles))
    below = []
    if game.bonuses:
        below += [Text("bonus tiles left", "underline")]
        below += [Text("  ") + bonus.supply([tile], look) for tile in game.bonuses]
    if game.HasField("harbour"):
        below.append(harbour.pile(game.harbour))
    if below:
        blocks.append(Text("\n").join(below))
    return Text("\n\n").join(blocks)


def _card(view: table_pb2.TableView, player: views_pb2.PlayerView, look: Look) -> Text:
    """A player in a narrow column: three lines."""
    lines = [Text.assemble(players.head(view, player, look))]
    lines[0].append(f" {Seats.of(view).color(player.seat)}", "dim")
    lines += players.card(player, look)
    for line in lines:
        line.truncate(look.width)
    return Text("\n").join(lines)


def _side_by_side(left: Text, right: Text, width: int = 0) -> Text:
    """Two drawings beside each other."""
    lines, beside = list(left.split("\n")), list(right.split("\n"))
    width = max([line.cell_len for line in lines] + [width]) + _GAP
    rows = []
    for number in range(max(len(lines), len(beside))):
        row = lines[number] if number < len(lines) else Text()
        if number < len(beside):
            row = row + " " * (width - row.cell_len) + beside[number]
        rows.append(row)
    return Text("\n").join(rows)


def boards(view: table_pb2.TableView, look: Look, first: int = 0) -> Text:
    """All players' boards in full, that of one seat first; two beside each other if they fit."""
    owners = sorted(view.game_view.players, key=lambda player: player.seat != first)
    columns = 2 if look.width >= 2 * _BOARD and len(owners) > 1 else 1
    half = replace(look, width=look.width // columns - (_GAP if columns > 1 else 0))
    drawn = [players.board(view, player, half) for player in owners]
    if columns > 1:
        drawn = [
            _side_by_side(drawn[n], drawn[n + 1] if n + 1 < len(drawn) else Text(), half.width)
            for n in range(0, len(drawn), 2)
        ]
    supply = supplies(view.game_view, look)
    return Text("\n\n").join([*drawn, supply] if supply.plain else drawn)


def _height(text: Text) -> int:
    """How many lines a drawing has."""
    return text.plain.count("\n") + 1 if text.plain else 0


def _heights(*texts: Text) -> list[int]:
    """How many lines each drawing has."""
    return [_height(text) for text in texts]
