"""Merchant cards of players: the own hand with what was played, and what is open of others."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import card_rows, merchants
from tableturn_client.drawing.look import Look


def has_cards(player: views_pb2.PlayerView) -> bool:
    """The player has merchant cards somewhere."""
    return bool(player.hand_size or player.played or player.discard_size)


def own(player: views_pb2.PlayerView, look: Look, chosen: Collection[str] = ()) -> Text:
    """The own cards: a line or more for the hand, the played cards and those put away."""
    faces = [merchants.face(card, chosen=card.card in chosen) for card in player.hand]
    parts = [
        card_rows.flow(_counted("hand", player.hand_size), _shown(faces, player.hand_size), look)
    ]
    for word, cards, size in (
        ("played", player.played, len(player.played)),
        ("away", player.discard, player.discard_size),
    ):
        if size:
            drawn = _shown([merchants.face(card) for card in cards], size)
            parts.append(card_rows.flow(_counted(word, size), drawn, look))
    return Text("\n").join(parts)


def _counted(word: str, size: int) -> str:
    """What the cards are, and how many: `hand 4`."""
    return f"{word} {size}" if size else word


def _shown(faces: list[Text], size: int) -> list[Text]:
    """The cards; a word where there are none, or where they are face down."""
    return faces or [Text("face down" if size else "empty", "dim")]


def sizes(player: views_pb2.PlayerView) -> Text:
    """How many cards are in the hand, were played and were put away: `hand 4+2+1`."""
    counts = [player.hand_size, len(player.played)]
    if player.discard_size:
        counts.append(player.discard_size)
    return Text("hand " + "+".join(map(str, counts)))


def open_cards(player: views_pb2.PlayerView, look: Look, *, shown: bool) -> list[Text]:
    """The played cards, and the hand where it lies open to all and is to be shown."""
    lines: list[Text] = []
    for word, cards in (("hand", player.hand if shown else ()), ("played", player.played)):
        if cards:
            faces = [merchants.face(card) for card in cards]
            lines += card_rows.flow(f"    {word}", faces, look).split("\n")
    return lines
