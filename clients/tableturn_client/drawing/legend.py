"""What the signs of the map and the rows mean."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client.drawing import bonus, cubes
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats


def draw(view: table_pb2.TableView, look: Look) -> Text:
    """The signs of what this table has."""
    game, signs, seats = view.game_view, look.signs, Seats.of(view)
    lines: list[Text] = []

    def line(sign: Text | str, meaning: str) -> None:
        drawn = Text("  ") + (Text(sign, "bold") if isinstance(sign, str) else sign)
        lines.append(drawn.append(" " * max(1, 13 - drawn.cell_len)).append(meaning))

    line(
        seats.chips(seat.seat for seat in view.seats),
        "the seats; everything of a seat has its number",
    )
    line(signs.turn, "the table waits for this seat")
    if game.HasField("islands"):
        line(cubes.colored("YRGB"), "cubes: yellow, red, green, brown, from low to high value")
        line(cubes.colored("YY>G"), "the trade of a market tile: two yellow for one green")
        line(
            Text(signs.outpost) + seats.chips([1, 2]),
            "outposts, in the order in which they were built",
        )
        line(Text(signs.boat, "bold") + seats.chips([1]), "a boat")
        line(Text("+") + cubes.colored("YR"), "cubes that were dropped on the tile")
        line(Text("C3", "bold reverse"), "the tile of your boat")
        line(Text("*C3", "bold underline"), "a tile that you may choose now")
    if game.HasField("harbour"):
        line(cubes.colored("RRG") + "=12", "a port: pay RRG for a victory point tile worth 12")
        line("CLOSED", "the Closed Port tile: nothing can be claimed here")
        line("? drawn", "the next tile is drawn when the turn is confirmed")
    if any(player.outposts for player in game.players):
        line(f"{signs.outpost}3 2 1 0", "outposts built in each row of the player's board")
        line("[2]", "an uncovered value; those still under an outpost are " + f"{signs.outpost}2")
    for tile in game.bonuses:
        word = bonus.word(tile.kind)
        if word in bonus.MEANINGS:
            line(word, f"bonus tile: {bonus.MEANINGS[word]}")
    return Text("\n").join(lines)
