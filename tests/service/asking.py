"""Everything that can be asked of a service about one table, made up from the descriptors.

A method or a field that is added later is asked for too: its name needs a value below, or the
tests that use this fail.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterator
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from tableturn.v1 import company_pb2, panel_pb2, table_pb2
from tests.service.support import Caller, digest, failure_of

SERVICES = (
    (table_pb2, "TableService"),
    (company_pb2, "CompanyService"),
    (panel_pb2, "PanelService"),
)
STRANGER = "the token of a stranger, for tests"
PANEL = 4711
HOLDER = "kitchen-0001"

_VALUES: dict[str, tuple[Any, ...]] = {
    "after_number": (0, 1),
    "after_revision": (0, 2, 5, 9, 14),
    "actions": (),
    "all": (True,),
    "bot": ("greedy", "nobody"),
    "button": (1,),
    "confirm": (True,),
    "confirmation": (1,),
    "document": (b"{}",),
    "expected_revision": (3, 1, 8, 12),
    "game": ("free-table",),
    "gesture": (1, 2, 3, 4),
    "holder": (HOLDER, "kitchen-0002"),
    "host_token_sha256": (digest("another host's token, for tests"),),
    "if_absent": (True, False),
    "mode": (2,),
    "mute": ([1],),
    "name": ("Zed",),
    "options": ({"first_seat": "1", "points": "on"},),
    "order": (0, 2),
    "page_size": (0, 1, 3),
    "page_token": ("",),
    "panel_token_sha256": (digest("a panel's token, for tests"),),
    "panel_uid": (PANEL, 4712),
    "renew": (False, True),
    "request_id": ("a request",),
    "second_button": (0, 2),
    "seats": (2,),
    "spectator_delay": (Duration(seconds=60),),
    "start_change_id": ("", "0123456789abcdef"),
    "start_revision": (0, 1, 2, 4, 6, 8, 10, 12, 14, 20),
    "target": (1, 2, 3),
    "text": ("hello",),
    "token_sha256": (digest(STRANGER),),
    "unmute": ([],),
    "withdraw": (False, True),
    "without_free_seats": (False, True),
    # Of the making of a table, which none is made of here.
    **dict.fromkeys(
        (
            "absence",
            "clock",
            "component_set",
            "host_stays",
            "private",
            "report",
            "seed",
            "start_when_full",
            "takeback",
            "time",
            "title",
            "unlisted",
            "watch_token_sha256",
        ),
        (),
    ),
}


def methods() -> Iterator[tuple[str, Any, Any]]:
    """Each method of the services: its service's name, its descriptor, its request's type."""
    for module, service in SERVICES:
        for method in module.DESCRIPTOR.services_by_name[service].methods:
            yield service, method, getattr(module, method.input_type.name)


def requests(method: Any, kind: type[Message], table_id: str, code: str) -> Iterator[Message]:
    """Requests of a method about a table: with the first value of each field, then the others."""
    # Nobody shall sit down: at the tables of these tests seat 1 is taken.
    seats = (1,) if method.name in ("TakeSeat", "CreateTable") else (0, 1, 2, 3, 4)
    values = {**_VALUES, "table_id": (table_id,), "code": (code,), "seat": seats}
    if method.name == "AttachPanel":
        values["seats"] = ([1, 2],)
    if method.name == "TakeSeat":
        values["code"] = ("", code)
    fields = [field.name for field in method.input_type.fields]
    missing = set(fields) - set(values)
    assert not missing, f"what does a spectator send there? {method.name}: {missing}"
    first = {name: values[name][0] for name in fields if values[name]}
    yield kind(**first)
    for name in fields:
        for value in values[name][1:]:
            yield kind(**{**first, name: value})


def timeless(message: Message) -> Message:
    """A message without the time at which it was sent."""
    if "time" in message.DESCRIPTOR.fields_by_name:
        message.ClearField("time")
    for field, value in message.ListFields():
        if field.name == "heartbeat":
            value.ClearField("time")
    return message


class Asking(Caller):
    """Somebody who asks everything about a table, and what is answered."""

    async def everything(self, code: str, *, but: Collection[str] = ()) -> dict[str, bytes]:
        """The answer to each request `but` those, refusals too, without the time."""
        found: dict[str, bytes] = {}
        for service, method, kind in methods():
            if method.name in but:
                continue
            call = self._method(service, method)
            answer = self._watched if method.server_streaming else self._answered
            asked = list(requests(method, kind, self.table_id, code))
            told = await asyncio.gather(*(answer(call, request) for request in asked))
            for request, data in zip(asked, told, strict=True):
                found[f"{method.name} {request}".replace("\n", " ")] = data
        return found

    def _method(self, service: str, method: Any) -> Any:
        """A method of any of the services."""
        module = next(module for module, name in SERVICES if name == service)
        path = f"/tableturn.v1.{service}/{method.name}"
        output = getattr(module, method.output_type.name)
        kinds = {
            "request_serializer": lambda message: message.SerializeToString(),
            "response_deserializer": output.FromString,
        }
        if method.server_streaming:
            return self.channel.unary_stream(path, **kinds)
        return self.channel.unary_unary(path, **kinds)

    async def _answered(self, call: Any, request: Message) -> bytes:
        try:
            answer = await call(request, metadata=self.metadata, timeout=20)
        except grpc.aio.AioRpcError as error:
            return repr(failure_of(error)).encode()
        return bytes(timeless(answer).SerializeToString(deterministic=True))

    async def _watched(self, call: Any, request: Message) -> bytes:
        """All events up to the second sign of life."""
        stream = call(request, metadata=self.metadata)
        told: list[bytes] = []
        beats = 0
        try:
            async with asyncio.timeout(20):
                while beats < 2:
                    event = await stream.read()
                    beats += event.WhichOneof("event") == "heartbeat"
                    told.append(timeless(event).SerializeToString(deterministic=True))
        except grpc.aio.AioRpcError as error:
            return repr(failure_of(error)).encode()
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                stream.cancel()
        # However many signs of life there are until somebody leaves.
        return b"\n".join(dict.fromkeys(told))
