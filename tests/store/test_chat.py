"""What is said at a table, in a real server: each line once, in order, and only the last ones."""

import asyncio

import pytest

from tableturn_server.store import (
    ChatStore,
    Connection,
    Line,
    OtherRequest,
    Request,
    Said,
    Settings,
    Silenced,
    TableStore,
)
from tableturn_server.store.chat import MOST_LINES
from tests.store.support import ask, at, change

pytestmark = pytest.mark.e2e


@pytest.fixture
def chat(connection: Connection) -> ChatStore:
    return ChatStore(connection)


async def say(
    chat: ChatStore, table_id: str, n: int, *, seat: int = 1, request: Request | None = None
) -> Said | Silenced | OtherRequest:
    return await chat.say(
        table_id,
        request or ask(n),
        now_ms=1000 + n,
        seat=seat,
        name="Ann",
        text=f"line {n}",
        never_muted=not seat,
    )


def line(number: int, n: int, seat: int = 1) -> Line:
    return Line(number, 1000 + n, seat, "Ann", f"line {n}")


async def lines(chat: ChatStore, table_id: str, after: int = 0) -> list[Line]:
    (found,) = await chat.after([(table_id, after)])
    return found


async def test_lines_have_numbers_of_their_table(chat: ChatStore, table_id: str) -> None:
    assert await say(chat, table_id, 1) == Said(line(1, 1), replayed=False)
    assert await say(chat, table_id, 2) == Said(line(2, 2), replayed=False)
    assert await say(chat, f"{table_id}-2", 3) == Said(line(1, 3), replayed=False)
    assert await lines(chat, table_id) == [line(1, 1), line(2, 2)]
    assert await lines(chat, table_id, 1) == [line(2, 2)]
    assert await lines(chat, table_id, 2) == []
    both = [(table_id, 1), (f"{table_id}-2", 0), (f"{table_id}-3", 0)]
    assert await chat.after(both) == [[line(2, 2)], [line(1, 3)], []]
    assert (await chat.settings(table_id)).number == 2


@pytest.mark.case("S7", "S8")
async def test_a_line_is_said_once(chat: ChatStore, table_id: str) -> None:
    assert await chat.said(table_id, ask(1)) is None
    first = await say(chat, table_id, 1)
    assert isinstance(first, Said)
    again = await chat.say(table_id, ask(1), now_ms=9999, seat=1, name="Anna", text="line 1")
    assert again == Said(first.line, replayed=True) == await chat.said(table_id, ask(1))
    assert await say(chat, table_id, 1, request=ask(1, body=b"other")) == OtherRequest()
    assert await chat.said(table_id, ask(1, body=b"other")) == OtherRequest()
    # The same id of somebody else is another request.
    assert await say(chat, table_id, 2, request=ask(1, by="bob")) == Said(line(2, 2), False)
    assert len(await lines(chat, table_id)) == 2


async def test_sent_many_times_at_once_it_is_said_once(chat: ChatStore, table_id: str) -> None:
    found = await asyncio.gather(*(say(chat, table_id, n % 4) for n in range(40)))
    assert sum(isinstance(one, Said) and not one.replayed for one in found) == 4
    assert [one.number for one in await lines(chat, table_id)] == [1, 2, 3, 4]


async def test_only_the_last_lines_are_kept(chat: ChatStore, table_id: str) -> None:
    for n in range(1, MOST_LINES + 6):
        await say(chat, table_id, n)
    kept = await lines(chat, table_id)
    assert [one.number for one in kept] == list(range(6, MOST_LINES + 6))


async def test_nobody_speaks_while_it_is_off(chat: ChatStore, table_id: str) -> None:
    assert await chat.set(table_id, off=True) == Settings(off=True)
    assert await say(chat, table_id, 1) == Silenced(everybody=True)
    assert await say(chat, table_id, 2, seat=0) == Silenced(everybody=True)
    assert await chat.set(table_id) == Settings(off=True)
    assert await chat.set(table_id, off=False) == Settings()
    # What was refused is not remembered: it may be said now.
    assert await say(chat, table_id, 1) == Said(line(1, 1), replayed=False)


async def test_muted_seats_are_refused_and_the_host_never(chat: ChatStore, table_id: str) -> None:
    await say(chat, table_id, 1)
    assert await chat.set(table_id, mute=[1, 3]) == Settings(muted=(1, 3), number=1)
    assert await say(chat, table_id, 2) == Silenced(everybody=False)
    assert await say(chat, table_id, 1) == Said(line(1, 1), replayed=True)
    assert isinstance(await say(chat, table_id, 3, seat=2), Said)
    assert isinstance(await say(chat, table_id, 4, seat=0), Said)
    assert await chat.set(table_id, mute=[2], unmute=[1]) == Settings(muted=(2, 3), number=3)
    assert isinstance(await say(chat, table_id, 5), Said)
    assert await say(chat, table_id, 6, seat=2) == Silenced(everybody=False)


async def test_talk_is_no_change_of_the_table(
    chat: ChatStore, tables: TableStore, table_id: str
) -> None:
    await tables.create(table_id, None, change(1), created_ms=1)
    await say(chat, table_id, 1)
    assert await tables.revision(table_id) == at(1)
    assert len(await tables.log(table_id, 0, 10)) == 1
