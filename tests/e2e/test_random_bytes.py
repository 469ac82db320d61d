"""Requests that no client of ours would send: random, cut and twisted bytes, to every method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2, company_pb2, panel_pb2, table_pb2
from tests.e2e.calls import (
    Code,
    Connection,
    action,
    bearer,
    check_sentence,
    digest,
    new_id,
    new_token,
    refusal_of,
)
from tests.e2e.methods import METHODS, Method
from tests.e2e.processes import Service
from tests.e2e.scene import CLOCK, PANEL_UID, Scene, make_scene
from tests.e2e.tables import Table, gapless

pytestmark = pytest.mark.e2e

BAD = (Code.INTERNAL, Code.UNKNOWN, Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED)
"""Statuses that would mean that the service has failed or hangs."""


@pytest.fixture(scope="module")
def scene(service: Service, connection: Connection) -> Scene:
    return make_scene(service, connection)


def full_request(method: Method, table: Table) -> bytes:
    """A request of a method with a value in every field."""
    values: dict[str, Any] = {
        "table_id": table.table_id,
        "request_id": new_id(),
        "seat": 1,
        "expected_revision": table.revision,
        "actions": [
            *map(action, ("score 1 for seat 2", "move C3 dropping red", "acquire M12")),
            *map(action, ("put red on M07", "play S1", "claim P07", "move C3 with M12", "rest")),
        ],
        "confirm": True,
        "name": "Eve",
        "token_sha256": digest(new_token()),
        "host_token_sha256": digest(new_token()),
        "watch_token_sha256": digest(new_token()),
        "game": "eastern-wonders",
        "options": {"map": "random"},
        "component_set": b'{"format": 1}',
        "document": b'{"format": "tableturn-table", "version": 1}',
        "seed": bytes(16),
        "title": "A table",
        "page_size": 5,
        "page_token": "x",
        "after_revision": 1,
        "start_revision": 1,
        "start_change_id": "x",
        "all": True,
        "if_absent": True,
        "unlisted": True,
        "start_when_full": True,
        "takeback": table_pb2.TAKEBACK_POLICY_ALL_AGREE,
        "clock": CLOCK,
        "absence": clock_pb2.AbsenceSettings(
            policy=clock_pb2.ABSENCE_POLICY_DROP, grace=Duration(seconds=60)
        ),
        "private": True,
        "spectator_delay": Duration(seconds=60),
        "host_stays": True,
        "confirmation": table_pb2.CONFIRMATION_EITHER,
        "without_free_seats": True,
        "bot": "random",
        "time": Duration(seconds=60, nanos=1),
        "target": 2,
        "withdraw": True,
        "order": table_pb2.REMATCH_ORDER_ROTATED,
        "code": "K7QM-4XRD",
        "renew": True,
        "text": "hello",
        "after_number": 1,
        "mode": company_pb2.CHAT_MODE_OFF,
        "mute": [1],
        "unmute": [2],
        "panel_uid": PANEL_UID,
        "panel_token_sha256": digest(new_token()),
        "holder": "kitchen-0001",
        "report": panel_pb2.PanelReport(place="kitchen", uptime=Duration(seconds=5)),
        "button": 1,
        "second_button": 2,
        "gesture": panel_pb2.GESTURE_CHORD,
        "seats": [1, 2] if method.name == "AttachPanel" else 2,
    }
    assert method.fields <= set(values), method.fields - set(values)
    whole: bytes = method.filled(values).SerializeToString()
    return whole


def twisted(whole: bytes, random: Random, count: int) -> Iterator[bytes]:
    """Bytes that are none of a request, or nearly of one."""
    for _ in range(count):
        match random.randrange(6):
            case 0:
                yield random.randbytes(random.randrange(1, 200))
            case 1:
                yield whole[: random.randrange(len(whole))] if whole else b"\x0a\xff"
            case 2:
                changed = bytearray(whole or b"\x08\x01")
                changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
                yield bytes(changed)
            case 3:
                yield whole + random.randbytes(random.randrange(1, 20))
            case 4:  # a field that holds itself, deeper than any reader goes
                nested = b""
                for _ in range(random.choice((5, 150, 1000))):
                    nested = b"\x2a" + _varint(len(nested)) + nested
                yield nested
            case _:  # a text that is no UTF-8, in any field
                yield bytes((random.randrange(1, 16) << 3 | 2, 2, 0xC3, 0x28))


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def send(scene: Scene, method: Method, token: str, body: bytes) -> None:
    """Send bytes as they are; whatever the answer is, the service has not failed."""
    channel: Any = scene.connection.channel
    try:
        if method.streams:
            call = channel.unary_stream(method.path)(body, metadata=bearer(token), timeout=10)
            next(call)
            call.cancel()
        else:
            channel.unary_unary(method.path)(body, metadata=bearer(token), timeout=10)
    except grpc.RpcError as error:
        refusal = refusal_of(error)
        assert refusal.code not in BAD, (body.hex(), refusal)
        assert refusal.reason, (body.hex(), refusal)
        check_sentence(refusal.sentence)


def bombard(scene: Scene, count: int) -> None:
    """So many bodies to each method, from people with and without rights."""
    random = Random(20_260_101)
    table = scene.tables["staged"]
    others = [other for name, other in scene.tables.items() if name != "staged"]
    before = [scene.state(other) for other in others]
    for method in METHODS.values():
        whole = full_request(method, table)
        for body in twisted(whole, random, count):
            who = random.choice(("nobody", "stranger", "ann", "host", "admin"))
            send(scene, method, scene.token(who, table), body)
    # The one table may have changed where the bytes made sense, and bots may play on there; it
    # holds together all the same.
    admin = replace(table, token=scene.service.admin_token)
    assert gapless(admin.log())
    assert [scene.state(other) for other in others] == before


def test_bytes_that_make_no_sense_are_refused_as_such(scene: Scene) -> None:
    for method in METHODS.values():
        for body in (b"\xff" * 10, b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x02\xc3\x28", b"\x07"):
            send(scene, method, "", body)


def test_twisted_bytes_never_break_the_service(scene: Scene) -> None:
    bombard(scene, 120)
    scene.service.check_log()


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_night_of_twisted_bytes(scene: Scene) -> None:
    bombard(scene, 4000)
    scene.service.check_log()
