"""Tables in every state, for calls that must be refused."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2, table_pb2
from tableturn.v1.company_pb2 import ChatMode
from tableturn.v1.table_pb2 import TakebackPolicy
from tableturn_server import store
from tests.e2e.calls import TIMEOUT, Connection, bearer, digest, new_id, new_token
from tests.e2e.methods import METHODS
from tests.e2e.processes import Service
from tests.e2e.tables import NAMES, POINTS, Table, new_table

PANEL_UID = 4711
CLOCK = clock_pb2.ClockSettings(
    kind=clock_pb2.CLOCK_KIND_DELAY, bank=Duration(seconds=3600), step=Duration(seconds=60)
)
COUNTED = clock_pb2.ClockSettings(kind=clock_pb2.CLOCK_KIND_COUNT_UP)


class CodeOf(str):
    """Stands for the code of the scene that has this name."""


@dataclass
class Scene:
    """Tables by what they are, tokens by who has them, and codes by what became of them."""

    service: Service
    connection: Connection
    tables: dict[str, Table]
    watch_token: str
    panel_token: str
    codes: dict[str, str] = field(default_factory=dict)

    def token(self, who: str, table: Table) -> str:
        """The token of somebody at a table; empty for nobody."""
        match who:
            case "nobody":
                return ""
            case "stranger":
                return new_token()
            case "admin":
                return self.service.admin_token
            case "host":
                return table.token
            case "watcher":
                return self.watch_token
            case "panel":
                return self.panel_token
            case "asked":
                return table.asked().token
            case _:
                return table.people[NAMES.index(who.title())].token

    def state(self, table: Table) -> tuple[bytes, list[bytes]]:
        """All that can be seen of a table."""
        admin = Table(self.connection, table.table_id, self.service.admin_token)
        return admin.state()


def forget_wrong_codes(service: Service) -> None:
    """As if so much time had passed that whoever has tried wrong codes may try again."""

    async def forget() -> None:
        async with store.Connection(service.said["store"]) as direct:
            for key in await direct.call("KEYS", "tt:tries:*"):
                await direct.call("DEL", key)

    asyncio.run(forget())


def make_scene(service: Service, connection: Connection) -> Scene:
    """An open table, running ones, a paused one, a finished one, and one that is not for all."""
    watch_token, panel_token = new_token(), new_token()
    tables = {
        "lobby": _waiting(connection, "Ann"),
        "full": _waiting(connection, "Ann", "Bob"),
        "running": new_table(connection),
        "staged": new_table(connection),
        "islands": new_table(connection, "eastern-wonders"),
        "cards": new_table(connection, "spice-road", options={"first_seat": "1"}),
        "sand": new_table(connection, "from-sand-to-sea"),
        "never": new_table(connection, takeback=TakebackPolicy.TAKEBACK_POLICY_NEVER),
        "dropped": new_table(connection, seats=3),
        "paused": new_table(connection),
        "over": new_table(connection),
        "guarded": new_table(connection, watch_token_sha256=digest(watch_token)),
        "clocked": new_table(connection, seats=3, clock=CLOCK),
        "counted": new_table(connection, clock=COUNTED),
        "passed": new_table(connection),
        "muted": new_table(connection),
        "silent": new_table(connection),
        "moved": new_table(connection),
        "private": new_table(connection, seats=3, private=True),
        "invited": _waiting(connection, "Ann", private=True),
        "crowd": _crowd(connection, panel_token),
    }
    tables["staged"].people[0].act("score 5 for seat 2")
    tables["never"].people[0].confirm()
    dropped = tables["dropped"]
    dropped.people[0].call(
        "Concede", table_pb2.ConcedeRequest(table_id=dropped.table_id, request_id=new_id())
    )
    paused = tables["paused"]
    paused.call("PauseGame", table_pb2.PauseGameRequest(
        table_id=paused.table_id, request_id=new_id()
    ))  # fmt: skip
    clocked = tables["clocked"]
    ask(clocked.people[2], "Concede")
    ask(clocked, "PauseGame")  # whatever a test takes: no clock runs
    ask(tables["counted"], "PauseGame")
    ask(tables["passed"], "PassHost", seat=1)
    ask(tables["muted"], "SetChat", mute=[2])
    ask(tables["silent"], "SetChat", mode=ChatMode.CHAT_MODE_OFF)
    ask(tables["private"].people[2], "LeaveSeat")
    put_panel(tables["private"], panel_token, [0])
    forget_wrong_codes(service)  # of tests before
    codes = _codes(tables)
    tables["over"].people[0].act("score 5 for seat 2", "finish game", confirm=True)
    return Scene(service, connection, tables, watch_token, panel_token, codes)


def ask(table: Table, name: str, /, **fields: Any) -> Any:
    """Call any method for whom a table is seen by."""
    method = METHODS[name]
    values = {"request_id": new_id(), **fields, "table_id": table.table_id}
    return method.call(table.connection, method.filled(values), table.token)


def put_panel(table: Table, token: str, seats: list[int]) -> None:
    """The host puts a panel on the table."""
    ask(
        table,
        "AttachPanel",
        panel_uid=PANEL_UID,
        panel_token_sha256=digest(token),
        seats=seats,
    )


def _crowd(connection: Connection, panel_token: str) -> Table:
    """A running game at which everybody is somebody else.

    Ann (1) plays, Bob has two seats (2, 8), Cleo (3) has left, a bot (4), Fay at a panel (5), Dan
    (6) has dropped out, and a bot plays on for Eve (7).
    """
    table = new_table(connection, seats=8, sit=False)
    put_panel(table, panel_token, [5])
    ann, bob, cleo, dan, eve = (
        table.take_seat(name, seat)
        for name, seat in (("Ann", 1), ("Bob", 2), ("Cleo", 3), ("Dan", 6), ("Eve", 7))
    )
    table.people += [ann, bob, cleo, dan, eve]
    ask(table, "SeatBot", seat=4, bot="random")
    table.take_seat("Fay", 5, panel_token)
    table.take_seat("Bob", 8, bob.token)
    ask(cleo, "LeaveSeat")
    ask(dan, "Concede")
    ask(eve, "StandIn")
    return table


def _codes(tables: dict[str, Table]) -> dict[str, str]:
    """Codes that are good at one table, and others that are for nothing any more."""
    invited, full = tables["invited"], tables["full"]
    ann, bob = tables["moved"].people
    codes = {
        "joins what is over": ask(tables["over"], "GetJoinCode").code,
        "joins what is full": ask(full, "GetJoinCode").code,
        "joins no more": ask(invited, "GetJoinCode").code,
        "joins": ask(invited, "GetJoinCode", renew=True).code,
        "moves seat 1": ask(full.people[0], "MakeSeatCode").code,
        "has moved seat 1": ask(ann, "MakeSeatCode").code,
        "moves who has left": ask(bob, "MakeSeatCode").code,
    }
    used = codes["has moved seat 1"]
    ask(ann, "TakeSeat", name="Ann", token_sha256=digest(new_token()), code=used)
    ask(bob, "LeaveSeat")
    return codes


def _waiting(connection: Connection, *names: str, **more: Any) -> Table:
    """A table of two seats that the host will start by hand."""
    token = new_token()
    answer = connection.tables.CreateTable(
        table_pb2.CreateTableRequest(
            request_id=new_id(),
            game="free-table",
            seats=2,
            options=POINTS,
            host_token_sha256=digest(token),
            **more,
        ),
        metadata=bearer(token),
        timeout=TIMEOUT,
    )
    table = Table(connection, answer.table.table_id, token)
    table.sit(*names)
    return table
