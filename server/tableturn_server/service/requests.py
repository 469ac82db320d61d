"""What requests have in common."""

from __future__ import annotations

from typing import Protocol

from tableturn_server.store import Request
from tableturn_server.tables.refusals import Reason, Refused

LONGEST_REQUEST_ID = 64


class Changing(Protocol):
    """A request that changes a table."""

    table_id: str
    request_id: str

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes:
        """The bytes of the message."""


def remembered(request: Changing, method: str, principal: str) -> Request | None:
    """Under which name a change is remembered, so that it is never carried out twice (S7, S8).

    `principal` is the token's SHA-256 in hexadecimal digits; without one nothing is ever
    accepted, so there is nothing to remember. Raises Refused for a bad request id.
    """
    request_id = request.request_id
    if not 1 <= len(request_id) <= LONGEST_REQUEST_ID or not request_id.isprintable():
        raise Refused(
            Reason.BAD_FIELD,
            f"a change needs a request_id of 1 to {LONGEST_REQUEST_ID} printable characters",
            field="request_id",
        )
    if not principal:
        return None
    # The id is in the body too: it is the same whenever two bodies are compared. The store keeps
    # a digest only.
    body = request.SerializeToString(deterministic=True)
    return Request(principal, request_id, method.encode() + b"\0" + body)


def page_size(wanted: int, usual: int, longest: int) -> int:
    """The size of a page that was asked for; 0 for the usual one."""
    return min(wanted or usual, longest)
