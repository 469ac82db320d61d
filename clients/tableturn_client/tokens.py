"""Tokens and request ids, made by the client."""

from __future__ import annotations

import hashlib
import secrets

from tableturn_client.errors import BadValue
from tableturn_client.values import instance

SHORTEST, LONGEST = 16, 256


def new_token() -> str:
    """A token that nobody can guess: 192 random bits, in 32 URL-safe characters."""
    return secrets.token_urlsafe(24)


def token_sha256(token: str) -> bytes:
    """What the service is told of a token: SHA-256 of its bytes. Raises BadValue."""
    check_token(token)
    return hashlib.sha256(token.encode()).digest()


def check_token(token: str) -> None:
    """Raise BadValue for a text that no service takes as a token."""
    text = instance(token, str, "a token is a text")
    whole = text.isascii() and text.isprintable() and " " not in text
    if not whole or not SHORTEST <= len(token) <= LONGEST:
        raise BadValue(
            f"a token has {SHORTEST} to {LONGEST} letters, digits and signs, without blanks"
        )


def new_request_id() -> str:
    """An id for one call, kept when the call is repeated."""
    return secrets.token_urlsafe(12)
