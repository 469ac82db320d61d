"""Bots play by the rules, by what they see alone, and to the end."""

from __future__ import annotations

from random import Random

import pytest

from tableturn_server.bots import Sight, bot_of, names, whole_turn
from tableturn_server.bots.chance import dice
from tableturn_server.bots.registry import GREEDY
from tableturn_server.rules.actions import NameNext, PassRound
from tableturn_server.rules.game import EndReason
from tests.bots.support import (
    PAIRS,
    Only,
    play_out,
    played_by_panels,
    sight_of,
    take,
    turn_of,
)
from tests.rules.play import Table
from tests.rules.test_every_game import GAMES, VARIANTS, table_of, turns

every_game = pytest.mark.parametrize(("name", "seats"), GAMES)


def test_every_game_has_both_bots() -> None:
    for name, _ in GAMES:
        assert names(name) == ("random", "greedy")
    assert names("chess") == ()
    with pytest.raises(KeyError):
        bot_of("deep", "free-table")
    with pytest.raises(KeyError):
        bot_of("random", "chess")


@every_game
@pytest.mark.parametrize("number", range(3))
def test_every_bot_finishes_its_turn_wherever_it_finds_itself(
    name: str, seats: int, number: int
) -> None:
    """Others play at random; whoever is asked, any bot could go on from there."""
    table = table_of(name, seats, number)
    chance = Random(number)
    bots = [bot_of(bot, name) for bot in names(name)]
    for count, seat in zip(range(50), turns(table, chance), strict=False):
        if any(prompt.seat == seat for prompt in table.prompts):
            for bot in bots:
                turn_of(bot, sight_of(table, seat, bytes((count,)) * 32))


@every_game
@pytest.mark.parametrize("number", range(len(max(VARIANTS.values(), key=len))))
@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_tables_of_bots_come_to_their_end(name: str, seats: int, number: int, bot: str) -> None:
    table = table_of(name, seats, number, max_rounds="4")
    play_out(table, bot)
    assert table.outcome is not None
    assert table.outcome.reason in (EndReason.COMPLETED, EndReason.ROUND_CAP)


@pytest.mark.parametrize(
    ("name", "points"), [("eastern-wonders", 60), ("from-sand-to-sea", 50), ("spice-road", 50)]
)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_greedy_ends_a_game_as_people_do(name: str, seats: int, points: int) -> None:
    table = table_of(name, seats, 0)
    play_out(table, "greedy")
    assert table.ended == "completed"
    assert 15 <= table.round <= 50
    assert table.outcome is not None
    assert max(result.points for result in table.outcome.results) >= points


@pytest.mark.parametrize("name", ["eastern-wonders", "from-sand-to-sea", "spice-road"])
def test_greedy_beats_random(name: str) -> None:
    for number in range(3):
        table = table_of(name, 2, number)
        play_out(table, "greedy", "random")
        assert table.ranking[0] == "red"


@pytest.mark.parametrize("seats", [2, 3])
def test_greedy_wishes_for_nothing_that_is_not_possible(seats: int) -> None:
    """The turn that it likes best can be taken: what it plans with are the rules."""
    for name, turns_of in GREEDY.items():
        table = table_of(name, seats, 0)
        for _ in range(120):
            if not table.prompts:
                break
            seat = table.prompts[0].seat
            sight = sight_of(table, seat)
            first = next(turns_of(sight))
            assert turn_of(bot_of("greedy", name), sight) == first
            for action in first:
                table.stage(seat, action)
            table.confirm(seat)


@pytest.mark.parametrize(("name", "bot"), PAIRS)
def test_the_same_sight_gives_the_same_turn(name: str, bot: str) -> None:
    """Two games with the same seed are the same, though other bots of the kind played between."""
    played = []
    for _ in range(2):
        table = table_of(name, 3, 1, max_rounds="3")
        other = table_of(name, 2, 2, max_rounds="1")
        play_out(other, bot)
        played.append((play_out(table, bot), table.confirmed, table.hidden))
    assert played[0] == played[1]


