"""What gRPC raises, turned into errors of ours: the one place where this is done."""

from __future__ import annotations

import re
from collections.abc import Mapping

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from tableturn_client.errors import (
    REASONS,
    BadAnswer,
    BadRequest,
    BadValue,
    CannotConnect,
    ConnectionLost,
    DeadlinePassed,
    LimitReached,
    NoAnswer,
    NotFound,
    NotNow,
    NotPermitted,
    NotSupported,
    NotTableturn,
    Refusal,
    Refused,
    ServiceFault,
    StaleRevision,
    TableturnError,
    Unavailable,
)

DOMAIN = "tableturn"
STATUS_DETAILS = "grpc-status-details-bin"

Code = grpc.StatusCode

# A reason that this version doesn't know still says by its code what kind it is.
_KINDS: dict[Code, type[Refused]] = {
    Code.NOT_FOUND: NotFound,
    Code.ALREADY_EXISTS: NotNow,
    Code.INVALID_ARGUMENT: BadRequest,
    Code.UNAUTHENTICATED: NotPermitted,
    Code.PERMISSION_DENIED: NotPermitted,
    Code.FAILED_PRECONDITION: NotNow,
    Code.ABORTED: StaleRevision,
    Code.RESOURCE_EXHAUSTED: LimitReached,
    Code.UNAVAILABLE: Unavailable,
}

_NOT_OURS = "the server at {server} is not a Tableturn service; look at the address and the port"
_FAILED = "the service at {server} failed ({details}); its log tells more"

# Without an ErrorInfo of ours, it is gRPC or somebody else that speaks. The first line whose code
# is that of the failure, and whose words are in its details, tells what it means.
_FOREIGN: tuple[tuple[Code | None, str, type[NoAnswer] | type[BadAnswer] | None, str], ...] = (
    (Code.UNAVAILABLE, r"http1\.x server|HTTP/1\.|HTTP proxy", NotTableturn, _NOT_OURS),
    (
        Code.UNAVAILABLE,
        r"SETTINGS|Failed parsing HTTP/2|GOAWAY.*PROTOCOL|RST_STREAM.*HTTP_1_1",
        NotTableturn,
        _NOT_OURS,
    ),
    (
        Code.UNAVAILABLE,
        r"SSL|TLS|handshak|certificate|WRONG_VERSION",
        NotTableturn,
        "no secure connection to {server}: it has no valid certificate, or speaks without TLS",
    ),
    (
        Code.UNAVAILABLE,
        r"DNS|name resolution|[Rr]esolv|getaddrinfo|Domain name",
        CannotConnect,
        "no machine is called as in {server}",
    ),
    (
        Code.UNAVAILABLE,
        r"connect|refused|unreachable|No route|No such file|Failed to pick",
        CannotConnect,
        "no server answers at {server}; is `tableturn serve` running there?",
    ),
    (Code.UNAVAILABLE, r"", ConnectionLost, "the connection to {server} was lost"),
    (Code.CANCELLED, r"", ConnectionLost, "the connection to {server} was lost"),
    (Code.DEADLINE_EXCEEDED, r"", DeadlinePassed, "{server} did not answer in time"),
    (
        Code.UNIMPLEMENTED,
        r"tableturn\.v1|Method not found",
        NotSupported,
        "the service at {server} does not know this call: it is older than this client, "
        "or no Tableturn service",
    ),
    (Code.UNIMPLEMENTED, r"", NotTableturn, _NOT_OURS),
    (Code.UNKNOWN, r"Stream removed", ConnectionLost, "the connection to {server} was lost"),
    (
        Code.UNKNOWN,
        r"HTTP/2 header with status|status: \d|content-type",
        NotTableturn,
        _NOT_OURS,
    ),
    (
        Code.RESOURCE_EXHAUSTED,
        r"[Rr]eceived message larger",
        ServiceFault,
        "the answer of {server} is too large",
    ),
    (Code.RESOURCE_EXHAUSTED, r"message larger", None, "the request is too large to be sent"),
    (None, r"", ServiceFault, _FAILED),
)


def error_of(error: grpc.aio.AioRpcError, server: str, request_id: str = "") -> TableturnError:
    """The error of ours that a failed call means."""
    info = _error_info(error)
    if info is not None:
        return refused(error.code(), error.details() or "", info)
    details = error.details() or error.code().name
    for code, words, kind, sentence in _FOREIGN:
        if code in (error.code(), None) and re.search(words, details):
            said = sentence.format(server=server, details=details)
            if kind is None:
                return BadValue(said)
            if issubclass(kind, NoAnswer):
                return kind(said, server=server, request_id=request_id)
            return kind(said, server=server)
    raise AssertionError("the last line fits everything")


def refused(code: Code, sentence: str, info: error_details_pb2.ErrorInfo) -> TableturnError:
    """The refusal that an ErrorInfo of ours tells of."""
    kind = REASONS.get(info.reason) or _KINDS.get(code)
    if kind is None:
        return ServiceFault(sentence or info.reason)
    metadata = info.metadata
    wait = _number(metadata, "retry_after_ms")
    return kind(
        Refusal(
            reason=info.reason,
            sentence=sentence or info.reason.lower().replace("_", " "),
            revision=_number(metadata, "revision"),
            index=_number(metadata, "index"),
            field=metadata.get("field"),
            asked_at=_number(metadata, "asked_at"),
            place=metadata.get("place"),
            retry_after=None if wait is None else wait / 1000,
            holder=metadata.get("holder"),
        )
    )


def _error_info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo | None:
    """The ErrorInfo of ours that came with a failure."""
    for key, value in error.trailing_metadata() or ():
        if key != STATUS_DETAILS:
            continue
        status = status_pb2.Status()
        try:
            status.ParseFromString(value if isinstance(value, bytes) else value.encode())
            for detail in status.details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info) and info.domain == DOMAIN:
                    return info
        except DecodeError:
            return None
    return None


def _number(metadata: Mapping[str, str], key: str) -> int | None:
    """A number of an ErrorInfo's metadata; None where it is missing or is none."""
    try:
        return int(metadata[key])
    except (KeyError, ValueError):
        return None
