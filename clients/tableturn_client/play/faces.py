"""What is on the cards that a seat sees, for questions and answers that name them."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import merchants, point_cards


def faces(view: views_pb2.GameView) -> dict[str, Text]:
    """What each card in sight does or costs, by its name."""
    found = {card.card: merchants.effect(card) for card in view.merchants.row}
    for player in view.players:
        for pile in (player.hand, player.played, player.discard):
            found.update((card.card, merchants.effect(card)) for card in pile)
    found.update((card.card, point_cards.face(card)) for card in view.point_cards.row)
    return found
