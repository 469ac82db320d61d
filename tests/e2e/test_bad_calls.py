"""Calls that are refused: the status, the reason, the sentence; and nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import grpc
import pytest

from tableturn.v1 import catalog_pb2, panel_pb2, table_pb2
from tableturn.v1.errors_pb2 import ErrorReason
from tests.e2e import bad_company, bad_making, bad_people, bad_tables, bad_turns
from tests.e2e.bad_calls import STATUS, TOKEN, Case, Cases, check
from tests.e2e.calls import (
    TIMEOUT,
    Code,
    Connection,
    action,
    check_sentence,
    new_id,
    refusal_of,
    refused,
)
from tests.e2e.methods import METHODS, Method
from tests.e2e.processes import Service
from tests.e2e.scene import PANEL_UID, Scene, ask, make_scene

pytestmark = pytest.mark.e2e

ELSEWHERE = {
    "LIMIT_REACHED", "STORE_UNAVAILABLE", "STORE_FULL", "SHUTTING_DOWN", "REQUEST_ID_REUSED",
    "PANEL_HELD",
}  # fmt: skip
"""Reasons that other tests are about."""
FIELDS: dict[str, Any] = {
    **bad_making.NEW, "expected_revision": 1, "confirm": True, "name": "Eve",
    "token_sha256": TOKEN, "bot": "random", "confirmation": table_pb2.CONFIRMATION_EITHER,
    "time": bad_making.span(s=60), "target": 2, "text": "hello", "panel_uid": PANEL_UID,
    "panel_token_sha256": TOKEN, "holder": "kitchen-0001", "button": 1,
    "gesture": panel_pb2.GESTURE_PRESS, "document": b"{}",
}  # fmt: skip
"""What requests hold that are bad in one thing only."""
MAKING = ("CreateTable", "ImportTable")
"""Methods whose table need not be there."""
EVERYWHERE = Cases()
for method in METHODS.values():
    filled = {name: value for name, value in FIELDS.items() if name in method.fields - {"table_id"}}
    if method.name == "AttachPanel":
        filled["seats"] = [1]
    if "request_id" in method.fields and method.name != "PressPanel":
        who = "admin" if method.name == "ImportTable" else "ann"
        for label, request_id in {
            "no request id": "",
            "a request id of 65": "x" * 65,
            "a request id of 10,000": "x" * 10_000,
            "a request id in two lines": "a\nb",
            "a request id that can't be seen": "\u200b",
        }.items():
            EVERYWHERE.add(f"{method.name} with {label}", method.name, "running", who, "BAD_FIELD",
                           of="request_id", request_id=request_id, **filled)  # fmt: skip
    if "table_id" not in method.fields or method.name in MAKING:
        continue
    EVERYWHERE.add(
        f"{method.name} at an unknown table",
        method.name,
        "running",
        "ann",
        "UNKNOWN_TABLE",
        "no-such-table",
        table_id="no-such-table",
        **filled,
    )
    for label, table_id in {
        "no table": "",
        "a table with a long name": "x" * 10_000,
        "a table with braces": "a{b}c",
        "a table in two lines": "a\nb",
    }.items():
        EVERYWHERE.add(f"{method.name} at {label}", method.name, "running", "ann", "BAD_FIELD",
                       "3 to 40", of="table_id", table_id=table_id, **filled)  # fmt: skip
    reason = "NOT_ALLOWED" if method.name == "TakeSeat" else "BAD_TOKEN"
    for who in ("nobody", "stranger"):
        EVERYWHERE.add(f"{method.name} at a private table: {who}", method.name, "private", who,
                       reason, **filled)  # fmt: skip
CASES = [
    *bad_making.CASES, *bad_tables.CASES, *bad_turns.CASES, *bad_people.CASES,
    *bad_company.CASES, *EVERYWHERE,
]  # fmt: skip


@pytest.fixture(scope="module")
def scene(service: Service, connection: Connection) -> Scene:
    return make_scene(service, connection)


@pytest.mark.parametrize("told", CASES, ids=str)
def test_a_bad_call_is_refused_and_changes_nothing(scene: Scene, told: Case) -> None:
    check(scene, told)


def test_every_reason_is_told_by_a_case() -> None:
    told = {told.reason for told in CASES} | ELSEWHERE | {"UNSPECIFIED"}
    assert {f"ERROR_REASON_{reason}" for reason in told} == set(ErrorReason.keys())


# -- what is no field of a request


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "Bearer TOKEN"),
        ("Bearer", "Bearer TOKEN"),
        ("Basic QWxhZGRpbjpvcGVu", "Bearer TOKEN"),
        ("Bearer " + "x" * 15, "16 to 256 characters, not 15"),
        ("Bearer " + "x" * 257, "not 257"),
        ("Bearer " + "x" * 7_000, "not 7000"),
        ("token" * 10, "Bearer TOKEN"),
    ],
)
def test_an_authorization_that_is_none_is_refused(scene: Scene, header: str, words: str) -> None:
    for method in METHODS.values():
        request = method.filled({"table_id": scene.tables["running"].table_id})
        with refused(Code.UNAUTHENTICATED, "BAD_TOKEN", words):
            method.call(scene.connection, request, metadata=(("authorization", header),))


def test_a_press_without_a_request_id_is_refused(scene: Scene) -> None:
    """A panel has to be held before anything else is looked at."""
    panel = replace(scene.tables["private"], token=scene.panel_token)
    ask(panel, "HoldPanel", panel_uid=PANEL_UID, holder=FIELDS["holder"])
    for request_id in ("", "x" * 65, "a\nb"):
        with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", field="request_id"):
            ask(panel, "PressPanel", **{**FIELDS, "request_id": request_id})


def test_a_renewal_that_is_refused_leaves_the_code(scene: Scene) -> None:
    table = scene.tables["running"]
    code = ask(table, "GetJoinCode").code
    with refused(Code.PERMISSION_DENIED, "NOT_ALLOWED"):
        ask(table.people[0], "GetJoinCode", renew=True)
    assert ask(table, "GetJoinCode").code == code


def test_after_the_last_line_of_all_there_is_none(scene: Scene) -> None:
    answer = ask(scene.tables["running"], "ListChat", after_number=2**64 - 1)
    assert not answer.lines


def test_a_request_is_not_larger_than_it_must_be(scene: Scene) -> None:
    table = scene.tables["running"]
    before = scene.state(table)
    ann = table.people[0]
    large = table_pb2.ActRequest(
        table_id=table.table_id,
        request_id=new_id(),
        expected_revision=table.revision,
        actions=[action("score 1 for seat 2")] * 200_000,
    )
    with refused(Code.INVALID_ARGUMENT, "BAD_FIELD", "at most", field="request"):
        ann.call("Act", large)
    # Beyond what any request may have gRPC itself refuses to read on.
    larger = table_pb2.ImportTableRequest(document=b"x" * (21 << 20), request_id=new_id())
    with pytest.raises(grpc.RpcError) as raised:
        ann.call("ImportTable", larger)
    assert refusal_of(raised.value).code == Code.RESOURCE_EXHAUSTED
    assert scene.state(table) == before


@pytest.mark.parametrize(
    ("call", "reason", "words"),
    [
        (lambda c: c.GetComponentSet(catalog_pb2.GetComponentSetRequest()), "UNKNOWN_NAME",
         "sets:"),
        (lambda c: c.GetComponentSet(catalog_pb2.GetComponentSetRequest(name="x" * 10_000)),
         "UNKNOWN_NAME", "there is no component set"),
        (lambda c: c.CheckComponentSet(catalog_pb2.CheckComponentSetRequest()), "UNKNOWN_NAME",
         "games:"),
        (lambda c: c.CheckComponentSet(catalog_pb2.CheckComponentSetRequest(game="free-table")),
         "BAD_COMPONENTS", ""),
    ],
)  # fmt: skip
def test_the_catalog_refuses(
    connection: Connection, call: Callable[[Any], Any], reason: str, words: str
) -> None:
    with refused(STATUS[reason], reason, words):
        call(connection.catalog)


def test_methods_that_are_not_there(connection: Connection) -> None:
    for path in ("/tableturn.v1.TableService/Cheat", "/tableturn.v2.TableService/Act", "/x/y"):
        call: Any = connection.channel.unary_unary(path)  # bytes as they are
        with pytest.raises(grpc.RpcError) as raised:
            call(b"", timeout=TIMEOUT)
        assert refusal_of(raised.value).code == Code.UNIMPLEMENTED


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_empty_requests(scene: Scene, method: Method) -> None:
    """An empty request of each method is refused as bad, or answered where it may be empty."""
    may_be_empty = {"ListTables", "ListGames", "ListComponentSets"}
    try:
        method.call(scene.connection, method.request())
    except grpc.RpcError as error:
        refusal = refusal_of(error)
        assert method.name not in may_be_empty
        assert refusal.reason in ("BAD_FIELD", "UNKNOWN_NAME", "BAD_TOKEN"), refusal
        check_sentence(refusal.sentence)
    else:
        assert method.name in may_be_empty
