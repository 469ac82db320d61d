"""Players: each in a compact row, and one board in full."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing import bonus, cubes, hand, harbour, outposts, point_cards
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, many

_NAME = 12
_INDENT = 4


def rows(view: table_pb2.TableView, look: Look) -> Text:
    """A row for each player, in seat order: boat, hold, outposts, cards, tiles."""
    return Text("\n").join(row(view, player, look) for player in view.game_view.players)


def rows_with_cards(view: table_pb2.TableView, look: Look, own: int) -> Text:
    """A row for each player, and below it the cards that lie open, except for the `own` seat."""
    lines = []
    for player in view.game_view.players:
        lines.append(row(view, player, look))
        lines += open_cards(view, player, look, own)
    return Text("\n").join(lines)


def open_cards(
    view: table_pb2.TableView, player: views_pb2.PlayerView, look: Look, own: int
) -> list[Text]:
    """The cards of a player that lie open, on lines of their own; none for the `own` seat.

    Nor are there any when the game is over: they count no longer.
    """
    running = view.status == table_pb2.TABLE_STATUS_RUNNING
    if not running or player.dropped or player.seat == own:
        return []
    return hand.open_cards(player, look, shown=player.seat != view.viewer)


def row(view: table_pb2.TableView, player: views_pb2.PlayerView, look: Look) -> Text:
    """One player on a line; what doesn't fit at the end of it is left out."""
    line = head(view, player, look)
    line.append(" " * max(1, _NAME + 6 - line.cell_len))
    if player.dropped:
        line.append("left the game", "dim")
        return line
    sails = view.game_view.HasField("islands") or bool(player.boat)
    parts = [_boat(player, look)] if sails else []
    if player.HasField("hold") or player.limit:
        parts.append(_padded(cubes.hold(player.hold, player.limit, look), 16))
    if player.outposts:
        parts.append(outposts.short(player.outposts, look))
    if hand.has_cards(player):
        parts.append(_padded(hand.sizes(player), 9))
    if player.claimed:
        noun = "point card" if view.game_view.HasField("point_cards") else "tile"
        parts.append(Text(many(player.claimed, noun), "bold"))
    if player.gold or player.silver:
        parts.append(Text(point_cards.owned(player)))
    if player.bonuses:
        parts.append(bonus.owned(player.bonuses, look))
    for number, part in enumerate(parts):
        if not number or line.cell_len + 2 + len(part.plain.rstrip()) <= look.width:
            line.append("  " if number else "").append_text(part)
    line.truncate(look.width)
    return line


def head(view: table_pb2.TableView, player: views_pb2.PlayerView, look: Look) -> Text:
    """The player's name, with a sign if the table waits for them."""
    asked = any(prompt.seat == player.seat for prompt in view.prompts)
    sign = f"{look.signs.turn} " if asked else "  "
    return Text.assemble((sign, "bold green"), Seats.of(view).label(player.seat, _NAME))


def _padded(text: Text, columns: int) -> Text:
    """The text with blanks behind it."""
    text.append(" " * max(0, columns - text.cell_len))
    return text


def _boat(player: views_pb2.PlayerView, look: Look) -> Text:
    """Where the boat is."""
    place = clean(player.boat, 4) or look.signs.dash
    return Text(f"{look.signs.boat}{place:<3}")


def board(view: table_pb2.TableView, player: views_pb2.PlayerView, look: Look) -> Text:
    """Everything that a player owns, on several lines."""
    lines = [Text.assemble(head(view, player, look), f" {Seats.of(view).color(player.seat)}")]
    if player.dropped:
        lines.append(Text("left the game", "dim"))
    if player.boat:
        lines.append(Text(f"boat at {clean(player.boat, 4)}"))
    if player.HasField("hold") or player.limit:
        lines.append(Text("hold  ") + cubes.hold(player.hold, player.limit, look))
    if player.outposts:
        lines += outposts.board(player.outposts, look).split("\n")
    if player.outposts or player.bonuses:
        lines.append(Text("bonus ") + (bonus.owned(player.bonuses, look) or Text("none", "dim")))
    if hand.has_cards(player):
        lines += hand.own(player, replace(look, width=look.width - _INDENT)).split("\n")
    if view.game_view.HasField("point_cards"):
        lines += _claimed_cards(player, replace(look, width=look.width - _INDENT))
    elif player.outposts or player.claimed:
        lines += _claimed(player, look)
    if player.HasField("points"):
        lines.append(Text(many(player.points, "point"), "bold"))
    indented = [
        line if number == 0 else Text(" " * _INDENT) + line for number, line in enumerate(lines)
    ]
    for line in indented:
        line.truncate(look.width)
    return Text("\n").join(indented)


def card(player: views_pb2.PlayerView, look: Look) -> list[Text]:
    """A player in up to three short lines, for a narrow column."""
    if player.dropped:
        return [Text("  left the game", "dim")]
    first = Text("  ") + _boat(player, look) + " "
    if player.HasField("hold") or player.limit:
        first.append_text(cubes.hold(player.hold, player.limit, look))
    second = Text("  ")
    if player.outposts:
        second.append_text(outposts.short(player.outposts, look))
    if player.claimed:
        second.append("  ").append(many(player.claimed, "tile"), "bold")
    if player.bonuses:
        second.append("  ").append_text(bonus.owned(player.bonuses, look))
    third = Text("  ")
    if hand.has_cards(player):
        third.append_text(hand.sizes(player))
    return [first, *(line for line in (second, third) if line.plain.strip())]


def _claimed_cards(player: views_pb2.PlayerView, look: Look) -> list[Text]:
    """The point cards, face up where this viewer may see them, and the coins."""
    lines = [Text(f"point cards: {player.claimed}")]
    if player.claimed_cards:
        points = sum(card.points for card in player.claimed_cards)
        lines[0].append(f" ({many(points, 'point')})")
        lines += point_cards.claimed(player.claimed_cards, look).split("\n")
    return [*lines, Text(f"coins: {point_cards.owned(player) or 'none'}")]


def _claimed(player: views_pb2.PlayerView, look: Look) -> list[Text]:
    """The victory point tiles: face up where this viewer may see them."""
    lines = [Text(f"victory point tiles: {player.claimed}")]
    if player.claimed_tiles:
        points = sum(tile.points for tile in player.claimed_tiles)
        lines[0].append(f" ({many(points, 'point')})")
    row = Text()
    for tile in player.claimed_tiles:
        face = harbour.victory_tile(tile)
        if row.plain and row.cell_len + face.cell_len + 8 > look.width:
            lines.append(row)
            row = Text()
        row.append("  ").append_text(face)
    return [*lines, row] if row.plain else lines
