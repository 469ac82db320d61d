"""What is said at a table, in a real server: each line once, in order, and only the last ones."""

import asyncio

import pytest

from tableturn_server.store import (
    ChatStore,
    Connection,
    Line,
    Person,
    Request,
    Reused,
    Said,
    Settings,
    Silenced,
    TableStore,
    TooMuch,
)
from tableturn_server.store.chat import MOST_LINES, MOST_MUTED, MOST_UNHEARD
from tests.store.support import ask, at, change

pytestmark = pytest.mark.e2e

A, B, C = (bytes([n]) * 32 for n in (10, 11, 12))
ANN, BOB = Person(1, 5, A), Person(2, 6, B)


@pytest.fixture
def chat(connection: Connection) -> ChatStore:
    return ChatStore(connection)


async def say(
    chat: ChatStore,
    table_id: str,
    n: int,
    *people: Person,
    seat: int = 1,
    request: Request | None = None,
    at: int | None = None,
    most: int = 0,
    delay_ms: int = 0,
) -> Said | Silenced | TooMuch | Reused:
    return await chat.say(
        table_id,
        request or ask(n),
        now_ms=1000 + n if at is None else at,
        seat=seat,
        name="Ann",
        text=f"line {n}",
        people=people,
        most=most,
        delay_ms=delay_ms,
    )


async def is_heard(chat: ChatStore, table_id: str, n: int, *people: Person) -> bool:
    """Somebody says something; False if they are muted."""
    said = await say(chat, table_id, n, *people)
    assert said == Silenced(everybody=False) or isinstance(said, Said)
    settings = await chat.settings(table_id)
    assert any(map(settings.is_muted, people)) is not isinstance(said, Said)
    return isinstance(said, Said)


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
    first = await say(chat, table_id, 1)
    assert isinstance(first, Said)
    again = await chat.say(table_id, ask(1), now_ms=9999, seat=1, name="Anna", text="line 1")
    assert again == Said(first.line, replayed=True)
    assert await say(chat, table_id, 1, request=ask(1, body=b"other")) == Reused()
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


async def test_lines_that_spectators_are_still_to_hear_are_kept(
    chat: ChatStore, table_id: str
) -> None:
    """One line in a second, heard five minutes later, and then one when all have been heard."""
    for n in range(1, 402):
        await say(chat, table_id, n, at=n * 1000, delay_ms=300_000)
    assert [one.number for one in await lines(chat, table_id)] == list(range(102, 402))
    await say(chat, table_id, 402, at=900_000, delay_ms=300_000)
    assert [one.number for one in await lines(chat, table_id)] == list(range(203, 403))


async def test_they_are_not_kept_without_end(chat: ChatStore, table_id: str) -> None:
    for n in range(1, MOST_UNHEARD + 4):
        await say(chat, table_id, n, delay_ms=24 * 3600 * 1000)
    kept = await lines(chat, table_id)
    assert (len(kept), kept[0].number) == (MOST_UNHEARD, 4)


async def test_nobody_speaks_while_it_is_off(chat: ChatStore, table_id: str) -> None:
    assert await chat.set(table_id, off=True) == Settings(off=True)
    assert await say(chat, table_id, 1) == Silenced(everybody=True)
    assert await say(chat, table_id, 2, seat=0) == Silenced(everybody=True)
    assert await chat.set(table_id) == Settings(off=True)
    assert await chat.set(table_id, off=False) == Settings()
    # What was refused is not remembered: it may be said now.
    assert await say(chat, table_id, 1) == Said(line(1, 1), replayed=False)


async def test_who_is_muted_is_refused_and_the_host_never(chat: ChatStore, table_id: str) -> None:
    await say(chat, table_id, 1, ANN)
    settings = await chat.set(table_id, mute=[ANN])
    assert (settings.off, settings.number, set(settings.muted)) == (False, 1, {ANN.place})
    assert not await is_heard(chat, table_id, 2, ANN)
    assert await say(chat, table_id, 1, ANN) == Said(line(1, 1), replayed=True)
    assert await is_heard(chat, table_id, 3, BOB)
    assert isinstance(await say(chat, table_id, 4, seat=0), Said)
    await chat.set(table_id, mute=[BOB], unmute=[ANN])
    assert await is_heard(chat, table_id, 5, ANN)
    assert not await is_heard(chat, table_id, 6, BOB)
    await chat.set(table_id, mute=[BOB], unmute=[BOB])
    assert not await is_heard(chat, table_id, 6, BOB)


