"""The command: what it says, what it refuses, how it ends, and what outlives it."""

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import grpc
import pytest

from tableturn.v1 import table_pb2
from tableturn_server.service import announcing
from tests.service.support import (
    COMMAND,
    Caller,
    Served,
    digest,
    environment,
    failure_of,
    refused,
    serve,
    served,
)
from tests.store.support import Server, eventually

pb = table_pb2
pytestmark = pytest.mark.e2e

ADMIN_TOKEN = "an admin's token of this test"


def caller(service: Served, token: str = "", table_id: str = "") -> Caller:
    options = (
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.max_reconnect_backoff_ms", 200),
    )
    return Caller(grpc.aio.insecure_channel(service.address, options=options), token, table_id)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def read_to_the_end(watch: Any) -> None:
    while await watch.read() is not grpc.aio.EOF:
        pass


def fails(*options: str, env: dict[str, str] | None = None) -> str:
    """What the command says on stderr when it can't serve: one line."""
    done = subprocess.run(
        [*COMMAND, *options],
        capture_output=True,
        text=True,
        timeout=30,
        env=env or environment(),
        check=False,
    )
    assert done.returncode not in (0, None)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("tableturn: ")
    return lines[0]


async def test_one_line_says_where_it_serves_and_a_signal_ends_it(data: Path) -> None:
    with served(data, "--open", "free-table", "--seats", "3") as service:
        ready = service.ready
        assert ready["address"] == f"127.0.0.1:{ready['port']}"
        assert ready["pid"] == service.process.pid
        assert ready["fsync_ms"] > 0
        assert ready["store"].startswith("unix://")
        assert ready["tables"] == [
            {
                "table_id": "free-table",
                "game": "free-table",
                "seats": 3,
                "free_seats": 3,
                "status": "open",
            }
        ]
        assert (mode_of(data), mode_of(data / "admin.token")) == (0o700, 0o600)
        ann = caller(service, "the token of Ann, for tests", "free-table")
        await ann.takes_seat(name="Ann")
        await ann.channel.close()
        pid = int((data / "valkey.pid").read_text())
        assert service.ends() == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        log = service.log.read_text()
        assert "the token of Ann" not in log
        assert digest("the token of Ann, for tests").hex() not in log
        assert (data / "admin.token").read_text().strip() not in log
        assert all(json.loads(line)["event"] for line in log.splitlines())


async def test_an_opened_table_is_found_again_until_it_is_over(data: Path) -> None:
    admin = environment(TABLETURN_ADMIN_TOKEN=ADMIN_TOKEN)
    ann = ("the token of Ann, for tests", "free-table")
    with served(data, "--open", "free-table", env=admin) as service:
        first = caller(service, *ann)
        await first.takes_seat(name="Ann")
        await first.channel.close()
    with served(data, "--open", "free-table", env=admin) as service:
        (table,) = service.ready["tables"]
        assert (table["table_id"], table["free_seats"]) == ("free-table", 1)
        bob = caller(service, "the token of Bob, for tests", "free-table")
        await bob.takes_seat(name="Bob")
        await bob.changes("Concede")
        await bob.channel.close()
    with served(data, "--open", "free-table", "--open", "eastern-wonders", env=admin) as service:
        ids = [table["table_id"] for table in service.ready["tables"]]
        assert ids == ["free-table-2", "eastern-wonders"]
    with served(data, *("--open", "free-table") * 2, env=admin) as service:
        ids = [table["table_id"] for table in service.ready["tables"]]
        assert ids == ["free-table-2", "free-table-3"]
    wish = ("--open", "free-table", "--seats", "4", "--option", "points=on")
    with served(data, *wish, env=admin) as service:
        (table,) = service.ready["tables"]
        assert (table["table_id"], table["seats"]) == ("free-table-4", 4)
        host = caller(service, ADMIN_TOKEN, "free-table-4")
        view = await host.looks()
        assert view.options["points"] == "on"
        assert view.takeback == pb.TAKEBACK_POLICY_ALL_AGREE
        with refused("NOT_STARTED"):
            await host.changes("StartGame")
        await host.channel.close()


