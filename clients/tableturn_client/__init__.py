"""The Tableturn client: SDK and command line.

    import asyncio, tableturn_client

    async def main():
        async with tableturn_client.connect("127.0.0.1:7430") as client:
            first = {"first_seat": "1"}
            new = await client.new_table("free-table", seats=2, options=first, start_when_full=True)
            ann = await new.table.take_seat("Ann")
            bob = await new.table.take_seat("Bob")
            await ann.view()
            await ann.act(confirm=True)

    asyncio.run(main())

`tableturn_client.sync` has the same without `await`. Views are the messages of `tableturn.v1`
(`tableturn_client.messages`); errors are the tree in `tableturn_client.errors`.
"""

from tableturn_client import errors, messages
from tableturn_client.actions import Expansion, expand, pick, to_action, to_text, usage
from tableturn_client.address import DEFAULT_SERVER
from tableturn_client.client import Client, ComponentSet, NewTable, Takeback, connect
from tableturn_client.clocks import Absence, Clock, ClockKind, IfAway, TimeUp
from tableturn_client.company import Chat, ChatMode, Code, CodeFor, SeatCode
from tableturn_client.errors import TableturnError
from tableturn_client.events import (
    Change,
    Disconnected,
    Event,
    Fresh,
    Presence,
    Reconnected,
    ResumePoint,
    Said,
    Snapshot,
    SnapshotReason,
    Stale,
)
from tableturn_client.handle import Done
from tableturn_client.handles import Asked, RematchOrder, Seat, Table
from tableturn_client.panels import Gesture, Panel, Pressed
from tableturn_client.seating import Confirmation
from tableturn_client.timekeeping import Timekeeping, start_left, time_left, time_used
from tableturn_client.tokens import new_request_id, new_token, token_sha256
from tableturn_client.watching import Watch
from tableturn_client.wire import Machine, Retry

__all__ = [
    "DEFAULT_SERVER",
    "Absence",
    "Asked",
    "Change",
    "Chat",
    "ChatMode",
    "Client",
    "Clock",
    "ClockKind",
    "Code",
    "CodeFor",
    "ComponentSet",
    "Confirmation",
    "Disconnected",
    "Done",
    "Event",
    "Expansion",
    "Fresh",
    "Gesture",
    "IfAway",
    "Machine",
    "NewTable",
    "Panel",
    "Presence",
    "Pressed",
    "Reconnected",
    "RematchOrder",
    "ResumePoint",
    "Retry",
    "Said",
    "Seat",
    "SeatCode",
    "Snapshot",
    "SnapshotReason",
    "Stale",
    "Table",
    "TableturnError",
    "Takeback",
    "TimeUp",
    "Timekeeping",
    "Watch",
    "connect",
    "errors",
    "expand",
    "messages",
    "new_request_id",
    "new_token",
    "pick",
    "start_left",
    "time_left",
    "time_used",
    "to_action",
    "to_text",
    "token_sha256",
    "usage",
]
