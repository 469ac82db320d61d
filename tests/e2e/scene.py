"""Tables in every state, for calls that must be refused."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn.v1 import table_pb2
from tableturn.v1.table_pb2 import TakebackPolicy
from tests.e2e.calls import TIMEOUT, Connection, bearer, digest, new_id, new_token
from tests.e2e.processes import Service
from tests.e2e.tables import POINTS, Table, new_table


@dataclass
class Scene:
    """Tables by what they are, and tokens by who has them."""

    service: Service
    connection: Connection
    tables: dict[str, Table]
    watch_token: str

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
            case _:
                return table.people[("ann", "bob").index(who)].token

    def state(self, table: Table) -> tuple[bytes, list[bytes]]:
        """All that can be seen of a table."""
        admin = Table(self.connection, table.table_id, self.service.admin_token)
        return admin.state()


def make_scene(service: Service, connection: Connection) -> Scene:
    """An open table, running ones, a paused one, a finished one, and one that is not for all."""
    watch_token = new_token()
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
    tables["over"].people[0].act("score 5 for seat 2", "finish game", confirm=True)
    return Scene(service, connection, tables, watch_token)


def _waiting(connection: Connection, *names: str) -> Table:
    """A table of two seats that the host will start by hand."""
    token = new_token()
    answer = connection.tables.CreateTable(
        table_pb2.CreateTableRequest(
            request_id=new_id(),
            game="free-table",
            seats=2,
            options=POINTS,
            host_token_sha256=digest(token),
        ),
        metadata=bearer(token),
        timeout=TIMEOUT,
    )
    table = Table(connection, answer.table.table_id, token)
    table.sit(*names)
    return table