async def test_a_mute_is_of_a_person_not_of_a_seat(chat: ChatStore, table_id: str) -> None:
    await chat.set(table_id, mute=[ANN])
    assert await is_heard(chat, table_id, 1, Person(1, 9, B))  # who sits there later
    for n, place in enumerate(((1, 9), (2, 9), (11, 5)), 2):
        assert not await is_heard(chat, table_id, n, Person(*place, A))
    # Nor does a second seat of the same person help.
    assert not await is_heard(chat, table_id, 6, Person(3, 4, C), ANN)
    # Somebody without a token, at a panel, is muted there alone.
    await chat.set(table_id, mute=[Person(4, 8)])
    assert not await is_heard(chat, table_id, 7, Person(4, 8))
    assert await is_heard(chat, table_id, 8, Person(5, 8))
    await chat.set(table_id, unmute=[Person(2, 9, A)])
    assert await is_heard(chat, table_id, 9, ANN)


async def test_a_mute_goes_along_to_another_device(chat: ChatStore, table_id: str) -> None:
    await chat.set(table_id, mute=[ANN])
    await chat.moves(table_id, [BOB], bytes(32))  # not muted
    await chat.moves(table_id, [Person(1, 5, b"")], B)
    await chat.moves(table_id, [Person(2, 9, B)], C)  # she has changed the seat in between
    await chat.moves(table_id, [Person(2, 9, B)], C)
    for n, token in enumerate((A, B, C)):
        assert not await is_heard(chat, table_id, n, Person(3, 12, token))
    assert await is_heard(chat, table_id, 4, Person(3, 12, bytes(32)))
    assert (await chat.settings(table_id)).muted == {"1 5": {A.hex(), B.hex(), C.hex()}}
    await chat.set(table_id, unmute=[Person(3, 12, C)])
    assert (await chat.settings(table_id)).muted == {}


async def test_it_is_remembered_of_so_many(chat: ChatStore, table_id: str) -> None:
    for since in range(1, MOST_MUTED + 20):
        await chat.set(table_id, mute=[Person(1 + since % 2, since, since.to_bytes(32))])
    for n in range(100):
        await chat.moves(table_id, [Person(1, 100)], n.to_bytes(32, "little"))
    muted = (await chat.settings(table_id)).muted
    assert {int(place.split()[1]) for place in muted} == set(range(20, MOST_MUTED + 20))
    assert 2 <= len(muted["1 100"]) <= 16


async def test_a_seat_says_so_much_in_a_row(chat: ChatStore, table_id: str) -> None:
    """Whatever tokens it has, through whichever process; each seat and the host for itself."""

    async def says(n: int, at: int, seat: int = 1) -> int:
        said = await say(chat, table_id, n, seat=seat, request=ask(n, by=str(n)), at=at, most=5)
        assert isinstance(said, Said | TooMuch)
        return said.wait_ms if isinstance(said, TooMuch) else 0

    begin = 1_790_000_000_000
    assert [await says(n, begin + n * 1000) for n in range(7)] == [0, 0, 0, 0, 0, 5000, 4000]
    assert [await says(n, begin + 6000, seat=n % 2 * 2) for n in range(20, 32)].count(0) == 10
    assert [await says(n, begin + 9999) for n in (40, 41)] == [1, 1]
    assert [await says(n, begin + 10_000) for n in (40, 41)] == [0, 1000]
    # What was said is said again, and a clock that was put back keeps nobody from speaking.
    known = await say(chat, table_id, 3, request=ask(3, by="3"), at=begin + 10_000, most=5)
    assert isinstance(known, Said)
    assert known.replayed
    assert [await says(n, begin - 3_600_000) for n in range(50, 56)] == [0, 0, 0, 0, 0, 10_000]


async def test_many_lines_at_once_are_no_way_around(chat: ChatStore, table_id: str) -> None:
    found = await asyncio.gather(
        *(say(chat, table_id, n, request=ask(n, by=str(n)), at=1, most=5) for n in range(30))
    )
    assert sum(isinstance(one, Said) for one in found) == 5


async def test_talk_is_no_change_of_the_table(
    chat: ChatStore, tables: TableStore, table_id: str
) -> None:
    await tables.create(table_id, None, change(1), created_ms=1)
    await say(chat, table_id, 1)
    assert await tables.revision(table_id) == at(1)
    assert len(await tables.log(table_id, 0, 10)) == 1
