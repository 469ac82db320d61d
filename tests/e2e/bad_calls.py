"""What a bad call is: who calls what at which table, why it is refused, and that nothing changes.

Modules of cases collect them, and one test tries them all:

CASES = Cases()
CASES.add("to start as nobody", "StartGame", "full", "nobody", "BAD_TOKEN")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tableturn.v1 import company_pb2
from tests.e2e.calls import Code, digest, new_id, new_token, refused
from tests.e2e.methods import METHODS
from tests.e2e.scene import CodeOf, Scene, forget_wrong_codes
from tests.e2e.tables import Table

TOKEN = digest(new_token())
NOW = -1
"""Stands for the table's revision."""
STATUS = {
    "UNKNOWN_TABLE": Code.NOT_FOUND,
    "UNKNOWN_NAME": Code.NOT_FOUND,
    "UNKNOWN_CODE": Code.NOT_FOUND,
    "TABLE_EXISTS": Code.ALREADY_EXISTS,
    "BAD_FIELD": Code.INVALID_ARGUMENT,
    "UNREADABLE_ACTION": Code.INVALID_ARGUMENT,
    "BAD_COMPONENTS": Code.INVALID_ARGUMENT,
    "BAD_IMPORT": Code.INVALID_ARGUMENT,
    "BAD_TOKEN": Code.UNAUTHENTICATED,
    "NOT_ALLOWED": Code.PERMISSION_DENIED,
    "STALE_REVISION": Code.ABORTED,
    **dict.fromkeys(
        (
            "SEAT_TAKEN", "TABLE_FULL", "NOT_STARTED", "ALREADY_STARTED", "GAME_OVER", "PAUSED",
            "NOT_ASKED", "ILLEGAL_ACTION", "CANNOT_CONFIRM", "NOTHING_TO_UNDO",
            "NOTHING_TO_TAKE_BACK", "PANEL_HELD", "GAME_RUNNING", "NO_CLOCK",
        ),
        Code.FAILED_PRECONDITION,
    ),
}  # fmt: skip
PRIVATE = {"private", "invited"}
"""Tables of which whoever has no part in them is told no revision."""
TABLELESS = {"BAD_FIELD", "UNREADABLE_ACTION", "UNKNOWN_TABLE", "UNKNOWN_CODE"}
"""Reasons that may hold whatever the table is like, and then name no revision."""


@dataclass
class Case:
    """A call of `who` at one of the scene's tables, why it is refused, and with which details."""

    label: str
    method: str
    at: str
    who: str
    fields: dict[str, Any]
    reason: str
    words: tuple[str, ...]
    details: dict[str, object]

    def __str__(self) -> str:
        return self.label


class Cases(list[Case]):
    """Cases about one thing."""

    def add(
        self,
        label: str,
        method: str,
        at: str,
        who: str,
        reason: str,
        /,
        *words: str,
        of: str = "",
        details: dict[str, object] | None = None,
        **fields: Any,
    ) -> None:
        """One more; `of` is the field that the refusal names."""
        told = {"field": of} if of else {}
        self.append(
            Case(label, method, at, who, fields, reason, words, {**told, **(details or {})})
        )


def request_of(told: Case, scene: Scene) -> Any:
    """The request of a case, with what every request of its method has."""
    table = scene.tables[told.at]
    method = METHODS[told.method]
    fields = {"table_id": table.table_id, "request_id": new_id()} | told.fields
    if fields["table_id"] is None:
        fields["table_id"] = table.table_id
    code = fields.get("code")
    if isinstance(code, CodeOf):
        fields["code"] = scene.codes[code]
    expected = fields.get("expected_revision")
    if expected is not None and expected < 0:
        # NOW is the current revision, one less than that the next one.
        fields["expected_revision"] = table.revision + NOW - expected
    return method.filled(fields)


def state(scene: Scene, table: Table) -> tuple[bytes, list[bytes], bytes]:
    """All that can be seen of a table, and what was said there."""
    request = company_pb2.ListChatRequest(table_id=table.table_id)
    said = METHODS["ListChat"].call(scene.connection, request, scene.service.admin_token)
    return *scene.state(table), said.SerializeToString(deterministic=True)


def check(scene: Scene, told: Case) -> None:
    """A bad call is refused as it should be, and nothing has changed."""
    table = scene.tables[told.at]
    method = METHODS[told.method]
    token = scene.token(told.who, table)
    request = request_of(told, scene)
    if "code" in told.fields:
        forget_wrong_codes(scene.service)
    before = state(scene, table)
    with refused(STATUS[told.reason], told.reason, *told.words, **told.details) as found:
        method.call(scene.connection, request, token)
    assert state(scene, table) == before
    details = found.refusal.metadata
    if "field" in details:
        assert details["field"].split(".")[0] in method.fields, details
    if "revision" in details:
        assert details["revision"] == str(len(before[1]))
    elif told.reason not in TABLELESS and told.at not in PRIVATE:  # "where there is a table"
        assert told.method in ("CreateTable", "ImportTable", "ListTables")