@pytest.mark.case("S3", "R5", "R6")
async def test_a_killed_service_goes_on_where_it_was(data: Path) -> None:
    service = serve(data, "--open", "free-table", "--option", "points=on")
    port = service.ready["port"]
    ann, bob = (
        caller(service, f"the token of {name}, for tests", "free-table") for name in ("Ann", "Bob")
    )
    for who in (ann, bob):
        await who.takes_seat()
    seen = bob.seen
    watch = ann.watches()
    assert (await watch.read()).snapshot.table.revision == seen
    turn = (await ann.looks()).prompts[0].seat
    who = (ann, bob)[turn - 1]
    await who.acts("score 5 for seat 1", confirm=True, request_id="a turn", at=seen)
    service.process.kill()
    service.process.wait()
    with pytest.raises(grpc.aio.AioRpcError):
        await read_to_the_end(watch)
    # The same port, the same data; the store had survived.
    with served(data, port=port):
        again = await who.acts("score 5 for seat 1", confirm=True, request_id="a turn", at=seen)
        assert (again.replayed, again.revision) == (True, seen + 1)
        view = await ann.looks()
        assert (view.revision, view.game_view.players[0].points) == (seen + 1, 5)
    for someone in (ann, bob):
        await someone.channel.close()
    assert service.process.stdout is not None
    service.process.stdout.close()


async def test_what_runs_is_finished_and_what_comes_is_refused(data: Path) -> None:
    with served(data, "--open", "free-table") as service:
        ann = caller(service, "the token of Ann, for tests", "free-table")
        await ann.takes_seat(name="Ann")
        watch = ann.watches()
        await watch.read()
        errors: list[grpc.aio.AioRpcError] = []

        async def calls() -> None:
            while not errors:
                try:
                    await ann.looks()
                except grpc.aio.AioRpcError as error:
                    errors.append(error)

        busy = [asyncio.create_task(calls()) for _ in range(4)]
        await asyncio.sleep(0.1)
        service.process.send_signal(signal.SIGTERM)
        with refused("SHUTTING_DOWN", "UNAVAILABLE"):
            await read_to_the_end(watch)
        await asyncio.gather(*busy)
        assert {error.code() for error in errors} == {grpc.StatusCode.UNAVAILABLE}
        told = [failure_of(error).reason for error in errors if error.trailing_metadata()]
        assert set(told) <= {"SHUTTING_DOWN"}
        assert service.process.wait(10) == 0
        await ann.channel.close()


def test_a_second_interrupt_leaves_at_once(data: Path, valkey: Server) -> None:
    with served(data, "--store", valkey.url) as service:
        service.process.send_signal(signal.SIGSTOP)
        for _ in range(2):
            service.process.send_signal(signal.SIGINT)
        service.process.send_signal(signal.SIGCONT)
        # Two signals that come together may count as one: it ends in any case.
        assert service.process.wait(10) in (0, 130)
        assert "Traceback" not in service.log.read_text()


