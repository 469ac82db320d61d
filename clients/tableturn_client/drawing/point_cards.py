"""Point cards: the row from which they are claimed, and those that were."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import card_rows, cubes
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.merchants import card_name

_COINS = {views_pb2.COIN_KIND_GOLD: "gold", views_pb2.COIN_KIND_SILVER: "silver"}


def face(card: views_pb2.PointCardView) -> Text:
    """What a card costs, and its points behind an equals sign: `RRGG=12`."""
    return cubes.bundle(card.cost).append(f"={card.points}", "bold")


def coins(pile: views_pb2.CoinPileView, look: Look) -> Text:
    """A pile of coins: `gold×5`."""
    kind = _COINS.get(pile.kind, f"coin {pile.kind}")
    return Text(f"{kind}{look.signs.times}{pile.left}", "" if pile.left else "dim")


def row(points: views_pb2.PointCardsView, look: Look, chosen: Collection[str] = ()) -> Text:
    """The row: names with the coins above them, costs and points."""
    above = {pile.place: coins(pile, look) for pile in points.coins}
    cards = [
        (card_rows.name(card_name(card), chosen=card.card in chosen), face(card))
        for card in points.row
    ]
    cards += [card_rows.TO_BE_DEALT] * points.to_be_dealt
    with_coins: list[tuple[Text, ...]] = [
        (Text(" ").join((name, above[place])) if place in above else name, printed)
        for place, (name, printed) in enumerate(cards, 1)
    ]
    with_coins = with_coins or [(Text("none left", "dim"),)]
    labels = [Text("points"), Text(f" deck {points.deck}", "dim")]
    return card_rows.row(labels, with_coins, look)


def owned(player: views_pb2.PlayerView) -> str:
    """The coins of a player: `gold 2 silver 1`; empty for none."""
    held = {"gold": player.gold, "silver": player.silver}
    return " ".join(f"{kind} {count}" for kind, count in held.items() if count)


def claimed(cards: Iterable[views_pb2.PointCardView], look: Look) -> Text:
    """The cards of a player that this viewer may see."""
    return card_rows.flow("  ", [face(card) for card in cards], look)
