"""Many at once: of those that exclude each other one wins, and the others are told; nobody is
left without an answer."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from tests.e2e.calls import Code, Connection, check_sentence, refusal_of
from tests.e2e.processes import Service
from tests.e2e.rivals import Rivals, Wish, outcomes, processes, release
from tests.e2e.tables import NAMES, gapless, new_table

pytestmark = pytest.mark.e2e


@pytest.mark.case("S6")
def test_of_fifty_confirmations_of_one_turn_one_counts(
    service: Service, connection: Connection
) -> None:
    table = new_table(connection, seats=3)
    ann = table.people[0]
    ann.act("score 5 for seat 2")
    seen = ann.revision
    before = ann.log()

    def wish(count: int) -> Wish:
        return Wish([service.address], ann.table_id, ann.token, 1, seen, count)

    here = Rivals(wish(26))
    try:
        with processes([wish(12), wish(12)]) as there:
            for process in there:
                release(process)
            told = here.go()
            for process in there:
                told += outcomes(process)
    finally:
        here.close()
    assert len(told) == 50
    assert [one.revision for one in told if one.revision] == [seen + 1]
    for one in told:
        if not one.revision:
            assert (one.code, one.reason) == ("ABORTED", "STALE_REVISION")
            assert one.metadata == {"revision": str(seen + 1), "asked_at": str(seen + 1)}
            check_sentence(one.sentence)
    after = ann.log()
    assert after[: len(before)] == before
    assert [entry.revision for entry in after[len(before) :]] == [seen + 1]
    points = [player.points for player in ann.view().game_view.players]
    assert points == [0, 5, 0]


@pytest.mark.case("S1")
def test_what_seats_do_at_the_same_time_is_done_one_after_another(
    service: Service, connection: Connection
) -> None:
    options = {"points": "on", "together": "before", "first_seat": "1"}
    table = new_table(connection, seats=8, options=options)
    seen = table.revision
    connections = [Connection(service.address) for _ in table.people]
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(
                    lambda pair: (
                        pair[0]
                        .through(pair[1])
                        .act("score 1 for seat 1", confirm=True, expected=seen)
                    ),
                    zip(table.people, connections, strict=True),
                )
            )
    finally:
        for one in connections:
            one.channel.close()
    assert sorted(answer.revision for answer in answers) == list(range(seen + 1, seen + 9))
    assert table.view().game_view.players[0].points == 8
    assert gapless(table.log())
    assert Counter(entry.seat for entry in table.log(after=seen)) == Counter(range(1, 9))


@pytest.mark.case("S12", "S6")
def test_of_twelve_who_sit_down_at_once_eight_get_a_seat_each(connection: Connection) -> None:
    table = new_table(connection, seats=8, sit=False)

    def sit(number: int) -> int | str:
        try:
            return table.take_seat(f"{NAMES[number % 8]} {number}").seat
        except grpc.RpcError as error:
            refusal = refusal_of(error)
            assert refusal.code == Code.FAILED_PRECONDITION
            return refusal.reason

    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(sit, range(12)))
    assert sorted(seat for seat in told if isinstance(seat, int)) == list(range(1, 9))
    assert [reason for reason in told if isinstance(reason, str)] == ["TABLE_FULL"] * 4
    view = table.view()
    for number, seat in enumerate(told):
        if isinstance(seat, int):
            assert view.seats[seat - 1].name == f"{NAMES[number % 8]} {number}"
    assert view.game_view.turn_order
    assert gapless(table.log())