def test_chance_comes_from_what_is_seen() -> None:
    table = table_of("eastern-wonders", 2, 0)
    seat = table.prompts[0].seat
    words = set()
    for sight in (
        sight_of(table, seat, bytes(32)),
        sight_of(table, seat, b"\1" + bytes(31)),
        Sight(table.game, table.confirmed, seat, bytes(32), staged=(PassRound(),)),
        sight_of(table, 3 - seat, bytes(32)),
    ):
        below = dice(sight)
        words.add(tuple(below(1000) for _ in range(5)))
    assert len(words) == 4  # another log, step or seat: other numbers
    below = dice(sight_of(table, seat))
    assert {below(6) for _ in range(200)} == set(range(6))


@pytest.mark.parametrize(
    "bot",
    [Only("place_boat"), Only(None), Only("take_pile"), Only("take_pile", then_confirm=True)],
    ids=["wants what is illegal", "confirms at once", "goes on too far", "confirms too early"],
)
def test_a_bot_that_can_not_end_its_turn_takes_the_default(bot: Only) -> None:
    table = table_of("eastern-wonders", 2, 0)
    seat = table.prompts[0].seat
    sight = sight_of(table, seat)
    assert whole_turn(bot, sight) == sight.default() != ()


def test_a_bot_without_an_end_takes_the_default() -> None:
    """There is always something to do, and it never stops."""
    table = Table("eastern-wonders", 2)
    play_out(table, "random", most=4)
    seat = table.prompts[0].seat
    sight = sight_of(table, seat)

    class Restless(Only):
        def choose(self, sight: Sight):  # type: ignore[no-untyped-def]
            return super().choose(sight.begin)

    assert whole_turn(Restless("harvest"), sight) == sight.default()


# -- where a panel confirms ------------------------------------------------------------------


@pytest.mark.parametrize(("name", "bot"), PAIRS)
def test_a_panel_always_has_something_to_confirm(name: str, bot: str) -> None:
    """A game of bots whose turns are confirmed by buttons goes on, press by press."""
    assert played_by_panels(60, bot, name).turns == 60


@every_game
@pytest.mark.parametrize("number", range(3))
def test_a_bot_that_has_to_act_does_something_wherever_it_can(
    name: str, seats: int, number: int
) -> None:
    """Also one that would rather do nothing, or what is not possible."""
    table = table_of(name, seats, number)
    bots = [*(bot_of(bot, name) for bot in names(name)), Only(None), Only("claim_tile")]
    for count, seat in zip(range(60), turns(table, Random(number)), strict=False):
        if all(prompt.seat != seat for prompt in table.prompts):
            continue
        sight = sight_of(table, seat, bytes((count,)) * 32)
        for bot in bots:
            end = sight
            for action in whole_turn(bot, sight, must_act=True):
                end = end.after(action)
            assert end.can_confirm
            assert not end.skips or not sight.choices


# -- at a free table -----------------------------------------------------------------------


def test_greedy_scores_nothing_and_never_ends_the_game() -> None:
    table = Table("free-table", 3, {"points": "on", "between": "on", "together": "after"})
    played = play_out(table, "greedy", most=60)
    assert {action.kind for turn in played for action in turn} == set()
    assert table.outcome is None
    assert table.round >= 6


def test_random_leaves_to_people_what_is_about_the_real_pieces() -> None:
    table = Table("free-table", 3, {"points": "on", "passing": "on", "order": "chosen"})
    played = play_out(table, "random", most=200)
    assert {action.kind for turn in played for action in turn} == {"pass_round", "name_next"}
    assert table.outcome is None


def test_greedy_passes_at_some_time_and_when_it_is_alone_in_the_round() -> None:
    table = Table("free-table", 2, {"passing": "on", "first_seat": "1"})
    bot = bot_of("greedy", "free-table")
    hashes = [bytes((n,)) * 32 for n in range(40)]
    played = [turn_of(bot, sight_of(table, 1, log_hash)) for log_hash in hashes]
    assert 2 <= played.count((PassRound(),)) <= 20
    assert set(played) == {(), (PassRound(),)}
    take(table, 1, (PassRound(),))
    assert {turn_of(bot, sight_of(table, 2, h)) for h in hashes} == {(PassRound(),)}


def test_greedy_names_the_order_clockwise_from_the_first_seat() -> None:
    table = Table("free-table", 4, {"order": "chosen", "first_seat": "3"})
    bot = bot_of("greedy", "free-table")
    assert turn_of(bot, sight_of(table, 3)) == (NameNext(3), NameNext(4), NameNext(1))
