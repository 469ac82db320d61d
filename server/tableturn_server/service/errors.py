"""How a refusal travels: `google.rpc.Status` with one `ErrorInfo`, by one table."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status  # type: ignore[import-untyped]

from tableturn_server.store import StoreError, StoreFull
from tableturn_server.tables.refusals import Reason, Refused

DOMAIN = "tableturn"
_LONGEST_SENTENCE = 500

STATUS = {
    Reason.UNKNOWN_TABLE: grpc.StatusCode.NOT_FOUND,
    Reason.UNKNOWN_NAME: grpc.StatusCode.NOT_FOUND,
    Reason.TABLE_EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    Reason.BAD_FIELD: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.UNREADABLE_ACTION: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.REQUEST_ID_REUSED: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.BAD_COMPONENTS: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.BAD_IMPORT: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.BAD_TOKEN: grpc.StatusCode.UNAUTHENTICATED,
    Reason.NOT_ALLOWED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.SEAT_TAKEN: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TABLE_FULL: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NOT_STARTED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.ALREADY_STARTED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.GAME_OVER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.PAUSED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NOT_ASKED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.ILLEGAL_ACTION: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.CANNOT_CONFIRM: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NOTHING_TO_UNDO: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NOTHING_TO_TAKE_BACK: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.STALE_REVISION: grpc.StatusCode.ABORTED,
    Reason.LIMIT_REACHED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.STORE_FULL: grpc.StatusCode.UNAVAILABLE,
    Reason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    Reason.PANEL_HELD: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.GAME_RUNNING: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NO_CLOCK: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.UNKNOWN_CODE: grpc.StatusCode.NOT_FOUND,
}
"""The status of each reason, as the comments of `tableturn.v1.ErrorReason` say."""


def status_of(refused: Refused) -> grpc.Status:
    """The status that ends a refused call."""
    info = error_details_pb2.ErrorInfo(
        domain=DOMAIN, reason=refused.reason.value, metadata=refused.details
    )
    detail = any_pb2.Any()
    detail.Pack(info)
    code: int = STATUS[refused.reason].value[0]
    sentence = refused.sentence
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = sentence[: _LONGEST_SENTENCE - 3] + "..."
    return _status(status_pb2.Status(code=code, message=sentence, details=[detail]))


def internal(error_id: str) -> grpc.Status:
    """The status for an error of ours: nothing but the id under which it was logged."""
    sentence = f"the service has failed; its log knows why under {error_id}"
    return _status(status_pb2.Status(code=grpc.StatusCode.INTERNAL.value[0], message=sentence))


def _status(message: Any) -> grpc.Status:
    status: grpc.Status = rpc_status.to_status(message)
    return status


def store_refusal(error: StoreError) -> Refused:
    """What a caller is told when the store doesn't answer as it should."""
    if isinstance(error, StoreFull):
        return Refused(
            Reason.STORE_FULL,
            "nothing can be kept now, the store is out of room; "
            "repeat the call with the same request id when there is room again",
        )
    return Refused(
        Reason.STORE_UNAVAILABLE,
        "the store can't be reached now; repeat the call with the same request id",
    )
