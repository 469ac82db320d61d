"""Each way in which a call can fail is one error of the tree, with what is needed to act."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from tableturn.v1.errors_pb2 import ErrorReason
from tableturn_client import Client, Retry, connect, errors
from tableturn_client.cli.exits import Exit, exit_of, failure_of
from tableturn_client.errors import REASONS, Refusal, TableturnError
from tests.client.fake import Breaks, FakeService, Refuses

Code = grpc.StatusCode
ONCE = Retry(total=0.5, attempt=0.3, first=0.2)


def tree(kind: type[TableturnError] = TableturnError) -> list[type[TableturnError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]


def test_each_reason_of_the_protos_has_its_error() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()}  # noqa: SIM118
    assert set(REASONS) == names - {"UNSPECIFIED"}
    assert len(set(REASONS.values())) == len(REASONS)


async def test_a_refusal_carries_what_is_needed_to_act(fake: FakeService, client: Client) -> None:
    fake.expect(
        "Act",
        Refuses(
            Code.FAILED_PRECONDITION,
            "ILLEGAL_ACTION",
            "no boat lies at C3",
            {"revision": "41", "index": "2", "asked_at": "40", "field": "f", "place": "p"},
        ),
    )
    with pytest.raises(errors.IllegalAction) as raised:
        await client.seat("t1", 1, token="x-0123456789abcdef").act("claim", expected=4)
    refusal = Refusal("ILLEGAL_ACTION", "no boat lies at C3", 41, 2, "f", 40, "p")
    assert raised.value.refusal == refusal
    assert str(raised.value) == "no boat lies at C3"
    assert isinstance(raised.value, errors.NotNow)


async def test_a_limit_says_when_to_come_back(fake: FakeService, client: Client) -> None:
    limit = {"retry_after_ms": "1500", "revision": "not a number"}
    fake.expect("ListGames", Refuses(Code.RESOURCE_EXHAUSTED, "LIMIT_REACHED", metadata=limit))
    with pytest.raises(errors.LimitReached) as raised:
        await client.games()
    assert raised.value.retry_after == 1.5
    assert raised.value.revision is None


async def test_a_panel_of_another_bridge_says_whose(fake: FakeService, client: Client) -> None:
    held = {"holder": "attic-0002", "retry_after_ms": "2500", "revision": "7"}
    refusal = Refuses(Code.FAILED_PRECONDITION, "PANEL_HELD", metadata=held)
    fake.expect("HoldPanel", refusal)
    panel = client.panel("t1", 4711, token="x-0123456789abcdef", holder="kitchen-0001")
    with pytest.raises(errors.PanelHeld) as raised:
        await panel.hold()
    assert (raised.value.holder, raised.value.retry_after) == ("attic-0002", 2.5)
    assert exit_of(raised.value) is Exit.NOT_NOW
    details = failure_of(raised.value).details
    assert details == {"revision": 7, "retry_after": 2.5, "holder": "attic-0002"}
    fake.expect("Rematch", Refuses(Code.FAILED_PRECONDITION, "GAME_RUNNING"))
    with pytest.raises(errors.GameRunning) as running:
        await panel.rematch()
    assert exit_of(running.value) is Exit.NOT_NOW


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (Code.NOT_FOUND, errors.NotFound),
        (Code.INVALID_ARGUMENT, errors.BadRequest),
        (Code.FAILED_PRECONDITION, errors.NotNow),
        (Code.PERMISSION_DENIED, errors.NotPermitted),
        (Code.DATA_LOSS, errors.ServiceFault),
    ],
)
async def test_a_reason_of_a_later_version_is_told_by_its_code(
    fake: FakeService, client: Client, code: Code, kind: type[TableturnError]
) -> None:
    fake.expect("ListGames", Refuses(code, "SOMETHING_NEW"))
    with pytest.raises(kind):
        await client.games()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Breaks(Code.INTERNAL, "Traceback"), errors.ServiceFault),
        (Breaks(Code.UNKNOWN, "what"), errors.ServiceFault),
        (Breaks(Code.UNIMPLEMENTED, "Method not found!"), errors.NotSupported),
        (Breaks(Code.UNIMPLEMENTED, ""), errors.NotTableturn),
        (Breaks(Code.NOT_FOUND, "of somebody else"), errors.ServiceFault),
        (Refuses(Code.NOT_FOUND, "UNKNOWN_TABLE", domain="other"), errors.ServiceFault),
        (Breaks(Code.RESOURCE_EXHAUSTED, "Received message larger than max"), errors.ServiceFault),
        (Breaks(Code.UNKNOWN, "Received http2 header with status: 404"), errors.NotTableturn),
    ],
)
async def test_what_is_not_said_by_the_service(
    fake: FakeService, client: Client, answer: Any, kind: type[TableturnError]
) -> None:
    fake.expect("ListGames", answer)
    with pytest.raises(kind):
        await client.games()


@contextlib.asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[str]:
    """A server of another kind: it answers anything with these bytes, or with nothing."""
    writers: list[asyncio.StreamWriter] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(ConnectionError):
            await reader.read(100)
            if answer is not None:
                writer.write(answer)
                await writer.drain()
                writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in writers:
            writer.close()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", errors.NotTableturn),
        (b"SSH-2.0-OpenSSH_9.2\r\n", errors.NotTableturn),
        (b"", (errors.NotTableturn, errors.NoAnswer)),
        (None, errors.NoAnswer),
    ],
)
async def test_another_server_at_the_address(answer: bytes | None, kind: Any) -> None:
    async with answering(answer) as address, connect(address, retry=ONCE) as client:
        with pytest.raises(kind) as raised:
            await client.games()
    assert address in raised.value.sentence


async def test_another_grpc_service_at_the_address() -> None:
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with connect(f"127.0.0.1:{port}", retry=ONCE) as client:
            with pytest.raises(errors.BadAnswer) as raised:
                await client.games()
        assert "no Tableturn service" in raised.value.sentence
    finally:
        await server.stop(None)


async def test_encrypted_to_a_plain_service(fake: FakeService) -> None:
    async with connect(f"https://{fake.address}", retry=ONCE) as client:
        with pytest.raises((errors.NotTableturn, errors.NoAnswer)):
            await client.games()


async def test_a_name_that_is_no_machines() -> None:
    async with connect("no-such-machine.invalid", retry=ONCE) as client:
        with pytest.raises(errors.NoAnswer) as raised:
            await client.games()
    assert "no-such-machine.invalid:7430" in raised.value.sentence


# ---------------------------------------------------------------- exit codes


def test_each_error_has_an_exit() -> None:
    for kind in tree():
        error = kind.__new__(kind)
        assert exit_of(error) in Exit


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.BadAddress, 2),
        (errors.UnreadableText, 2),
        (errors.UnreadableAction, 2),
        (errors.UnknownTable, 3),
        (errors.BadToken, 4),
        (errors.NoCredentials, 4),
        (errors.IllegalAction, 5),
        (errors.TableExists, 5),
        (errors.StaleRevision, 6),
        (errors.CannotConnect, 7),
        (errors.DeadlinePassed, 7),
        (errors.StoreFull, 7),
        (errors.LimitReached, 8),
        (errors.NotTableturn, 70),
        (errors.ServiceFault, 70),
    ],
)
def test_scripts_can_tell_failures_apart(kind: type[TableturnError], code: int) -> None:
    assert exit_of(kind.__new__(kind)).value == code


def test_a_failure_is_one_line_without_control_characters() -> None:
    nasty = "no\x1b[31m\n such\x00 table " + "x" * 10_000
    failure = failure_of(errors.UnknownTable(Refusal("UNKNOWN_TABLE", nasty, revision=3)))
    assert failure.line.startswith("tableturn: no[31m such table x")
    assert failure.line.isprintable()
    assert len(failure.line) < 600
    assert "\n" not in failure.document
    assert '"revision": 3' in failure.document
