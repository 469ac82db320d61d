"""Cubes for the cards to the left of the one that is acquired: asked for one by one.

Whoever has begun to acquire a card can do nothing else than pay for it, so the
question for the cube comes at once; `yyr` answers it for three cards from the left.
"""

from __future__ import annotations

from collections.abc import Sequence

from tableturn import notation
from tableturn.notation.fields import LETTERS
from tableturn.v1 import actions_pb2
from tableturn_client.play.answers import Draft, Faces

KIND = "put_cube"


def carried_on(offered: Sequence[actions_pb2.Choice], faces: Faces) -> Draft | None:
    """The payment that is due; None where something else can be done."""
    if len(offered) != 1 or offered[0].kind != KIND:
        return None
    return Draft(offered[0], faces=faces)


def several(draft: Draft, line: str) -> list[str]:
    """A cube for each of several cards from the left (`yyr`), as actions; empty for others."""
    letters = "".join(line.replace(",", " ").split()).upper()
    if draft.choice.kind != KIND or draft.fields or not 1 < len(letters) <= len(draft.choice.cards):
        return []
    if not set(letters) <= set(LETTERS):
        return []
    return [
        notation.format(KIND, {"cube": LETTERS.index(letter) + 1, "card": card})
        for letter, card in zip(letters, draft.choice.cards, strict=False)
    ]
