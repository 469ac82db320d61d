"""An external store that may forget is refused, with the cure in the sentence."""

import time

import pytest

from tableturn_server.store import Connection, Severity, StoreRefused, check_store, open_store
from tests.store.support import Server, at, change, running_server

pytestmark = pytest.mark.e2e


async def test_a_good_store_has_no_problems(connection: Connection) -> None:
    assert await check_store(connection) == []


@pytest.mark.parametrize(
    ("options", "code", "severity", "cure"),
    [
        (["--maxmemory-policy", "allkeys-lru"], "policy", Severity.ERROR, "noeviction"),
        (["--appendonly", "no"], "persistence", Severity.ERROR, "appendonly yes"),
        (["--appendfsync", "everysec"], "persistence", Severity.WARNING, "appendfsync always"),
        (["--replicaof", "127.0.0.1 1"], "replica", Severity.ERROR, "primary"),
    ],
)
async def test_what_is_wrong_is_said_with_the_cure(
    options: list[str], code: str, severity: Severity, cure: str
) -> None:
    with running_server(*options) as server:
        async with Connection(server.url) as connection:
            (problem,) = await check_store(connection)
        assert (problem.code, problem.severity) == (code, severity)
        assert cure in problem.sentence
        if severity is Severity.ERROR:
            with pytest.raises(StoreRefused, match=cure):
                async with open_store(url=server.url):
                    pass
        else:
            async with open_store(url=server.url) as store:
                assert store.problems == [problem]
                assert store.embedded is None


async def test_where_config_is_forbidden_that_is_said(connection: Connection) -> None:
    with running_server("--maxmemory-policy", "volatile-ttl") as server:
        async with Connection(server.url) as admin:
            await admin.call("ACL", "SETUSER", "guest", "on", ">pw", "~*", "&*", "+@all", "-config")
        async with Connection(f"unix://guest:pw@{server.socket}") as guest:
            policy, fsync = await check_store(guest)
    assert (policy.code, policy.severity) == ("policy", Severity.ERROR)
    assert fsync.severity is Severity.WARNING
    assert fsync.sentence.startswith("Could not check")


@pytest.mark.parametrize(
    ("rights", "codes"),
    [
        ("~tt:* &tt:* +@all -@admin", ["persistence"]),
        ("~tt:* resetchannels +@all", ["channels"]),
        ("~other:* &* +@all", ["permissions"]),
        ("~tt:* &* +@all -eval", ["permissions"]),
    ],
)
async def test_the_rights_of_the_user_are_tried(rights: str, codes: list[str]) -> None:
    with running_server() as own:
        async with Connection(own.url) as admin:
            await admin.call("ACL", "SETUSER", "guest", "on", ">pw", *rights.split())
        async with Connection(f"unix://guest:pw@{own.socket}") as guest:
            assert [problem.code for problem in await check_store(guest)] == codes


async def test_without_channels_watchers_still_see_changes() -> None:
    with running_server() as own:
        async with Connection(own.url) as admin:
            await admin.call(
                *("ACL", "SETUSER", "guest", "on", ">pw", "~tt:*", "resetchannels", "+@all")
            )
        url = f"unix://guest:pw@{own.socket}"
        async with open_store(url=url, watch_interval=0.1) as store:
            await store.tables.create("a", None, change(1), created_ms=1)
            async with store.hub.watch("a") as signals:
                assert (await anext(signals)).revision == 1
                await store.tables.commit("a", at(1), None, change(2))
                assert (await anext(signals)).revision == 2


@pytest.mark.parametrize("skew", [-1.5, 1.5])
async def test_clocks_that_differ_are_refused(connection: Connection, skew: float) -> None:
    (problem,) = await check_store(connection, clock=lambda: time.time() + skew)
    assert (problem.code, problem.severity) == ("clock", Severity.ERROR)
    assert "1.5 s" in problem.sentence


async def test_an_external_store_is_not_ended(server: Server, connection: Connection) -> None:
    async with open_store(url=server.url) as store:
        assert await store.connection.call("PING") == b"PONG"
    assert await connection.call("PING") == b"PONG"
