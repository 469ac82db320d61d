"""What happens around every call: who calls, limits, deadline, errors.

One wrapper around each handler instead of a row of gRPC interceptors: it costs a few
microseconds. It takes the raw bytes, so that a request that can't be read is refused as ours.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Protocol, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from tableturn_server.service.errors import internal, status_of, store_refusal
from tableturn_server.service.limits import Gate
from tableturn_server.service.logs import Log
from tableturn_server.store import StoreError
from tableturn_server.tables.commands import By
from tableturn_server.tables.refusals import Reason, Refused

SMALL = 1 << 20
"""Bytes of an ordinary request at most."""
LARGE = 20 << 20
"""Bytes of a request that carries a document at most."""

LONGEST_CALL = 15.0
"""Seconds for a call whose caller has set no deadline."""

SHORTEST_TOKEN = 16
LONGEST_TOKEN = 256
_SCHEME = "bearer "
_NOBODY = (By(), "")
_MOST_KNOWN = 10_000

Asked = TypeVar("Asked", bound=Message)
Context = grpc.aio.ServicerContext[Any, Any]


class Call:
    """Who calls, from where, and until when (in the loop's time) an answer is of use."""

    __slots__ = ("by", "deadline", "peer", "principal")

    def __init__(self, by: By, principal: str, peer: str, deadline: float) -> None:
        self.by = by
        self.principal = principal
        self.peer = peer
        self.deadline = deadline


class Answer(Protocol):
    """What a handler returns: a message, or what `encode`d one gives."""

    def SerializeToString(self) -> bytes:
        """The bytes of the message."""


Handler = Callable[[Any, Call], Awaitable[Answer | bytes]]
StreamHandler = Callable[[Any, Call, Context], Awaitable[None]]


class Desk:
    """Receives all calls of a service.

    After `close` new calls are refused, and `idle` is set when the last one has ended.
    """

    def __init__(self, gate: Gate, admin: bytes, log: Log) -> None:
        self.gate = gate
        self.idle = asyncio.Event()
        self._known: dict[str | bytes, tuple[By, str]] = {}
        self._running = 0
        self._closed = False
        self._admin = admin
        self._log = log

    def close(self) -> None:
        """Refuse new calls from now on."""
        self._closed = True
        self._leave(0)

    def unary(self, name: str, request: type[Asked], handler: Handler, *, most: int = SMALL) -> Any:
        """The gRPC handler of a method with one answer."""

        async def answer(data: bytes, context: Context) -> bytes:
            self._running += 1
            try:
                call = self._receive(context)
                answered = await handler(_read(request, data, most), call)
                return answered if isinstance(answered, bytes) else answered.SerializeToString()
            except (Refused, StoreError) as error:
                status = self._refusal(name, error)
            except Exception as error:
                status = self._failure(name, error)
            finally:
                self._leave(1)
            await context.abort_with_status(status)
            raise AssertionError("an aborted call ends here")

        return grpc.unary_unary_rpc_method_handler(answer)

    def stream(self, name: str, request: type[Asked], handler: StreamHandler) -> Any:
        """The gRPC handler of a method with a stream of answers, which `handler` writes."""

        async def answer(data: bytes, context: Context) -> None:
            self._running += 1
            try:
                call = self._receive(context)
                await handler(_read(request, data, SMALL), call, context)
                return
            except (Refused, StoreError) as error:
                status = self._refusal(name, error)
            except grpc.aio.InternalError:  # the caller left while something was being written
                self._log.debug("left", call=name)
                return
            except Exception as error:
                status = self._failure(name, error)
            finally:
                self._leave(1)
            await context.abort_with_status(status)

        return grpc.unary_stream_rpc_method_handler(answer)

    def _leave(self, calls: int) -> None:
        """So many calls have ended."""
        self._running -= calls
        if self._closed and not self._running:
            self.idle.set()

    def _receive(self, context: Context) -> Call:
        """Who calls; refused without a well-formed token, beyond the limits, or at the end."""
        if self._closed:
            raise shutting_down()
        peer = context.peer().rpartition(":")[0]
        by, principal = self._caller(context)
        self.gate.call(principal, peer)
        patience = min(context.time_remaining() or LONGEST_CALL, LONGEST_CALL)
        return Call(by, principal, peer, asyncio.get_running_loop().time() + patience)

    def _caller(self, context: Context) -> tuple[By, str]:
        """Whose token comes with a call: as it is in commands, and as a text."""
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                known = self._known.get(value)
                if known is None:
                    digest = digest_of(value)
                    known = By(digest, digest == self._admin), digest.hex()
                    if len(self._known) >= _MOST_KNOWN:
                        self._known.clear()
                    self._known[value] = known
                return known
        return _NOBODY

    def _refusal(self, name: str, error: Refused | StoreError) -> grpc.Status:
        if isinstance(error, StoreError):
            self._log.warning("store", call=name, error=error.sentence)
            error = store_refusal(error)
        self._log.debug("refused", call=name, reason=error.reason.value, why=error.sentence)
        return status_of(error)

    def _failure(self, name: str, error: Exception) -> grpc.Status:
        error_id = secrets.token_hex(6)
        self._log.error("failed", call=name, error_id=error_id, exc_info=error)
        return internal(error_id)


def shutting_down() -> Refused:
    """The refusal of a service that is about to end."""
    return Refused(
        Reason.SHUTTING_DOWN,
        "the service is shutting down; repeat the call with the same request id",
    )


def _read(kind: type[Asked], data: bytes, most: int) -> Asked:
    """The request, which must be readable and not too large."""
    if len(data) > most:
        raise Refused(
            Reason.BAD_FIELD,
            f"a request of this kind has at most {most} bytes, not {len(data)}",
            field="request",
        )
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise Refused(
            Reason.BAD_FIELD, "the request is no readable message of its type", field="request"
        ) from error


def digest_of(authorization: str | bytes) -> bytes:
    """The SHA-256 of the token in an `authorization` header. Raises Refused."""
    if isinstance(authorization, bytes):
        authorization = authorization.decode("latin-1")
    if authorization[: len(_SCHEME)].lower() != _SCHEME:
        raise Refused(Reason.BAD_TOKEN, "the authorization must be `Bearer TOKEN`")
    token = authorization[len(_SCHEME) :].strip().encode()
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN:
        raise Refused(
            Reason.BAD_TOKEN,
            f"a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} characters, not {len(token)}",
        )
    return sha256(token).digest()
