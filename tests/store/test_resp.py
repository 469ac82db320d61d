"""The shared connection: every caller gets its own reply, or a clear error, and in time."""

import asyncio
import random
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from tableturn_server.store import (
    Connection,
    Endpoint,
    Script,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)
from tableturn_server.store.errors import error_from_reply
from tests.store.support import Proxy, Server, eventually, new_id, running_server

pytestmark = pytest.mark.e2e


async def test_replies_come_to_their_callers(connection: Connection) -> None:
    replies = await asyncio.gather(*(connection.call("ECHO", f"{n}") for n in range(500)))
    assert replies == [b"%d" % n for n in range(500)]


async def test_any_bytes_go_in_and_come_out(connection: Connection) -> None:
    blob = bytes(range(256)) * 4096 + b"\r\n$-1\r\n"
    assert await connection.call("ECHO", blob) == blob


async def test_a_pipeline_keeps_errors_in_their_places(connection: Connection) -> None:
    name = new_id()
    replies = await connection.pipeline([("SET", name, "x"), ("INCR", name), ("GET", name)])
    assert replies[0] == b"OK"
    assert isinstance(replies[1], StoreError)
    assert replies[2] == b"x"
    single = await connection.pipeline([("INCR", name)])
    assert isinstance(single[0], StoreError)
    assert await connection.pipeline([]) == []


async def test_a_script_is_sent_when_the_store_does_not_know_it(connection: Connection) -> None:
    script = Script(f"return {{KEYS[1], ARGV[1], '{new_id()}'}}")
    for _ in range(2):
        assert (await script(connection, ["k"], [b"\0"]))[:2] == [b"k", b"\0"]
    await connection.call("SCRIPT", "FLUSH")
    assert (await script(connection, ["k"], [b"\0"]))[:2] == [b"k", b"\0"]


@pytest.mark.case("D7")
async def test_cancelled_calls_leave_no_reply_behind(connection: Connection) -> None:
    chance = random.Random(7)
    for _ in range(20):
        storm = [
            asyncio.create_task(connection.call("ECHO", f"storm-{n}"))
            if n % 3
            else asyncio.create_task(connection.pipeline([("ECHO", "a"), ("ECHO", "b")]))
            for n in range(50)
        ]
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        for task in storm:
            if chance.random() < 0.7:
                task.cancel()
        mine = await asyncio.gather(*(connection.call("ECHO", f"mine-{n}") for n in range(10)))
        assert mine == [b"mine-%d" % n for n in range(10)]
        await asyncio.gather(*storm, return_exceptions=True)
    assert connection.waiting == 0
    assert connection.connected


