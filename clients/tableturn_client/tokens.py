"""Tokens and request ids, made by the client."""

from __future__ import annotations

import hashlib
import secrets


def new_token() -> str:
    """A token that nobody can guess: 192 random bits, in 32 URL-safe characters."""
    return secrets.token_urlsafe(24)


def token_sha256(token: str) -> bytes:
    """What the service is told of a token: SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(token.encode()).digest()


def new_request_id() -> str:
    """An id for one call, kept when the call is repeated."""
    return secrets.token_urlsafe(12)