def test_it_ends_with_whoever_started_it(data: Path) -> None:
    """Whoever dies has no time to end it; its standard input is closed in any case."""
    command = [*COMMAND, "--data", str(data), "--port", "0", "--json", "--until-eof"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["port"]
        pid = int((data / "valkey.pid").read_text())
        process.stdin.write(b"what is written there is of no interest\n")
        process.stdin.flush()
        os.kill(pid, 0)
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(15) == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_input_that_can_not_end(data: Path, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+") as file:
        done = subprocess.run(
            [*COMMAND, "--data", str(data), "--port", "0", "--until-eof"],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert "--until-eof needs a standard input that can be waited for" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken(data: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = fails("--data", str(data), "--port", str(port))
    assert f"port {port} is in use" in said
    assert "--port" in said


def test_a_second_service_on_the_same_port_or_the_same_data(data: Path) -> None:
    with served(data) as service:
        other = data.with_name("other")
        assert "is in use" in fails("--data", str(other), "--port", str(service.ready["port"]))
        said = fails("--data", str(data), "--port", "0")
        assert f"pid {service.process.pid}" in said


def test_a_data_directory_that_can_not_be_used(data: Path) -> None:
    data.write_text("a file")
    assert "--data" in fails("--data", str(data / "below"), "--port", "0")
    if os.getuid():
        locked = data.with_name("locked")
        locked.mkdir(mode=0o500)
        assert "--data" in fails("--data", str(locked / "data"), "--port", "0")


def test_a_store_that_can_not_be_used(data: Path) -> None:
    here = ("--data", str(data), "--port", "0")
    said = fails(*here, "--store", "redis://:a-secret@127.0.0.1:1/0")
    assert "127.0.0.1:1" in said
    assert "a-secret" not in said
    assert "option" in fails(*here, "--store", "redis://localhost?colour=red")
    env = environment(TABLETURN_STORE="redis://:a-secret@127.0.0.1:1/0")
    assert "a-secret" not in fails(*here, env=env)
    assert "no Valkey or Redis" in fails(*here, "--valkey", "/bin/true")


def test_a_store_that_may_forget_is_refused(data: Path) -> None:
    from tests.store.support import running_server

    with running_server("--appendonly", "no") as forgetful:
        said = fails("--data", str(data), "--port", "0", "--store", forgetful.url)
    assert "appendonly" in said


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--open", "chess"), "chess"),
        (("--open", "free-table", "--seats", "1"), "seats"),
        (("--open", "free-table", "--option", "order=sideways"), "order"),
        (("--open", "free-table", "--option", "colour=red"), "colour"),
    ],
)
def test_a_table_that_can_not_be_opened(data: Path, options: tuple[str, ...], word: str) -> None:
    assert word in fails("--data", str(data), "--port", "0", *options)


def test_an_admin_token_that_is_too_short(data: Path) -> None:
    env = environment(TABLETURN_ADMIN_TOKEN="short")
    assert "16" in fails("--data", str(data), "--port", "0", env=env)


def test_what_is_typed_wrong_is_said_by_the_command_line(data: Path) -> None:
    for options in (("--lan", "--host", "0.0.0.0"), ("--option", "a=b"), ("--port", "x")):
        done = subprocess.run(
            [*COMMAND, "--data", str(data), *options],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 2
        assert "Usage" in done.stderr


def test_people_are_told_how_to_join(data: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--data", str(data), "--port", "0", "--lan", "--open", "eastern-wonders"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if "--name Bob" in line:
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 0
    process.stdout.close()
    said = "\n".join(lines)
    assert str(data) in said
    assert "fsync" in said
    assert "Nothing is encrypted" in said
    link = re.search(r"tableturn://([\d.]+):(\d+)", said)
    assert link is not None
    assert "\u2580" in said or "\u2584" in said  # the QR code
    command = shlex.split(next(line for line in lines if "--name Ann" in line))
    assert command[1:] == [
        "play",
        "eastern-wonders",
        "--name",
        "Ann",
        "--server",
        f"127.0.0.1:{link[2]}",
    ]


def test_the_command_line_is_named_as_it_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "tableturn"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert announcing.program(["bin/tableturn"]) == "bin/tableturn"
    assert announcing.program([str(program)]) == "bin/tableturn"
    monkeypatch.setenv("PATH", str(program.parent))
    assert announcing.program([str(program)]) == "tableturn"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PATH", "/nowhere")
    assert announcing.program([str(program)]) == str(program)


async def test_a_full_store_is_told_as_such(data: Path) -> None:
    with served(data, "--open", "free-table") as service:
        ann = caller(service, "the token of Ann, for tests", "free-table")
        from tableturn_server.store import Connection

        async with Connection(service.ready["store"]) as connection:
            await connection.call("CONFIG", "SET", "maxmemory", "1")
            with refused("STORE_FULL", "UNAVAILABLE"):
                await ann.takes_seat(name="Ann")
            await connection.call("CONFIG", "SET", "maxmemory", "0")
        await ann.takes_seat(name="Ann")
        await ann.channel.close()


async def test_a_store_that_dies_is_back_in_a_moment(data: Path) -> None:
    with served(data, "--open", "free-table") as service:
        ann = caller(service, "the token of Ann, for tests", "free-table")
        await ann.takes_seat(name="Ann")
        os.kill(int((data / "valkey.pid").read_text()), signal.SIGKILL)
        begin = time.monotonic()

        reasons = set()

        async def back() -> bool:
            try:
                return bool(await ann.looks())
            except grpc.aio.AioRpcError as error:
                reasons.add(failure_of(error).reason)
                return False

        await eventually(back)
        assert reasons <= {"STORE_UNAVAILABLE"}
        assert time.monotonic() - begin < 8
        assert (await ann.looks()).viewer == 1
        await ann.channel.close()
