"""Refusals of what the store says, whatever the table's rules are."""

from __future__ import annotations

from tableturn_server.tables.refusals import Reason, Refused


def too_late(revision: int) -> Refused:
    """The refusal of a call that could not be carried out in time; nothing was changed."""
    return Refused(
        Reason.STORE_UNAVAILABLE,
        "there was not time enough to carry the call out; repeat it with the same request id",
        revision=revision,
    )


def turns_not_kept() -> Refused:
    """The refusal to take a turn back when the store has not all that it takes."""
    return Refused(
        Reason.NOTHING_TO_TAKE_BACK,
        "the earlier turns of this table are not kept completely; nothing can be taken back",
    )


def reused(revision: int | None) -> Refused:
    """The refusal of a request id that was used for something else (S8)."""
    refused = Refused(
        Reason.REQUEST_ID_REUSED,
        "this request id was used for another request; a new request needs a new id",
        field="request_id",
    )
    if revision is not None:
        refused.details["revision"] = str(revision)
    return refused


def table_exists(table_id: str, revision: int) -> Refused:
    """The refusal of an id that another table has."""
    return Refused(
        Reason.TABLE_EXISTS,
        f"there is a table {table_id!r} already, which was made otherwise",
        revision=revision,
    )


def unknown_table(table_id: str) -> Refused:
    """The refusal of an id that no table has."""
    return Refused(Reason.UNKNOWN_TABLE, f"there is no table {table_id!r}")
