"""Talk at a table: who may speak, what is heard by whom, and each line once."""

import asyncio
from dataclasses import replace

import pytest

from tableturn.v1 import company_pb2
from tableturn_server.service.limits import Limits
from tableturn_server.store import ChatStore, Person, Request
from tableturn_server.store.chat import MOST_LINES
from tests.service.company import Listening, asks, hears, says, sits_down
from tests.service.panels import a_panel
from tests.service.support import (
    ADMIN,
    NO_LIMITS,
    Running,
    digest,
    new_id,
    outcome,
    refused,
    serving,
)
from tests.store.support import Server

cp = company_pb2
pytestmark = pytest.mark.e2e


async def test_what_is_said_is_heard_by_all_who_may_see_the_table(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    line = (await says(ann, "  hello  ")).line
    assert (line.number, line.seat, line.name, line.text) == (1, 1, ann.token[:20].strip(), "hello")
    assert line.time.seconds > 0
    line = (await says(host, "welcome")).line
    assert (line.number, line.seat, line.name) == (2, 0, "")
    for who in (host, ann, bob, running.caller("", host.table_id)):
        assert await hears(who) == ["hello", "welcome"]
        assert await hears(who, after=1) == ["welcome"]
    # It is beside the table: no revision, no log entry.
    assert (await host.looks()).revision == ann.seen
    assert len(await host.reads_log()) == ann.seen


async def test_a_watch_tells_what_is_said_from_then_on(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url, watch_interval=60) as two:
        host, (ann, bob) = await one.a_game()
        await says(ann, "before")
        listening = [
            await Listening(caller).begins()
            for caller in (
                host,
                ann,
                two.caller(bob.token, host.table_id),
                two.caller("", host.table_id),
            )
        ]
        for n in range(5):
            await says((ann, bob)[n % 2], f"line {n}")
        there = two.caller(ann.token, host.table_id)
        await says(there, "from the other service")
        for who in listening:
            heard = await who.hears(6)
            assert heard == [*(f"line {n}" for n in range(5)), "from the other service"]
            assert "heartbeat" not in who.kinds
            who.ends()


async def test_said_at_once_everybody_hears_the_same(running: Running) -> None:
    host, people = await running.a_game(seats=4)
    listening = [await Listening(host).begins() for _ in range(3)]
    await asyncio.gather(*(says(people[n % 4], f"line {n}") for n in range(20)))
    for who in listening:
        assert await who.hears(20) == await hears(host)
        who.ends()


async def test_a_lost_wake_up_is_made_good_at_the_next_sign_of_life(valkey: Server) -> None:
    async with serving(valkey.url, heartbeat=0.05) as running:
        host, (ann, _) = await running.a_game()
        listening = await Listening(host).begins()
        while listening.kinds[-2:] != ["heartbeat"] * 2:  # all earlier wake-ups were heard
            await listening.read()
        chat = ChatStore(running.store.connection)
        request = Request("ann", "a line", b"body")
        await chat.say(host.table_id, request, now_ms=1, seat=1, name="Ann", text="unheard?")
        assert await listening.hears(1) == ["unheard?"]
        await says(ann, "heard")
        assert await listening.hears(2) == ["unheard?", "heard"]
        listening.ends()


@pytest.mark.case("S7", "S8")
async def test_a_line_that_is_sent_again_is_said_once(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    listening = await Listening(bob).begins()
    first = await says(ann, "once", request_id="a line")
    again = await says(ann, "once", request_id="a line")
    assert (again.replayed, again.line) == (True, first.line)
    with refused("REQUEST_ID_REUSED", "INVALID_ARGUMENT", field="request_id"):
        await says(ann, "something else", request_id="a line")
    assert not (await says(bob, "once", request_id="a line")).replayed
    assert await listening.hears(2) == ["once", "once"] == await hears(host)
    listening.ends()
    with refused("BAD_FIELD", field="request_id"):
        await says(ann, "no id", request_id="x" * 65)


async def test_what_can_be_said(running: Running) -> None:
    _, (ann, _) = await running.a_game()
    for text in ("", "   ", "two\nlines", "a bell \a", "back\u202ewards", "\u200b", "x" * 301):
        with refused("BAD_FIELD", "INVALID_ARGUMENT", field="text"):
            await says(ann, text)
    for text in ("x" * 300, "ü" * 300, "👩‍👧 da!"):
        assert (await says(ann, text)).line.text == text


async def test_who_may_speak(running: Running) -> None:
    host, (ann, bob) = await running.a_game(watch_token_sha256=digest("the watch token, for tests"))
    watch = running.caller("the watch token, for tests", host.table_id)
    for who, reason in (
        (watch, "NOT_ALLOWED"),
        (running.caller("an unknown token", host.table_id), "BAD_TOKEN"),
    ):
        with refused(reason, revision=ann.seen):
            await says(who, "me too")
    assert await outcome(says(running.caller("", host.table_id), "me too")) == "BAD_TOKEN"
    with refused("NOT_ALLOWED"):
        await says(ann, "as Bob", seat=2)
    with refused("UNKNOWN_NAME", field="seat"):
        await says(ann, "as nobody", seat=3)
    assert (await says(running.caller(ADMIN, host.table_id), "order")).line.seat == 0
    assert (await says(bob, "as myself", seat=2)).line.seat == 2
    assert await hears(watch) == ["order", "as myself"]
    for who in (
        running.caller("", host.table_id),
        running.caller("an unknown token", host.table_id),
    ):
        with refused("BAD_TOKEN"):
            await hears(who)
    with refused("UNKNOWN_TABLE"):
        await hears(running.caller("", new_id()))


async def test_who_has_dropped_out_still_talks_and_who_has_left_does_not(running: Running) -> None:
    _, (ann, bob, _) = await running.a_game(seats=3)
    await ann.changes("Concede")
    assert (await says(ann, "well played")).line.seat == 1
    await bob.changes("LeaveSeat")
    with refused("BAD_TOKEN"):
        await says(bob, "one more thing")


async def test_who_has_several_seats_speaks_for_the_lowest(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    panel = await a_panel(host, running, [1, 2])
    with refused("NOT_ALLOWED"):  # it serves their seats, and holds none
        await says(panel, "beep")
    again = running.caller(ann.token, host.table_id)
    assert (await says(again, "I")).line.seat == 1


async def test_the_host_switches_it_off_and_on(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    with refused("NOT_ALLOWED"):
        await asks(ann, "SetChat", mode=cp.CHAT_MODE_OFF)
    answer = await asks(host, "SetChat", mode=cp.CHAT_MODE_OFF)
    assert answer.mode == cp.CHAT_MODE_OFF
    for who in (ann, host):
        with refused("NOT_ALLOWED", "PERMISSION_DENIED") as failure:
            await says(who, "hello?")
        assert "off" in failure.sentence
    assert (await asks(ann, "ListChat")).mode == cp.CHAT_MODE_OFF
    assert (await asks(host, "SetChat")).mode == cp.CHAT_MODE_OFF
    assert (await asks(host, "SetChat", mode=cp.CHAT_MODE_SEATS)).mode == cp.CHAT_MODE_SEATS
    assert (await says(ann, "hello!")).line.number == 1
    with refused("BAD_FIELD", field="mode"):
        await asks(host, "SetChat", mode=9)


async def test_the_host_mutes_seats_and_is_never_muted(running: Running) -> None:
    host, (ann, bob) = await running.a_game()
    await says(ann, "before")
    assert list((await asks(host, "SetChat", mute=[2, 1, 2])).muted) == [1, 2]
    for who in (ann, bob):
        with refused("NOT_ALLOWED", "PERMISSION_DENIED") as failure:
            await says(who, "mmh")
        assert "muted" in failure.sentence
    assert (await says(host, "silence")).line.number == 2
    answer = await asks(bob, "ListChat")
    assert (answer.mode, list(answer.muted)) == (cp.CHAT_MODE_SEATS, [1, 2])
    assert list((await asks(host, "SetChat", unmute=[1])).muted) == [2]
    assert (await says(ann, "thanks")).line.number == 3
    for fields in ({"mute": [3]}, {"unmute": [0]}):
        with refused("UNKNOWN_NAME", field=next(iter(fields))):
            await asks(host, "SetChat", **fields)
    with refused("BAD_FIELD", field="unmute"):
        await asks(host, "SetChat", mute=[1], unmute=[1])


async def test_a_mute_goes_with_its_person(running: Running) -> None:
    """To other seats and devices; whoever comes to the seat later is not muted."""
    host = await running.a_table("free-table", seats=4, start_when_full=False)
    ann, bob = (running.caller(f"the token of {name}, for tests", host.table_id) for name in "AB")

    async def muted() -> list[int]:
        return list((await asks(bob, "ListChat")).muted)

    with refused("BAD_FIELD", field="mute"):
        await asks(host, "SetChat", mute=[1])
    await ann.takes_seat(1)
    await asks(host, "SetChat", mute=[1])
    await ann.changes("LeaveSeat")
    await bob.takes_seat(1)
    assert (await muted(), (await says(bob, "hello")).line.seat) == ([], 1)
    await ann.takes_seat(2)
    assert await muted() == [2]
    await ann.takes_seat(3)
    assert await muted() == [2, 3]
    for seat in (0, 2, 3):
        with refused("NOT_ALLOWED"):
            await says(ann, "hello", seat=seat)
    # She moves to a phone, and gets up there to sit down elsewhere.
    phone = running.caller("the token of her phone, for tests", host.table_id)
    await sits_down(phone, (await asks(ann, "MakeSeatCode", seat=2)).code)
    await phone.changes("LeaveSeat")
    await phone.takes_seat(4)
    assert await muted() == [3, 4]
    with refused("NOT_ALLOWED"):
        await says(phone, "hello")
    assert list((await asks(host, "SetChat", unmute=[4])).muted) == []
    for who in (phone, ann):
        await says(who, "thanks")


async def test_who_moves_to_a_phone_at_the_moment_of_the_mute_is_muted(running: Running) -> None:
    """The host meant the laptop, and the seat is the phone's by now: all that it has is muted."""
    host = await running.a_table("free-table", seats=3, start_when_full=False)
    laptop, phone = (running.caller(f"the token of her {it}", host.table_id) for it in "LP")
    await laptop.takes_seat(1)
    since = laptop.seen
    await sits_down(phone, (await asks(laptop, "MakeSeatCode")).code)
    chat = ChatStore(running.store.connection)
    await chat.set(host.table_id, mute=[Person(1, since, digest(laptop.token))])
    await phone.takes_seat(2)
    assert list((await asks(host, "ListChat")).muted) == [1, 2]
    with refused("NOT_ALLOWED"):
        await says(phone, "hello", seat=2)
    assert list((await asks(host, "SetChat", unmute=[2])).muted) == []
    await says(phone, "thanks", seat=2)


async def test_a_host_who_plays_is_not_muted_either(running: Running) -> None:
    host = await running.a_table()
    await host.takes_seat()
    await asks(host, "SetChat", mute=[1])
    assert (await says(host, "I may")).line.seat == 1


async def test_the_last_lines_are_kept(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    for n in range(MOST_LINES + 10):
        await says(ann, f"line {n}")
    found = await asks(host, "ListChat")
    assert len(found.lines) == MOST_LINES == 200
    assert (found.lines[0].text, found.lines[-1].number) == ("line 10", MOST_LINES + 10)


async def test_too_much_in_a_row_is_refused_and_what_was_said_before_is_not(
    valkey: Server,
) -> None:
    """Five lines in ten seconds for a seat, at whichever process; the host has as many."""
    now = 1_790_000_000.0
    limits = replace(NO_LIMITS, lines=Limits().lines)
    async with (
        serving(valkey.url, limits=limits, clock=lambda: now) as one,
        serving(valkey.url, limits=limits, clock=lambda: now) as two,
    ):
        host, (ann, bob) = await one.a_game()
        there = two.caller(ann.token, host.table_id)
        found = await asyncio.gather(
            *(outcome(says((ann, there)[n % 2], f"line {n}")) for n in range(14))
        )
        assert found.count("done") == 5
        assert found.count("LIMIT_REACHED") == 9
        with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED", retry_after_ms=10_000):
            await says(ann, "more")
        for n in range(5):
            await says(bob, "everybody has a limit of their own", request_id=f"line {n}")
            await says(host, "the host too")
        assert await outcome(says(host, "more")) == "LIMIT_REACHED"
        assert (await says(bob, "everybody has a limit of their own", request_id="line 0")).replayed
        assert await outcome(says(bob, "other", request_id="line 0")) == "REQUEST_ID_REUSED"
        now += 9
        with refused("LIMIT_REACHED", retry_after_ms=1000):
            await says(ann, "more")
        now += 1
        await says(ann, "more")


async def test_another_device_gives_no_more_lines(valkey: Server) -> None:
    limits = replace(NO_LIMITS, lines=Limits().lines)
    async with serving(valkey.url, limits=limits, clock=lambda: 1_790_000_000.0) as running:
        host, (ann, _) = await running.a_game()
        said = []
        for n in range(4):
            said += [await outcome(says(ann, f"{n} {line}")) for line in range(2)]
            code = (await asks(ann, "MakeSeatCode")).code
            ann = running.caller(f"the token of her phone {n}", host.table_id)
            await sits_down(ann, code)
        assert said == ["done"] * 5 + ["LIMIT_REACHED"] * 3
    assert (Limits().lines, NO_LIMITS.lines) == (5, 0)


async def test_spectators_hear_as_late_as_they_see(valkey: Server) -> None:
    now = 1_790_000_000.0
    async with serving(valkey.url, clock=lambda: now, heartbeat=0.05) as running:
        host, (ann, _) = await running.a_game(spectator_delay={"seconds": 60})
        spectator = running.caller("", host.table_id)
        now += 70
        listening = Listening(spectator)
        at_once = await Listening(host).begins()
        while await listening.read() != "snapshot":
            pass
        await says(ann, "my cards are good")
        now += 30
        late = Listening(running.caller("", host.table_id))
        while await late.read() != "snapshot":
            pass
        now += 29
        assert await hears(spectator) == []
        assert await hears(host) == await at_once.hears(1) == ["my cards are good"]
        for _ in range(3):
            while await listening.read() != "heartbeat":
                pass
        assert listening.lines == []
        now += 2
        assert await hears(spectator) == await listening.hears(1) == ["my cards are good"]
        assert await late.hears(1) == ["my cards are good"]
        assert listening.presence is None  # who is there is no business of theirs
        for who in (listening, at_once, late):
            who.ends()


async def test_spectators_hear_every_line_however_many_were_said_meanwhile(valkey: Server) -> None:
    now = 1_790_000_000.0
    async with serving(valkey.url, clock=lambda: now, heartbeat=0.05) as running:
        host, (ann, _) = await running.a_game(spectator_delay={"seconds": 60})
        spectator = running.caller("", host.table_id)
        now += 70
        listening = Listening(spectator)
        while await listening.read() != "snapshot":
            pass
        count = MOST_LINES + 30
        for n in range(count):
            await says(ann, f"line {n}")
        # Whoever asks for the last lines is told the last ones, as everywhere.
        assert await hears(host) == [f"line {n}" for n in range(30, count)]
        assert len(await hears(host, after=1)) == count - 1
        assert await hears(spectator) == []
        now += 61
        assert await listening.hears(count) == [f"line {n}" for n in range(count)]
        assert len(await hears(spectator)) == MOST_LINES
        listening.ends()
