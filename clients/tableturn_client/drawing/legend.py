"""What the signs of the map and the rows mean."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing import bonus, card_rows, cubes, point_cards
from tableturn_client.drawing.islands import SEA
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import many


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
    if game.HasField("islands") or game.HasField("merchants"):
        line(cubes.colored("YRGB"), "cubes: yellow, red, green, brown, from low to high value")
    if game.HasField("islands"):
        line(cubes.colored("YY>G"), "the trade of a market tile: two yellow for one green")
        line(
            Text(signs.outpost) + seats.chips([1, 2]),
            "outposts, in the order in which they were built",
        )
        line(Text(signs.boat, "bold") + seats.chips([1]), "a boat")
        line(Text("+") + cubes.colored("YR"), "cubes that were dropped on the tile")
        line(Text("C3", "bold reverse"), "the tile of your boat")
        line(Text("*C3", "bold underline"), "a tile that you may choose now")
        if any(tile.kind == views_pb2.TILE_KIND_SEA for tile in game.islands.tiles):
            line(Text("~ ~ ~", SEA), "open sea: boats sail there, but nothing can be done")
    if game.HasField("harbour"):
        line(cubes.colored("RRG") + "=12", "a port: pay RRG for a victory point tile worth 12")
        line("CLOSED", "the Closed Port tile: nothing can be claimed here")
        line("? drawn", "the next tile is drawn when the turn is confirmed")
    if game.HasField("merchants"):
        for sign, meaning in _merchant_cards(game):
            line(sign, meaning)
    if game.HasField("point_cards"):
        line(cubes.colored("RRG") + "=12", "a point card: pay RRG for 12 points")
        for pile in game.point_cards.coins:
            comes = f"coins left, worth {many(pile.points, 'point')}; one comes with the card"
            line(point_cards.coins(pile, look), comes)
    if any(player.outposts for player in game.players):
        line(f"{signs.outpost}3 2 1 0", "outposts built in each row of the player's board")
        line("[2]", "an uncovered value; those still under an outpost are " + f"{signs.outpost}2")
    for tile in game.bonuses:
        word = bonus.word(tile.kind)
        if word in bonus.MEANINGS:
            line(word, f"bonus tile: {bonus.MEANINGS[word]}")
    return Text("\n").join(lines)


def _merchant_cards(game: views_pb2.GameView) -> list[tuple[Text, str]]:
    """The signs of merchant cards."""
    sails = game.HasField("islands")
    return [
        (Text("+") + cubes.colored("YYR"), "a merchant card that gives these cubes"),
        (Text("up 2"), "a merchant card for two upgrades of a cube, each to the next colour"),
        (cubes.colored("YYY>B"), "a merchant card: three yellow for a brown, as often as you like"),
        (Text("pay 2"), "to acquire it, put a cube on each of the two cards to its left"),
        (Text("cubes on"), "the cubes that lie on a card of the row, and come with it"),
        (card_rows.name("M12", taken=True), "the card that is being acquired"),
        (card_rows.name("M12", chosen=True), "a card that you may choose now"),
        (Text("? dealt"), "the next card is dealt when the turn is confirmed"),
        (
            Text("hand 4+2+1" if sails else "hand 4+2"),
            "cards in the hand, played, and put away for steps"
            if sails
            else "cards in the hand, and played",
        ),
    ]
