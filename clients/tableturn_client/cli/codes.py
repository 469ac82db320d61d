"""What somebody means who types a table: its id, or a code for joining it or for a seat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.company import CodeFor
from tableturn_client.drawing.words import clean
from tableturn_client.errors import Refusal, Refused, UnknownCode, UnknownTable

_LETTERS = "[2-9A-HJKMNP-TV-Z]"
_CODE = re.compile(f"{_LETTERS}{{4}}[- ]?{_LETTERS}{{4}}", re.IGNORECASE)


_LIKE_ONE = re.compile(r"[0-9A-Z]{3,5}[- ]?[0-9A-Z]{3,5}", re.IGNORECASE)
"""What somebody types who has heard a code wrong. No table's id has capitals."""


@dataclass(frozen=True)
class Meant:
    """A table; the code by which it was named, and the seat that the code moves (0: none)."""

    table_id: str
    code: str = ""
    seat: int = 0


async def meant(session: Session, client: Client, text: str) -> Meant:
    """The table that a text names: by its id, or by a code. Raises UnknownCode.

    An id has no capitals, so a text with one is a code at once. In small letters it is a code
    only if no table is called so: every code that is tried in vain is counted.
    """
    if text in session.credentials.tables(session.server):
        return Meant(text)
    if not _CODE.fullmatch(text):
        if text != text.lower() and _LIKE_ONE.fullmatch(text):
            raise _no_code(text)
        return Meant(text)
    if text == text.lower():
        try:
            await client.table(text).view()
        except UnknownTable:
            pass
        except Refused:
            return Meant(text)
        else:
            return Meant(text)
    code = await client.resolve_code(text)
    return Meant(code.table_id, text, code.seat if code.meaning is CodeFor.MOVING else 0)


def _no_code(text: str) -> UnknownCode:
    """A text that is meant for a code, and is none: no service needs to be asked."""
    sentence = (
        f"there is no code {clean(text)}: a code has 8 letters and digits, such as K7QM-4XRD, "
        "and none of 0 O 1 I L U"
    )
    return UnknownCode(Refusal("UNKNOWN_CODE", sentence))
