"""A whole table on a screen, composed of the drawings of its mechanics.

What is drawn follows from which fields the view has, so a game of its own needs
nothing here, and a mechanic that this version doesn't know is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing import (
    bonus,
    clocks,
    free_table,
    hand,
    harbour,
    islands,
    lobby,
    merchants,
    people,
    piles,
    players,
    point_cards,
    status,
)
from tableturn_client.drawing.islands import Islands, Marks
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.moment import AS_SEEN, Moment
from tableturn_client.drawing.seats import Seats

_UNKNOWN = "This version can't draw this game; the log tells what happens."
_BESIDE = 31
"""Columns for the players beside a map."""
_HIGHER = 12
"""How much higher than a map players with open cards beside it may be."""
_GAP = 2
_BOARD = 38
"""Columns of a board with everything that belongs to a player."""


@dataclass(frozen=True)
class Eyes:
    """Whose table is drawn: the seats held here, and the one that plays now.

    `moment` is what is known beside the view; with `clocks_apart`, what changes by itself as
    time goes on is drawn elsewhere.
    """

    own: Collection[int] = ()
    seat: int = 0
    moment: Moment = AS_SEEN
    clocks_apart: bool = False


def draw(view: table_pb2.TableView, look: Look, eyes: Eyes = Eyes(), lines: int = 0) -> Text:
    """The table: status, map or order, supplies, players, what is staged.

    `lines` bounds the height (0: any): then the map is as large as fits, and
    where even the smallest is too high, something is left out.
    """
    apart, moment = eyes.clocks_apart, eyes.moment
    top = [status.turn(view, look, eyes.own, "" if apart else clocks.standing(view, moment))]
    if not apart and (told := people.lines(view, look, moment)).plain:
        top.append(told)
    extra = [text for text in (status.notes(view, look), status.staged(view, look)) if text]
    if view.status == table_pb2.TABLE_STATUS_OPEN:
        middle = lobby.draw(view, look, eyes.own)
    elif not view.HasField("game_view"):
        middle = Text()
    elif view.game_view.HasField("free_table"):
        middle = free_table.draw(view, look)
    else:
        room = max(1, lines - sum(_heights(*top, *extra)) - 1) if lines else 0
        middle = _game(view, look, eyes, room)
    top.insert(0, status.head(view, look))
    return _below(*top, middle, *extra)


def _game(view: table_pb2.TableView, look: Look, eyes: Eyes, lines: int) -> Text:
    """The fullest drawing that fits so many lines (0: any); if none does, the shortest."""
    drawn = Text()
    for drawn in _drawings(view, look, eyes, lines):
        if not lines or _height(drawn) <= lines:
            break
    return drawn


def _drawings(view: table_pb2.TableView, look: Look, eyes: Eyes, lines: int) -> Iterator[Text]:
    """Drawings of a game, from the fullest to the shortest.

    Left out are first the cards that others have played, then supplies, then the
    map bit by bit; never the rows of cards and the own hand.
    """
    game = view.game_view
    cards, own = _rows_of_cards(view, look), _own_cards(view, look, eyes)
    rows, supply = players.rows(view, look), supplies(game, look)
    open_cards = players.rows_with_cards(view, look, _own(view, eyes))
    own_row = _below(*(players.row(view, player, look) for player in _owner(view, eyes)))
    if not game.HasField("islands"):
        note = Text() if status.is_known(game) else Text(_UNKNOWN, "yellow")
        yield _below(note, cards, supply, open_cards, own)
        yield _below(note, cards, supply, rows, own)
        for short in (rows, own_row, Text()):
            yield _below(note, cards, short, own)
        return
    drawn = Islands(game.islands, game.harbour, Seats.of(view), marks(view, eyes))
    if look.wide:
        room = max(1, lines - sum(_heights(cards, own))) if lines else 0
        for full in (eyes, None) if cards.plain else (None,):
            beside = _beside(view, drawn, look, room, full)
            if beside:
                yield _below(cards, beside, own)

    def mapped(*parts: Text) -> Text:
        others = sum(_heights(cards, own, *parts))
        chart = islands.draw(drawn, look, max(1, lines - others) if lines else 0)
        return _below(cards, chart, *parts, own)

    if cards.plain:
        yield mapped(supply, open_cards)
    yield mapped(supply, rows)
    yield mapped(rows)
    if not cards.plain:
        yield mapped(own_row)
    else:
        yield _below(cards, islands.as_list(drawn, look), rows, own)
        close = islands.near(drawn, look)
        for short in (_below(close, rows), _below(close, own_row), own_row, Text()):
            yield _below(cards, short, own)


def _beside(
    view: table_pb2.TableView, drawn: Islands, look: Look, lines: int, eyes: Eyes | None
) -> Text | None:
    """The map with players and supplies beside it; None where there is no room.

    With `eyes`, the cards of players that lie open stand there too.
    """
    beside = _side(view, replace(look, width=_BESIDE), eyes)
    chart = islands.draw(drawn, replace(look, width=look.width - _BESIDE - _GAP), lines)
    higher = _height(beside) - _height(chart)
    if higher > (_HIGHER if eyes else 2) or max(_heights(beside, chart)) > (lines or 99):
        return None
    return _side_by_side(chart, beside)


def _rows_of_cards(view: table_pb2.TableView, look: Look) -> Text:
    """The cards on the table."""
    game, chosen = view.game_view, _cards_to_choose(view)
    parts = []
    if game.HasField("point_cards"):
        parts.append(point_cards.row(game.point_cards, look, chosen))
    if game.HasField("merchants"):
        parts.append(merchants.row(game.merchants, look, chosen))
    return _below(*parts)


def _own(view: table_pb2.TableView, eyes: Eyes) -> int:
    """The seat whose cards are drawn as one's own.

    0 where several people share a screen and none of them is asked: hands are hidden.
    """
    alone = eyes.seat == view.viewer or (not eyes.seat and len(eyes.own) < 2)
    return view.viewer if alone else 0


def _owner(view: table_pb2.TableView, eyes: Eyes) -> list[views_pb2.PlayerView]:
    """That seat, as a player; none for a spectator."""
    own = _own(view, eyes)
    return [player for player in view.game_view.players if player.seat == own]


def _own_cards(view: table_pb2.TableView, look: Look, eyes: Eyes) -> Text:
    """The hand of whoever looks, as long as the game runs."""
    if view.status != table_pb2.TABLE_STATUS_RUNNING or not view.game_view.HasField("merchants"):
        return Text()
    chosen = _cards_to_choose(view)
    return _below(*(hand.own(player, look, chosen) for player in _owner(view, eyes)))


def _cards_to_choose(view: table_pb2.TableView) -> frozenset[str]:
    """The cards that may be chosen for themselves; any card may pay for a step."""
    return frozenset(card for choice in view.choices if not choice.tiles for card in choice.cards)


def _below(*parts: Text) -> Text:
    """Drawings below each other; empty ones are left out."""
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


def _side(view: table_pb2.TableView, look: Look, eyes: Eyes | None) -> Text:
    """Players and supplies in a narrow column; with `eyes`, open cards too."""
    blocks = []
    for player in view.game_view.players:
        lines = [_card(view, player, look)]
        if eyes:
            lines += players.open_cards(view, player, look, _own(view, eyes))
        blocks.append(_below(*lines))
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
