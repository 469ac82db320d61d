"""A call whose answer was lost is repeated as it was, and is done once: also after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tableturn.v1 import table_pb2
from tableturn.v1.table_pb2 import TakebackPolicy
from tests.e2e.calls import (
    TIMEOUT,
    Code,
    Connection,
    action,
    bearer,
    digest,
    new_id,
    new_token,
    refused,
)
from tests.e2e.processes import Service
from tests.e2e.tables import POINTS, Table, gapless, new_table

pytestmark = pytest.mark.e2e


@dataclass
class Call:
    """A call as it was made, what it was answered, and the same id for something else."""

    method: str
    request: Any
    other: Any
    token: str
    answer: Any = None

    def make(self, connection: Connection, request: Any = None) -> Any:
        stub = getattr(connection.tables, self.method)
        return stub(request or self.request, metadata=bearer(self.token), timeout=TIMEOUT)


def changed(request: Any, **fields: Any) -> Any:
    """The same request with other fields."""
    other = type(request)()
    other.CopyFrom(request)
    for name, value in fields.items():
        if isinstance(value, list):
            del getattr(other, name)[:]
            getattr(other, name).extend(value)
        else:
            setattr(other, name, value)
    return other


class Session:
    """A table and every kind of change at it, one call of each."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.table_id = f"repeat-{new_id()}"
        self.host, self.ann, self.bob, self.cleo = (new_token() for _ in range(4))
        self.calls: list[Call] = []

    def do(self, method: str, token: str, **other: Any) -> Any:
        """Make a call of this method; `other` is what another one of the same id would say."""
        kind = getattr(table_pb2, f"{method}Request")
        fields = other.pop("fields", {})
        request = kind(table_id=self.table_id, request_id=new_id(), **fields)
        call = Call(method, request, changed(request, **other), token)
        call.answer = call.make(self.connection)
        assert not call.answer.replayed
        self.calls.append(call)
        return call.answer

    def seen(self) -> int:
        return Table(self.connection, self.table_id).revision

    def play(self) -> None:
        """Every method that changes a table."""
        self.do(
            "CreateTable",
            "",
            fields={
                "game": "free-table",
                "seats": 3,
                "options": POINTS,
                "host_token_sha256": digest(self.host),
                "takeback": TakebackPolicy.TAKEBACK_POLICY_ALL_AGREE,
            },
            title="another",
        )
        for name, token in (("Ann", self.ann), ("Bob", self.bob), ("Cleo", self.cleo)):
            self.do(
                "TakeSeat",
                "",
                fields={"name": name, "token_sha256": digest(token)},
                name="somebody else",
            )
        self.do("StartGame", self.host, table_id=self.table_id)
        self.calls[-1].other = None  # there is nothing else to be said in it
        self.do(
            "Act",
            self.ann,
            fields={"expected_revision": self.seen(), "actions": [action("score 5 for seat 2")]},
            actions=[action("score 6 for seat 2")],
        )
        self.do("Undo", self.ann, fields={"expected_revision": self.seen()}, all=True)
        self.do("Confirm", self.ann, fields={"expected_revision": self.seen()}, seat=1)
        self.do(
            "Act",
            self.bob,
            fields={
                "expected_revision": self.seen(),
                "actions": [action("score 7 for seat 2")],
                "confirm": True,
            },
            confirm=False,
        )
        self.do("TakeBack", self.ann, fields={"expected_revision": self.seen()}, seat=1)
        self.do("PauseGame", self.ann)
        self.calls[-1].other = None
        self.do("ResumeGame", self.bob)
        self.calls[-1].other = None
        self.do("LeaveSeat", self.cleo, seat=3)
        self.do("Concede", self.ann, seat=1)


@pytest.fixture
def session(own: Service) -> Iterator[Session]:
    with Connection(own.address) as connection:
        session = Session(connection)
        session.play()
        yield session


def check(session: Session) -> None:
    """Repeat everything that is still remembered, and the same ids for something else."""
    table = Table(session.connection, session.table_id)
    before = table.state()
    for call in session.calls:
        if call.method == "TakeSeat" and call.request.name == "Cleo":
            with refused(Code.PERMISSION_DENIED, "NOT_ALLOWED", "has been left since"):
                call.make(session.connection)
            continue
        again = call.make(session.connection)
        assert again.replayed, call
        if call.method == "CreateTable":
            assert again.table.table_id == session.table_id
        elif call.method == "TakeSeat":
            assert again.seat == again.table.viewer == call.answer.seat
        else:
            again.replayed = False
            assert again == call.answer, call
        for other in (call.other, as_another_method(call)):
            if other is None:
                continue
            reused = Call(_method(other), other, None, call.token)
            with refused(Code.INVALID_ARGUMENT, "REQUEST_ID_REUSED", field="request_id"):
                reused.make(session.connection)
    assert table.state() == before
    assert gapless(table.log())


def _method(request: Any) -> str:
    return str(type(request).DESCRIPTOR.name.removesuffix("Request"))


def as_another_method(call: Call) -> Any:
    """The same id and fields in a call of another method."""
    if call.method == "PauseGame":
        return table_pb2.ResumeGameRequest(
            table_id=call.request.table_id, request_id=call.request.request_id
        )
    if call.method == "Confirm":
        return table_pb2.UndoRequest(
            table_id=call.request.table_id,
            request_id=call.request.request_id,
            expected_revision=call.request.expected_revision,
        )
    return None


@pytest.mark.case("S7", "S8")
def test_a_repeated_call_is_answered_as_the_first_time(own: Service, session: Session) -> None:
    check(session)
    own.restart()
    check(session)
    own.kill()
    own.start()
    check(session)
    own.kill_valkey()
    own.kill()
    own.start()
    check(session)


@pytest.mark.case("S8", "S11")
def test_what_is_no_longer_remembered_is_too_late(connection: Connection) -> None:
    ann = new_table(connection).people[0]
    seen = ann.revision
    first = ann.act("score 5 for seat 1", expected=seen, request_id="the-first")
    for _ in range(7):
        ann.act("score 1 for seat 2")
    assert ann.act("score 5 for seat 1", expected=seen, request_id="the-first").replayed
    ann.act("score 1 for seat 2")
    before = ann.state()
    with refused(Code.ABORTED, "STALE_REVISION", asked_at=first.revision + 8):
        ann.act("score 5 for seat 1", expected=seen, request_id="the-first")
    assert ann.state() == before


@pytest.mark.case("S7", "S11")
def test_a_click_that_was_repeated_by_hand_counts_once(connection: Connection) -> None:
    """Another id, as when a person clicks twice; the revision is that of the first click."""
    table = new_table(connection)
    ann, bob = table.people
    seen = ann.revision
    ann.act("score 5 for seat 2", confirm=True, expected=seen)
    bob.confirm()
    with refused(Code.ABORTED, "STALE_REVISION"):
        ann.act("score 5 for seat 2", confirm=True, expected=seen)
    assert [player.points for player in ann.view().game_view.players] == [0, 5]
