"""Nothing hidden gets to a bot: not in what it sees, and not into its process."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tableturn_server.bots import Sight, bot_of, whole_turn
from tableturn_server.bots.frames import frame, question_of
from tableturn_server.bots.pool import COMMAND, Pool
from tableturn_server.rules import catalog
from tableturn_server.tables import commands
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.state import game_of
from tests.bots.support import BOTS, bots_at
from tests.store.support import eventually
from tests.tables.hiding import OTHER_SEED, heights, otherwise_held, otherwise_hidden
from tests.tables.play import SEED, TableOfTest

GAMES = list(catalog.GAMES)


def played(game: str, turns: int, bot: str = "random") -> TableOfTest:
    """A game of bots after so many turns."""
    at = bots_at(game, 3, bot, first_seat="random")
    for _ in range(turns):
        (seat, *_) = due_bots(at.table)
        sight = Sight(game_of(at.table), at.table.position, seat, at.table.log_hash)
        turn = whole_turn(bot_of(bot, game), sight)
        assert at.does(
            commands.Act(
                by=BOTS,
                seat=seat,
                expected_revision=at.table.revision,
                actions=turn,
                confirm=True,
            )
        )
    return at


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_another_hidden_half_changes_nothing_of_what_a_bot_is_told(game: str, bot: str) -> None:
    for turns in (0, 7, 40):
        table = played(game, turns).table
        other = otherwise_hidden(table)
        (seat, *_) = due_bots(table)
        asked = [frame(question_of(one, seat)[0]) for one in (table, other)]
        told = [question_of(one, seat)[1] for one in (table, other)]
        assert asked[0] == asked[1]
        assert told[0] == told[1]
        sights = [Sight(game_of(t), t.position, seat, t.log_hash) for t in (table, other)]
        assert sights[0].view == sights[1].view
        assert whole_turn(bot_of(bot, game), sights[0]) == whole_turn(bot_of(bot, game), sights[1])


@pytest.mark.parametrize("game", ["from-sand-to-sea", "spice-road"])
@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_other_cards_of_the_others_change_nothing_of_what_a_bot_does(game: str, bot: str) -> None:
    """What is closed is in the position that the worker gets, but in nothing that a bot sees."""
    for turns in (7, 25, 40):
        table = played(game, turns, bot).table
        (seat, *_) = due_bots(table)
        other = table
        for number in {1, 2, 3} - {seat}:
            other = otherwise_held(other, number)
        sights = [Sight(game_of(t), t.position, seat, t.log_hash) for t in (table, other)]
        assert sights[0].view == sights[1].view
        assert whole_turn(bot_of(bot, game), sights[0]) == whole_turn(bot_of(bot, game), sights[1])


@pytest.mark.parametrize("game", GAMES)
async def test_no_seed_and_no_hidden_half_is_sent_to_a_worker(game: str, tmp_path: Path) -> None:
    """All bytes that go into the worker, as a tap on its pipe sees them."""
    heard = tmp_path / "heard"
    pool = Pool(command=("sh", "-c", f"tee {heard} | {' '.join(COMMAND)}"))
    table = played(game, 20).table
    (seat, *_) = due_bots(table)
    try:
        await pool.turn(table, seat)
        assert pool.failed == 0
    finally:
        await pool.close()
    position = msgspec.msgpack.encode(table.position)
    await eventually(lambda: position in heard.read_bytes())
    data = heard.read_bytes()
    # What this test would find, if it were there:
    assert SEED in msgspec.msgpack.encode(table)
    assert SEED not in data
    assert SEED.hex().encode() not in data
    assert OTHER_SEED not in data
    assert msgspec.msgpack.encode(table.hidden) not in data
    assert table.making.host not in data
    for name, height in heights(table.hidden).items():
        if height > 8:
            pile = getattr(table.hidden, name)
            assert data.count(msgspec.msgpack.encode(pile)[3:11]) == 0


def test_a_bot_sees_no_values_of_tiles_that_others_took() -> None:
    at = played("eastern-wonders", 70, "greedy")
    claims = [seat for seat, p in enumerate(at.table.position.players, 1) if p.claimed]
    assert claims, "a game in which somebody took a tile"
    for seat in (1, 2, 3):
        sight = Sight(game_of(at.table), at.table.position, seat, at.table.log_hash)
        for player in sight.view.players:
            assert len(player.claimed_tiles) == (player.claimed if player.seat == seat else 0)
        public = {name for name in dir(sight) if not name.startswith("_")}
        assert public == {
            *("after", "begin", "can_confirm", "choices", "default", "game", "log_hash"),
            *("mark", "options", "prompt", "seat", "seats", "skips", "staged", "view"),
        }
