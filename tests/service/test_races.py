"""Several callers at once, repeated calls, several processes: one history, and nobody is lost."""

import asyncio
import random
import secrets
from collections import Counter
from typing import Any

import grpc
import pytest

from tableturn.v1 import table_pb2
from tests.service.support import Caller, Running, digest, outcome, refused, serving
from tests.store.support import Proxy, Server

pb = table_pb2
pytestmark = pytest.mark.e2e


@pytest.mark.case("S6")
async def test_exactly_one_of_many_confirmations_wins(running: Running) -> None:
    _, (ann, bob) = await running.a_game()
    seen = ann.seen
    found = await asyncio.gather(*(outcome(ann.confirms(at=seen)) for _ in range(40)))
    assert Counter(found) == {"done": 1, "STALE_REVISION": 39}
    log = await bob.reads_log(after=seen)
    assert [entry.revision for entry in log] == [seen + 1]


@pytest.mark.case("S6", "S1")
async def test_exactly_one_wins_with_a_slow_store_and_two_processes(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        _, (ann, _) = await one.a_game()
        again = two.caller(ann.token, ann.table_id)
        seen = ann.seen
        calls = [outcome(who.confirms(at=seen)) for who in (ann, again) for _ in range(10)]
        assert Counter(await asyncio.gather(*calls)) == {"done": 1, "STALE_REVISION": 19}


@pytest.mark.case("S1")
async def test_all_that_act_at_the_same_time_are_heard_with_a_slow_store(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as running:
        for _ in range(3):
            _, people = await running.a_game(
                seats=8, options={"together": "before", "points": "on", "first_seat": "1"}
            )
            seen = people[0].seen
            for person in people:
                person.seen = seen
            done = await asyncio.gather(
                *(p.acts(f"score {p.seat} for seat {p.seat}", confirm=True) for p in people)
            )
            assert sorted(answer.revision for answer in done) == list(range(seen + 1, seen + 9))
            view = await people[0].looks()
            assert [player.points for player in view.game_view.players] == list(range(1, 9))
            # What is sent late, for the phase that is over, is told apart from what counts.
            for person in people:
                with refused("STALE_REVISION", "ABORTED", revision=view.revision):
                    await person.confirms(at=seen)


@pytest.mark.case("S12")
async def test_all_who_sit_down_at_once_have_their_seats(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as one, serving(valkey.url, slow=True) as two:
        host = await one.a_table(seats=8)
        people = [
            running.caller(f"the token of number {n}, for tests", host.table_id)
            for n, running in enumerate([one, two] * 5)
        ]
        names = [f"Person {n}" for n in range(10)]
        taking = (person.takes_seat(name=name) for person, name in zip(people, names, strict=True))
        found = await asyncio.gather(*map(outcome, taking))
        assert Counter(found) == {"done": 8, "TABLE_FULL": 2}
        view = await host.looks()
        seated = {name for name, what in zip(names, found, strict=True) if what == "done"}
        assert {seat.name for seat in view.seats} == seated
        assert view.status == pb.TABLE_STATUS_RUNNING
        seats = sorted(person.seat for person in people if person.seat)
        assert seats == list(range(1, 9))


@pytest.mark.case("S7", "S8")
async def test_a_repeated_call_is_answered_as_the_first_time(running: Running) -> None:
    _, (ann, bob) = await running.a_game(options={"points": "on", "first_seat": "1"})
    seen = ann.seen
    first = await ann.acts("score 3 for seat 1", confirm=True, at=seen, request_id="once")
    for _ in range(2):
        again = await ann.acts("score 3 for seat 1", confirm=True, at=seen, request_id="once")
        assert (again.revision, list(again.lines)) == (first.revision, list(first.lines))
        assert (first.replayed, again.replayed) == (False, True)
        await bob.confirms(at=(await bob.looks()).revision)
        await ann.acts("score 1 for seat 2", confirm=True, at=(await ann.looks()).revision)
    assert (await bob.looks()).game_view.players[0].points == 3
    with refused("REQUEST_ID_REUSED", "INVALID_ARGUMENT"):
        await ann.acts("score 4 for seat 1", confirm=True, at=seen, request_id="once")
    with refused("REQUEST_ID_REUSED"):
        await ann.confirms(at=seen, request_id="once")
    # The id is the caller's own.
    await bob.confirms(at=(await bob.looks()).revision, request_id="once")


@pytest.mark.case("S7")
async def test_a_double_click_acts_once(running: Running) -> None:
    _, (ann, _) = await running.a_game(options={"points": "on", "first_seat": "1"})
    answers = await asyncio.gather(
        *(ann.acts("score 3 for seat 1", at=ann.seen, request_id="click") for _ in range(10))
    )
    assert len({answer.revision for answer in answers}) == 1
    assert sum(not answer.replayed for answer in answers) == 1
    assert len((await ann.looks()).staged[0].actions) == 1


@pytest.mark.case("S8")
async def test_a_refused_call_is_not_remembered(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    await host.changes("PauseGame")
    seen = ann.seen
    with refused("PAUSED"):
        await ann.confirms(at=seen, request_id="once")
    await host.changes("ResumeGame")
    done = await ann.confirms(at=seen, request_id="once")
    assert not done.replayed


@pytest.mark.case("S7", "S8")
async def test_a_call_with_nothing_to_do_does_nothing_later_either(running: Running) -> None:
    """Nobody stood in for Ann when she said that she is back. A bot does by the time it is said
    again, by a device that had no answer; that call is over, whatever it finds now."""
    host, (ann, _) = await running.a_game()
    first = await ann.changes("ComeBack", request_id="once")
    await ann.changes("StandIn")
    again = await ann.changes("ComeBack", request_id="once")
    assert (again.revision, again.replayed) == (first.revision, True)
    assert (await host.looks()).seats[0].stand_in
    with refused("REQUEST_ID_REUSED"):
        await ann.changes("StandIn", request_id="once")
    await ann.changes("ComeBack")
    assert not (await host.looks()).seats[0].stand_in


async def test_what_others_still_must_do_is_told_again(running: Running) -> None:
    """A wish that is noted already changes nothing, and the same call gets the same answer."""
    host, people = await running.a_game(
        options={"first_seat": "1"}, seats=3, takeback=pb.TAKEBACK_POLICY_ALL_AGREE
    )
    await people[0].confirms()
    seen = (await people[0].looks()).revision
    for wish in ("TakeBack", "VoteDrop"):
        fields: dict[str, Any] = (
            {"target": 3} if wish == "VoteDrop" else {"expected_revision": seen}
        )
        waiting = list((await people[0].changes(wish, **fields)).waiting_for)
        assert waiting
        revision = (await host.looks()).revision
        for replayed in (False, True):
            told = await people[0].changes(wish, request_id=f"again: {wish}", **fields)
            assert (told.revision, told.replayed) == (revision, replayed)
            assert list(told.waiting_for) == waiting


@pytest.mark.case("S9")
async def test_what_was_written_is_read_everywhere_at_once(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host, people = await one.a_game()
        there = [two.caller(person.token, person.table_id) for person in people]
        elsewhere = two.caller(host.token, host.table_id)
        for n in range(30):
            who = (people if n % 3 else there)[n % 2]
            await who.confirms(at=(await who.looks()).revision)
            for reader in (host, elsewhere):
                view = await reader.looks()
                assert (view.revision, view.turns) == (who.seen, n + 1)
            assert (await there[(n + 1) % 2].may()).revision == who.seen
            assert (await elsewhere.reads_log(after=who.seen - 1))[0].revision == who.seen


@pytest.mark.case("S9")
async def test_no_refusal_rests_on_an_old_state(valkey: Server) -> None:
    """A process that has not heard of a change asks the store before it says no."""
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        _, (ann, bob) = await one.a_game()
        there = two.caller(bob.token, bob.table_id)
        await there.looks()
        await ann.confirms()
        # The other process still holds the table as it was when Ann was asked.
        await there.confirms(at=ann.seen)


@pytest.mark.case("S11")
async def test_a_late_command_never_counts_for_the_next_question(running: Running) -> None:
    host, (ann, bob) = await running.a_game(options={"passing": "on", "first_seat": "1"})
    late = ann.seen
    await ann.confirms()
    await bob.confirms(at=ann.seen)
    with refused("STALE_REVISION") as failure:
        await ann.confirms(at=late)
    asked_at = (await ann.may()).prompt.asked_at
    assert failure.details["asked_at"] == str(asked_at)
    assert (await host.looks()).turns == 2


@pytest.mark.case("S15")
async def test_a_seat_that_was_given_away_is_closed_to_its_old_token(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    taken = secrets.token_hex(4)
    eve = running.caller("the token of Eve, for tests", host.table_id)
    await ann.changes("LeaveSeat")
    await eve.takes_seat(1, request_id=taken)
    for call in (
        ann.confirms(),
        ann.may(),
        ann.looks(seat=1),
        ann.changes("LeaveSeat", seat=1),
        ann.changes("Concede", seat=1),
        ann.changes("PauseGame"),
    ):
        with refused("BAD_TOKEN", "UNAUTHENTICATED"):
            await call
    assert (await ann.looks()).viewer == 0
    # The answer that gave a seat is not given again when the seat has another owner.
    await eve.changes("LeaveSeat")
    with refused("NOT_ALLOWED"):
        await eve.takes_seat(1, request_id=taken)


@pytest.mark.case("R1", "R2", "R4")
async def test_any_process_serves_any_table_and_any_seat(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two, serving(valkey.url) as three:
        services = [one, two, three]
        host, people = await one.a_game(options={"points": "on", "first_seat": "1"})
        chance = random.Random(1)
        for n in range(24):
            who = people[n % 2]
            via = chance.choice(services)
            again = via.caller(who.token, who.table_id)
            await again.looks()  # reconnecting is nothing special, however often
            view = await again.looks()
            assert view.viewer == who.seat
            assert view.game_view.players[who.seat - 1].points == n // 2
            await again.acts(f"score 1 for seat {who.seat}", confirm=True)
        assert (await host.looks()).turns == 24


@pytest.mark.case("D7")
async def test_callers_who_give_up_disturb_nobody(running: Running) -> None:
    games = [await running.a_game() for _ in range(4)]

    async def gives_up(who: Caller) -> None:
        call = who.tables.GetTable(pb.GetTableRequest(table_id=who.table_id), metadata=who.metadata)
        await asyncio.sleep(random.uniform(0, 0.004))
        call.cancel()

    async def plays(people: list[Caller]) -> None:
        for n in range(15):
            who = people[n % 2]
            await who.confirms(at=(await who.looks()).revision)
            assert (await who.looks()).table_id == who.table_id

    nuisance = [gives_up(people[n % 2]) for n in range(100) for _, people in games]
    await asyncio.gather(*(plays(people) for _, people in games), *nuisance)


@pytest.mark.case("D7")
async def test_a_change_whose_caller_has_gone_is_made_once_or_not_at_all(valkey: Server) -> None:
    async with serving(valkey.url, slow=True) as running:
        _, (ann, bob) = await running.a_game()
        people = [ann, bob]
        chance = random.Random(2)
        for n in range(12):
            who = people[n % 2]
            seen = (await who.looks()).revision
            request = pb.ConfirmRequest(
                table_id=who.table_id, request_id=f"turn {n}", expected_revision=seen
            )
            call = who.tables.Confirm(request, metadata=who.metadata)
            await asyncio.sleep(chance.uniform(0, 0.05))
            call.cancel()
            # Whether it was made or not: the repeated call has the right answer.
            done = await who.call("Confirm", request)
            assert done.revision == seen + 1
            assert (await who.looks()).revision == seen + 1


@pytest.mark.case("D7")
async def test_a_deadline_that_passes_leaves_nothing_behind(valkey: Server) -> None:
    proxy = Proxy(valkey.socket)
    async with proxy.listen() as port, serving(f"redis://127.0.0.1:{port}") as running:
        _, (ann, _) = await running.a_game()
        proxy.hang = True
        request = pb.ConfirmRequest(
            table_id=ann.table_id, request_id="late", expected_revision=ann.seen
        )
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await ann.call("Confirm", request, timeout=0.3)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        proxy.hang = False


async def test_a_store_that_is_away_is_told_as_such(valkey: Server) -> None:
    proxy = Proxy(valkey.socket)
    async with serving_through(proxy) as running:
        _, (ann, _) = await running.a_game()
        seen = ann.seen
        proxy.swallow = True
        with refused("STORE_UNAVAILABLE", "UNAVAILABLE"):
            await ann.confirms(at=seen, request_id="again")
        proxy.swallow = False
        # Repeated as it was, it has been done once.
        done = await ann.confirms(at=seen, request_id="again")
        assert done.revision == seen + 1


def serving_through(proxy: Proxy) -> Any:
    import contextlib

    @contextlib.asynccontextmanager
    async def through() -> Any:
        async with proxy.listen() as port, serving(f"redis://127.0.0.1:{port}") as running:
            yield running

    return through()


async def test_a_token_is_known_by_its_hash_alone(running: Running) -> None:
    host, (ann, _) = await running.a_game()
    forged = running.caller(digest(ann.token).hex(), host.table_id)
    with refused("BAD_TOKEN"):
        await forged.confirms(at=ann.seen)
