"""Calls of `tableturn.v1` with the raw stubs: connections, tokens, and how the service says no."""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from tableturn import notation
from tableturn.v1 import actions_pb2, catalog_pb2_grpc, table_pb2_grpc
from tableturn.v1.actions_pb2 import Action
from tableturn.v1.errors_pb2 import ErrorReason

Code = grpc.StatusCode
TIMEOUT = 20.0
OPTIONS: tuple[tuple[str, int], ...] = (
    # Connections of one process to one address are shared otherwise.
    ("grpc.use_local_subchannel_pool", 1),
    # After a restart nobody waits for a second.
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 100),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
)


class Connection:
    """One connection to a service."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel = grpc.insecure_channel(address, options=OPTIONS)
        self.tables = table_pb2_grpc.TableServiceStub(self.channel)
        self.catalog = catalog_pb2_grpc.CatalogServiceStub(self.channel)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *exc: object) -> None:
        self.channel.close()

    def ready(self) -> None:
        """Wait until the connection stands."""
        grpc.channel_ready_future(self.channel).result(TIMEOUT)


# -- tokens and request ids ------------------------------------------------------------------


def new_token() -> str:
    return secrets.token_urlsafe(24)


def new_id() -> str:
    return secrets.token_hex(8)


def digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call with a token; none without one."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def action(text: str) -> Action:
    """The action of a text such as `move C3`."""
    kind, fields = notation.parse(text)
    made = Action()
    message = getattr(made, kind)
    message.SetInParent()
    for name, value in fields.items():
        if isinstance(value, tuple):
            yellow, red, green, brown = value
            cubes = actions_pb2.Cubes(yellow=yellow, red=red, green=green, brown=brown)
            getattr(message, name).CopyFrom(cubes)
        else:
            setattr(message, name, value)
    return made


# -- refusals --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """How a call ended that was not carried out. `reason` is empty where it wasn't ours."""

    code: grpc.StatusCode
    reason: str
    sentence: str
    metadata: dict[str, str]
    details: bytes
    """The bytes of the `google.rpc.Status`."""

    @property
    def transient(self) -> bool:
        """The same call may be repeated until it is answered."""
        # gRPC itself says CANCELLED to a call that comes while the service closes its port.
        no_answer = (Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED)
        lost = not self.reason and self.code in no_answer
        return lost or self.reason in ("STORE_UNAVAILABLE", "STORE_FULL", "SHUTTING_DOWN")


def refusal_of(error: Any) -> Refusal:
    """What a call was refused with, read off the wire."""
    trailing = dict(error.trailing_metadata() or ())
    raw = trailing.get("grpc-status-details-bin", b"")
    details = raw if isinstance(raw, bytes) else raw.encode()
    reason, metadata = "", {}
    status = status_pb2.Status.FromString(details)
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.domain == "tableturn":
            reason, metadata = info.reason, dict(info.metadata)
    if reason:
        ErrorReason.Value(f"ERROR_REASON_{reason}")  # one of the closed list
        assert len(status.details) == 1
        assert (status.code, status.message) == (error.code().value[0], error.details())
    return Refusal(error.code(), reason, error.details() or "", metadata, details)


_OF_PYTHON = re.compile(r"Traceback|Error\(|Exception|object at 0x|<class|\bNone\b|\bTrue\b")


class Refused:
    """Will hold the refusal when the block that was to be refused has ended."""

    refusal: Refusal


@contextlib.contextmanager
def refused(
    code: grpc.StatusCode, reason: str, *words: str, **metadata: object
) -> Iterator[Refused]:
    """What is done inside is refused in this way, with a sentence that holds these words."""
    found = Refused()
    with pytest.raises(grpc.RpcError) as raised:
        yield found
    found.refusal = refusal = refusal_of(raised.value)
    assert (refusal.code, refusal.reason) == (code, reason), refusal
    check_sentence(refusal.sentence)
    for word in words:
        assert word in refusal.sentence, refusal
    for name, value in metadata.items():
        assert refusal.metadata.get(name) == str(value), (name, value, refusal)


def check_sentence(sentence: str) -> None:
    """A sentence for a person: on one line, neither empty nor endless, nothing of Python in it."""
    assert 5 < len(sentence) <= 500, sentence
    assert sentence.isprintable(), ascii(sentence)
    assert not _OF_PYTHON.search(sentence), sentence


def insist(call: Any, request: Any, token: str = "", within: float = 60.0) -> Any:
    """Repeat a call as it is until it is answered or refused for good."""
    deadline = time.monotonic() + within
    while True:
        try:
            return call(request, metadata=bearer(token), timeout=TIMEOUT)
        except grpc.RpcError as error:
            if not refusal_of(error).transient or time.monotonic() > deadline:
                raise
        time.sleep(0.02)
