"""Whatever is sent by whomever, in whatever order: a change or a refusal, and a sound table."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Choice, CubeBounds, Range, pick
from tableturn_server.rules.game import Prompt
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tableturn_server.tables import commands, views
from tableturn_server.tables.authority import staged_position
from tableturn_server.tables.history import replay, standing
from tableturn_server.tables.log import first_hash
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import Status, Takeback, decode, encode, game_of
from tests.tables.play import ADMIN, HOST, NOBODY, STRANGER, TableOfTest, a_table, digest

KINDS = ("take_pile", "place_boat", "move", "harvest", "trade", "claim_tile", "return_cubes",
         "pass_round", "score_points", "name_next", "finish_game", "build_outpost")  # fmt: skip


def any_action(game: TableOfTest, seat: int, chance: random.Random) -> Action:
    """Mostly something legal, sometimes anything."""
    table = game.table
    if table.status is Status.RUNNING and chance.random() < 0.9:
        rules = game_of(table)
        choices = rules.legal_actions(staged_position(rules, table, seat), seat)
        choices = tuple(c for c in choices if c.kind != "finish_game" or chance.random() < 0.02)
        if choices:
            return pick(chance.choice(choices), chance.randrange)
    anything = Choice(
        kind=chance.choice(KINDS),
        tiles=("C3", "Z99"),
        colors=tuple(Color),
        cubes=CubeBounds(0, 5, Cubes(3, 3, 3, 3)),
        count=Range(1, 50),
        seats=(1, 2, 9),
        piles=(Cubes(1, 1), Cubes(9)),
        points=Range(-2000, 2000),
    )
    return pick(anything, chance.randrange)


def prompts_of(game: TableOfTest) -> tuple[Prompt, ...]:
    return game_of(game.table).prompts(game.table.position)


def any_command(game: TableOfTest, chance: random.Random) -> commands.AnyCommand:
    seats = len(game.table.seats)
    anybody = [HOST, ADMIN, NOBODY, STRANGER, *[p.by for p in game.people_by_name]]
    asked: list[commands.By] = []
    if game.table.status is Status.RUNNING:
        tokens = [game.table.seat(p.seat).token for p in prompts_of(game)]
        asked = [commands.By(token) for token in tokens if token]
    by = chance.choice(asked if asked and chance.random() < 0.8 else anybody)
    own = game.table.seats_of(by.token)
    seat = chance.choice([0, 0, *own * 3, chance.randrange(seats + 2)])
    revision = game.table.revision - chance.choice([0] * 12 + [1, 3, -1])
    acting = seat if seat in own else own[0] if own else 1
    kinds: list[Callable[[], commands.AnyCommand]] = [
        lambda: commands.Act(
            by=by,
            seat=seat,
            expected_revision=revision,
            actions=tuple(
                any_action(game, acting, chance) for _ in range(chance.choice((0, 1, 1, 2)))
            ),
            confirm=chance.random() < 0.4,
        )
    ] * 20
    kinds += [
        lambda: commands.Undo(
            by=by, seat=seat, expected_revision=revision, all=chance.random() < 0.3
        ),
        lambda: commands.TakeBack(by=by, seat=seat, expected_revision=revision),
        lambda: commands.TakeBack(by=HOST, expected_revision=revision),
        lambda: commands.Pause(by=by),
        lambda: commands.Resume(by=by),
        lambda: commands.Resume(by=HOST),
        lambda: commands.LeaveSeat(by=by, seat=seat),
        lambda: commands.TakeSeat(by=by, seat=seat, name="Zoe", token=by.token or digest("Zoe")),
        lambda: commands.TakeSeat(by=by, seat=0, name="Ann", token=game.people_by_name[0].by.token),
        lambda: commands.Start(by=by),
    ]
    if chance.random() < 0.1:
        kinds.append(lambda: commands.Concede(by=by, seat=seat))
    return chance.choice(kinds)()


def is_sound(game: TableOfTest) -> None:
    """What holds for every table, and what its log says of it."""
    table = game.table
    assert decode(encode(table)) == table
    assert all(0 <= at <= table.revision for at in (*table.asked_at, table.turned_at))
    assert table.stamp == game.log[-1].time
    for seat in table.seats:
        assert bool(seat.token) == (seat.occupant != 1)
    if table.status is Status.OPEN:
        assert table.open is None
        return
    rules = game_of(table)
    assert (rules.outcome(table.position) is not None) == (table.status is Status.FINISHED)
    # The log alone replays the game.
    start = game.snapshots[0]
    assert start.log_hash == first_hash(table.making.game, table.making.seats)
    again = replay(start, standing(game.log, 0, table.turns))
    assert (again.open, again.hidden, again.log_hash) == (table.open, table.hidden, table.log_hash)
    asked = {prompt.seat for prompt in rules.prompts(table.position)}
    for number, staged in enumerate(table.staged, 1):
        assert not staged or number in asked
        staged_position(rules, table, number)
        seen = views.view(table, number)
        for choice in seen.choices:
            assert number in asked
            assert choice.kind
    if table.status is Status.FINISHED:
        assert not any(table.staged)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("eastern-wonders", {}),
        ("free-table", {"points": "on", "together": "after", "passing": "on"}),
        ("free-table", {"order": "chosen", "between": "on"}),
    ],
)
def test_a_table_stays_sound(name: str, options: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    policy = chance.choice(list(Takeback))
    game = a_table(name, seats=3, takeback=policy, **options)
    refusals = changes = 0
    for _ in range(400):
        before = game.table
        try:
            change = game.does(any_command(game, chance))
        except Refused:
            assert game.table is before
            refusals += 1
            continue
        changes += change is not None
        if changes % 5 == 0 or game.is_over():
            is_sound(game)
        if game.is_over():
            break
    is_sound(game)
    assert changes > 20 or game.is_over()
    assert refusals