@pytest.mark.case("D7")
async def test_one_impatient_caller_does_not_cut_off_the_others(server: Server) -> None:
    async with Connection(server.url) as connection, Connection(server.url) as other:
        await other.call("CLIENT", "PAUSE", 200)
        patient = asyncio.create_task(connection.call("ECHO", "patient"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await connection.call("ECHO", "impatient")
        assert await patient == b"patient"
        assert await connection.call("ECHO", "next") == b"next"


async def test_a_killed_connection_opens_again(server: Server) -> None:
    async with Connection(server.url) as connection, Connection(server.url) as killer:
        for _ in range(5):
            number = await connection.call("CLIENT", "ID")
            await killer.call("CLIENT", "KILL", "ID", number)
            await eventually(lambda: not connection.connected)
            assert await connection.call("ECHO", "again") == b"again"
            assert await connection.call("CLIENT", "ID") != number


async def test_calls_in_flight_fail_when_the_connection_is_lost(server: Server) -> None:
    proxy = Proxy(server.socket)
    async with proxy.listen() as port, Connection(f"redis://127.0.0.1:{port}") as connection:
        proxy.hang = True
        calls = [asyncio.create_task(connection.call("ECHO", f"{n}")) for n in range(20)]
        await eventually(lambda: connection.waiting == 20)
        connection.drop("test")
        for call in calls:
            with pytest.raises(StoreUnavailable) as caught:
                await call
            assert caught.value.maybe_done


async def test_a_lost_reply_is_an_error_and_nothing_is_sent_twice(
    server: Server, connection: Connection
) -> None:
    proxy = Proxy(server.socket)
    name = new_id()
    async with proxy.listen() as port, Connection(f"redis://127.0.0.1:{port}") as through:
        proxy.swallow = True
        with pytest.raises(StoreUnavailable) as caught:
            await through.call("INCR", name)
        assert caught.value.maybe_done
        proxy.swallow = False
        assert await through.call("ECHO", "back") == b"back"
        assert proxy.accepted == 2
    assert await connection.call("GET", name) == b"1"


@pytest.mark.case("D4")
async def test_a_store_that_hangs_costs_a_call_no_more_than_its_limit(server: Server) -> None:
    proxy = Proxy(server.socket)
    async with (
        proxy.listen() as port,
        Connection(f"redis://127.0.0.1:{port}", timeout=0.3) as connection,
    ):
        proxy.hang = True
        begin = time.monotonic()
        with pytest.raises(StoreUnavailable, match="in time"):
            await connection.call("ECHO", "x")
        assert time.monotonic() - begin < 2
        assert not connection.connected
        proxy.hang = False
        assert await connection.call("ECHO", "y") == b"y"


@pytest.mark.case("D4")
async def test_a_store_that_is_away_is_told_at_once(tmp_path: Path) -> None:
    connection = Connection(f"unix://{tmp_path}/none.sock", patience=0.2)
    begin = time.monotonic()
    with pytest.raises(StoreUnavailable) as caught:
        await connection.call("PING")
    assert not caught.value.maybe_done
    answers = [await _error(connection) for _ in range(100)]
    assert any("away" in answer.sentence for answer in answers)
    assert time.monotonic() - begin < 2
    await connection.close()


async def _error(connection: Connection) -> StoreError:
    with pytest.raises(StoreUnavailable) as caught:
        await connection.call("PING")
    return caught.value


async def test_a_restart_goes_unnoticed_between_calls(server: Server) -> None:
    """The listener is away for a while; a call that comes meanwhile waits for it."""
    proxy = Proxy(server.socket)
    path = str(server.socket.with_name(f"{new_id()}.sock"))
    connection = Connection(f"unix://{path}", patience=5)
    async with proxy.listen(path=path):
        await connection.connect()
    await eventually(lambda: not connection.connected)
    call = asyncio.create_task(connection.call("ECHO", "patient"))
    await asyncio.sleep(0)
    async with proxy.listen(path=path):
        assert await call == b"patient"
        await connection.close()


async def test_a_closed_connection_stays_closed(server: Server) -> None:
    connection = Connection(server.url)
    await connection.connect()
    await connection.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await connection.call("PING")


async def test_closing_while_opening_leaves_no_task(tmp_path: Path) -> None:
    connection = Connection(f"unix://{tmp_path}/none.sock", patience=30)
    call = asyncio.create_task(connection.call("PING"))
    await asyncio.sleep(0)  # now it waits for the connection
    await connection.close()
    with pytest.raises(StoreUnavailable):
        await call


async def test_too_many_calls_are_refused_at_once(server: Server) -> None:
    async with Connection(server.url, max_waiting=10) as connection:
        answers = await asyncio.gather(
            *(connection.call("ECHO", "x") for _ in range(20)), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [bytes] * 10 + [StoreUnavailable] * 10


async def test_passwords_and_databases_in_the_url() -> None:
    with running_server("--requirepass", "se/cr@t") as locked:
        base = f"unix://:se%2Fcr%40t@{locked.socket}"
        async with Connection(f"{base}?db=3") as connection:
            await connection.call("SET", "here", "3")
            assert b"db=3" in await connection.call("CLIENT", "INFO")
            await connection.call(
                *("ACL", "SETUSER", "table", "on", ">pw", "~*", "+@all", "-config")
            )
        async with Connection(f"unix://table:pw@{locked.socket}?db=3") as connection:
            assert await connection.call("GET", "here") == b"3"
            with pytest.raises(StoreRefused, match="NOPERM"):
                await connection.call("CONFIG", "GET", "port")
        for wrong in (f"unix://:wrong@{locked.socket}", locked.url):
            connection = Connection(wrong)
            with pytest.raises(StoreRefused, match=r"NOAUTH|WRONGPASS"):
                await connection.call("PING")
            await connection.close()


async def test_tls_checks_the_certificate(server: Server, tmp_path: Path) -> None:
    """The wheel's program has no TLS, so TLS ends in a proxy, as it does with many hosts."""
    _make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    proxy = Proxy(server.socket)
    async with proxy.listen(tls=context) as port:
        url = f"rediss://localhost:{port}?ssl_ca_certs={tmp_path}/cert.pem"
        async with Connection(url) as connection:
            blob = b"x" * 3_000_000
            assert await connection.call("ECHO", blob) == blob
        for untrusted in (
            f"rediss://localhost:{port}",
            f"rediss://127.0.0.1:{port}?ssl_ca_certs={tmp_path}/cert.pem",
        ):
            connection = Connection(untrusted, patience=0)
            with pytest.raises(StoreUnavailable, match="certificate"):
                await connection.call("PING")
            await connection.close()
        async with Connection(f"rediss://127.0.0.1:{port}?ssl_cert_reqs=none") as connection:
            assert await connection.call("PING") == b"PONG"


def _make_certificate(directory: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    command += " -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(
        [*command.split(), "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=directory,
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("http://localhost", "scheme"),
        ("redis://localhost?colour=red", "colour"),
        ("redis://localhost?ssl_ca_certs=x", "rediss"),
        ("unix://", "path"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        Endpoint.parse(url)


def test_an_endpoint_never_shows_its_password() -> None:
    endpoint = Endpoint.parse("redis://user:secret@[::1]:7000/2")
    assert str(endpoint) == "redis://[::1]:7000/2"
    assert "secret" not in repr(endpoint)
    assert (endpoint.username, endpoint.password, endpoint.db) == ("user", "secret", 2)


@pytest.mark.case("D2")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("LOADING Valkey is loading the dataset in memory", StoreUnavailable),
        ("READONLY You can't write against a read only replica.", StoreUnavailable),
        ("MASTERDOWN Link with MASTER is down", StoreUnavailable),
        ("CLUSTERDOWN The cluster is down", StoreUnavailable),
        ("OOM command not allowed when used memory > 'maxmemory'.", StoreFull),
        ("MISCONF Errors writing to the AOF file: No space left on device", StoreFull),
        ("NOAUTH Authentication required.", StoreRefused),
        ("ERR unknown command", StoreError),
    ],
)
def test_error_replies_have_types(said: str, kind: type[StoreError]) -> None:
    assert type(error_from_reply(said)) is kind


@pytest.mark.case("D2")
async def test_a_demoted_primary_is_left(server: Server) -> None:
    """READONLY closes the socket, so that the next call looks up the name anew."""
    with running_server() as demoted:
        async with Connection(demoted.url) as connection:
            number = await connection.call("CLIENT", "ID")
            await connection.call("REPLICAOF", "127.0.0.1", "1")
            with pytest.raises(StoreUnavailable, match="READONLY") as caught:
                await connection.call("SET", "a", "b")
            assert not caught.value.maybe_done
            await connection.call("REPLICAOF", "NO", "ONE")
            assert await connection.call("CLIENT", "ID") != number
            assert await connection.call("SET", "a", "b") == b"OK"
