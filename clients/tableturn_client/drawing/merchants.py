"""Merchant cards: what each does, and the row from which they are acquired.

A card gives cubes (`+YYR`), allows upgrades (`up 2`), or exchanges (`YYY>B`).
"""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import card_rows, cubes
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.words import clean


def effect(card: views_pb2.CardView) -> Text:
    """What a card does; a question mark for what this version doesn't know."""
    if card.kind == views_pb2.CARD_KIND_SPICE:
        return Text("+") + cubes.bundle(card.gain)
    if card.kind == views_pb2.CARD_KIND_UPGRADE:
        return Text(f"up {card.upgrades}")
    if card.kind == views_pb2.CARD_KIND_TRADE:
        return cubes.trade(card.cost, card.gain)
    return Text("?")


def card_name(card: views_pb2.CardView | views_pb2.PointCardView) -> str:
    """A card's name, safe to write."""
    return clean(card.card, 6) or "?"


def face(card: views_pb2.CardView, *, chosen: bool = False) -> Text:
    """A card on a line: `M12 YYY>B`."""
    return Text(" ").join((card_rows.name(card_name(card), chosen=chosen), effect(card)))


def price(place: int) -> str:
    """What the card at a place of the row costs: a cube for each card to its left."""
    return f"pay {place}" if place else "free"


def row(merchants: views_pb2.MerchantsView, look: Look, chosen: Collection[str] = ()) -> Text:
    """The row: names and prices, what the cards do, and the cubes that lie on them."""
    cards: list[tuple[Text, ...]] = []
    for place, card in enumerate(merchants.row):
        name = card_rows.name(
            card_name(card), chosen=card.card in chosen, taken=card.card == merchants.wanted != ""
        )
        lying = cubes.bundle(card.cubes, few=4)
        if lying.plain:
            lying = Text("+") + lying
        cards.append((Text.assemble(name, f" {price(place)}"), effect(card), lying))
    cards += [card_rows.TO_BE_DEALT] * merchants.to_be_dealt
    cards = cards or [(Text("none left", "dim"),)]
    labels = [Text("merchants"), Text(f" deck {merchants.deck}", "dim"), Text(" cubes on", "dim")]
    return card_rows.row(labels, cards, look)
