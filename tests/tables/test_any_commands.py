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
from tableturn_server.tables.clocks import deadlines, turns_of
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.due import due_bots
from tableturn_server.tables.export import export, read
from tableturn_server.tables.facts import bot_of, may_be_host, voters_about
from tableturn_server.tables.history import replay, standing
from tableturn_server.tables.log import first_hash
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    ClockKind,
    Confirmation,
    Occupant,
    Status,
    Takeback,
    decode,
    encode,
    game_of,
)
from tests.tables.play import (
    ADMIN,
    BOTS,
    HOST,
    NOBODY,
    SERVICE,
    STRANGER,
    TableOfTest,
    a_table,
    digest,
)
from tests.tables.timed import any_clock

KINDS = ("take_pile", "place_boat", "move", "harvest", "trade", "claim_tile", "return_cubes",
         "pass_round", "score_points", "name_next", "finish_game", "build_outpost",
         "acquire_card", "put_cube", "take_card", "play_card", "claim_card", "rest",
         "upgrade")  # fmt: skip


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
        cards=("S1", "M12", "P07", "Z99"),
    )
    return pick(anything, chance.randrange)


def prompts_of(game: TableOfTest) -> tuple[Prompt, ...]:
    return game_of(game.table).prompts(game.table.position)


def any_command(game: TableOfTest, chance: random.Random) -> commands.AnyCommand:
    seats = len(game.table.seats)
    host = host_of(game)
    anybody = [HOST, ADMIN, NOBODY, STRANGER, *[p.by for p in game.people_by_name]]
    asked: list[commands.By] = []
    bots = [*due_bots(game.table), *(n for n, s in enumerate(game.table.seats, 1) if bot_of(s))]
    if bots and chance.random() < 0.4:
        return a_bots_turn(game, chance.choice(bots), chance)
    if game.table.panels and chance.random() < 0.3:
        return a_press(game, chance)
    anybody += [commands.By(panel.token) for panel in game.table.panels]
    if game.table.status is Status.RUNNING:
        tokens = [game.table.seat(p.seat).token for p in prompts_of(game)]
        asked = [commands.By(token) for token in tokens if token]
    by = chance.choice(asked if asked and chance.random() < 0.8 else anybody)
    own = game.table.seats_of(by.token)
    seat = chance.choice([0, 0, *own * 3, chance.randrange(seats + 2)])
    revision = about_now(game, chance)
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
        lambda: commands.TakeBack(by=host, expected_revision=revision),
        lambda: commands.Pause(by=by),
        lambda: commands.Resume(by=by),
        lambda: commands.Resume(by=host),
        lambda: commands.LeaveSeat(by=by, seat=seat),
        lambda: commands.TakeSeat(by=by, seat=seat, name="Zoe", token=by.token or digest("Zoe")),
        lambda: commands.TakeSeat(by=by, seat=0, name="Ann", token=game.people_by_name[0].by.token),
        lambda: commands.Start(by=by),
        lambda: commands.Start(by=host, without_free_seats=chance.random() < 0.3),
        lambda: commands.SeatBot(by=by, seat=seat, bot="greedy"),
        lambda: commands.SeatBot(
            by=host, bot="random", confirmation=chance.choice(list(Confirmation))
        ),
        lambda: commands.SetConfirmation(
            by=by, seat=seat, confirmation=chance.choice(list(Confirmation))
        ),
        lambda: commands.AttachPanel(
            by=chance.choice([host, host, by]),
            uid=chance.choice((1, 2, 2**32)),
            token=digest(chance.choice(("panel 1", "panel 2"))),
            seats=tuple(chance.sample((0, 1, 2, 3, chance.randrange(5)), chance.randrange(6))),
        ),
        lambda: commands.DetachPanel(by=by, uid=chance.choice((1, 2, 3))),
        lambda: commands.NoteRematch(by=chance.choice([ADMIN, by]), next_table="the-next"),
    ]
    kinds += people_who_come_and_go(game, by, seat, chance)
    kinds += about_time(game, by, seat, chance)
    if chance.random() < 0.1:
        kinds.append(lambda: commands.Concede(by=by, seat=seat))
    return chance.choice(kinds)()


def host_of(game: TableOfTest) -> commands.By:
    """Whoever has the host's duties."""
    table = game.table
    return commands.By(table.seat(table.host_seat).token) if table.host_gone else HOST


def people_who_come_and_go(
    game: TableOfTest, by: commands.By, seat: int, chance: random.Random
) -> list[Callable[[], commands.AnyCommand]]:
    """Whatever is about who plays a seat, and who is host."""
    host = host_of(game)
    another = chance.randrange(len(game.table.seats) + 2)
    since = game.table.seats[another - 1].since if another <= len(game.table.seats) else 1
    service = chance.choice([SERVICE, SERVICE, SERVICE, by])
    bot = chance.choice(["greedy", "random", ""])
    found: list[Callable[[], commands.AnyCommand]] = [
        lambda: commands.StandIn(by=by, seat=seat, bot=bot),
        lambda: commands.StandIn(by=host, seat=another, bot="greedy"),
        lambda: commands.ComeBack(by=by, seat=seat),
        lambda: commands.ComeBack(by=service, seat=max(1, min(another, len(game.table.seats)))),
        lambda: commands.GoAway(
            by=service, seat=another, since=game.clock - chance.choice((1, 10**6)), bot="greedy"
        ),
        lambda: commands.VoteDrop(
            by=by,
            seat=seat,
            target=another,
            withdraw=chance.random() < 0.4,
            away=frozenset(chance.sample((1, 2, 3), chance.choice((0, 0, 0, 1, 2)))),
        ),
        lambda: commands.PassHost(by=chance.choice([host, ADMIN, SERVICE, by]), seat=another),
        lambda: commands.Reseat(
            by=service,
            seat=another,
            token=chance.choice(
                [digest("a phone"), digest("panel 1"), *[p.by.token for p in game.people_by_name]]
            ),
            since=since - chance.choice((0, 0, 1)),
        ),
    ]
    return found


def about_time(
    game: TableOfTest, by: commands.By, seat: int, chance: random.Random
) -> list[Callable[[], commands.AnyCommand]]:
    """Time that is given, up, or nobody's; mostly when it is so."""
    service = chance.choice([SERVICE, SERVICE, SERVICE, by])
    due = [(n, at) for n, at in deadlines(game.table).items() if at <= game.clock]
    up, at = min(due, key=lambda pair: pair[1]) if due else (seat, game.clock)
    stamp = game.table.stamp
    return [
        lambda: commands.AddTime(by=by, seat=seat, time=chance.choice((1_000, 5_000, 10**9))),
        lambda: commands.AddTime(by=host_of(game), seat=seat, time=2_000),
        *[lambda: commands.TimeOut(by=service, seat=up, deadline=at, bot="greedy")] * 3,
        lambda: commands.TimeOut(by=service, seat=seat, deadline=at - 1, bot="greedy"),
        lambda: commands.Excuse(
            by=service, begin=stamp - chance.randrange(5_000), end=stamp + chance.randrange(1_000)
        ),
    ]


def about_now(game: TableOfTest, chance: random.Random) -> int:
    """Mostly the newest revision, sometimes one before or to come."""
    return game.table.revision - chance.choice([0] * 12 + [1, 3, -1])


def a_bots_turn(game: TableOfTest, seat: int, chance: random.Random) -> commands.AnyCommand:
    """What the service sends for a bot."""
    return commands.Act(
        by=BOTS,
        seat=seat,
        expected_revision=about_now(game, chance),
        actions=tuple(any_action(game, seat, chance) for _ in range(chance.choice((0, 1, 2)))),
        confirm=chance.random() < 0.7,
    )


def a_press(game: TableOfTest, chance: random.Random) -> commands.AnyCommand:
    """Any gesture at a panel, mostly with its own token."""
    panel = chance.choice(game.table.panels)
    gesture = chance.choice(list(Gesture))
    master = gesture in (Gesture.MASTER, Gesture.MASTER_LONG)
    return commands.Press(
        by=commands.By(panel.token) if chance.random() < 0.9 else STRANGER,
        uid=panel.uid if chance.random() < 0.9 else 3,
        button=0 if master else chance.randrange(len(panel.seats) + 1),
        gesture=gesture,
        second=chance.randrange(len(panel.seats) + 1),
        expected_revision=about_now(game, chance),
    )


def is_sound(game: TableOfTest) -> None:
    """What holds for every table, and what its log says of it."""
    table = game.table
    assert decode(encode(table)) == table
    assert all(0 <= at <= table.revision for at in (*table.asked_at, table.turned_at))
    assert table.stamp == game.log[-1].time
    for seat in table.seats:
        if seat.at_panel:  # its panel may have been taken off the table
            assert seat.occupant is Occupant.PERSON
            assert seat.token in (b"", *(panel.token for panel in table.panels))
        else:
            assert bool(seat.token) == (seat.occupant is Occupant.PERSON)
        assert bool(seat.bot) == (seat.occupant is Occupant.BOT)
        assert not seat.at_panel or seat.confirmation is not Confirmation.DEVICE
        assert bool(seat.stand_in) == bool(seat.stand_in_cause)
        if seat.stand_in:
            assert table.status is Status.RUNNING
            assert seat.occupant is not Occupant.BOT
            assert not seat.dropped
        assert not seat.left_at or seat.occupant is Occupant.NOBODY
    served = [n for panel in table.panels for n in panel.seats if n]
    assert len(set(served)) == len(served)
    for panel in table.panels:
        assert 0 <= panel.since <= table.revision
        assert len(panel.moved_at) in (0, len(panel.seats))
        assert all(at == 0 or panel.since < at <= table.revision for at in panel.moved_at)
    assert all(n <= len(table.seats) for n in served)
    assert len(table.seats) == len(table.staged) == len(table.asked_at) == table.making.seats
    assert table.bot_turns <= table.turns
    assert 0 <= table.paused_at <= table.revision
    if table.host_seat:
        assert may_be_host(table.seat(table.host_seat))
    assert table.host_seat or not table.host_gone
    for target, voters in table.votes:
        assert voters
        assert set(voters) <= set(voters_about(table, target))
        assert not table.seat(target).dropped
        assert table.status is Status.RUNNING
    if table.status is Status.OPEN:
        assert table.open is None
        assert table.clocks == ()
        return
    if table.making.clock.kind is not ClockKind.NONE:
        running = {n for n, clock in enumerate(table.clocks, 1) if clock.since}
        assert running == (set() if table.paused else set(turns_of(table)))
    rules = game_of(table)
    assert (rules.outcome(table.position) is not None) == (table.status is Status.FINISHED)
    # The log alone replays the game.
    start = game.snapshots[0]
    assert start.log_hash == first_hash(table.making.game, table.making.seats)
    again = replay(start, standing(game.log, 0, table.turns))
    for name in ("open", "hidden", "log_hash", "bot_turns", "drop_turn"):
        assert getattr(again, name) == getattr(table, name)
    asked = {prompt.seat for prompt in rules.prompts(table.position)}
    for number, staged in enumerate(table.staged, 1):
        assert not staged or (number in asked and not table.seat(number).stand_in)
        staged_position(rules, table, number)
        seen = views.view(table, number)
        for choice in seen.choices:
            assert number in asked
            assert choice.kind
    assert set(due_bots(table)) <= asked
    if table.status is Status.FINISHED:
        assert not any(table.staged)


def can_be_moved(game: TableOfTest) -> None:
    """An export of it is read again as the same table, but for panels and a rematch."""
    imported = read(export(game.table, game.recorded()), table_id="", now=game.table.stamp)
    parts = "making seats open hidden staged bot_turns drop_turn paused_at turns"
    for name in parts.split():
        assert getattr(imported.table, name) == getattr(game.table, name)
    assert imported.table.panels == ()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("eastern-wonders", {}),
        ("from-sand-to-sea", {}),
        ("spice-road", {}),
        ("free-table", {"points": "on", "together": "after", "passing": "on"}),
        ("free-table", {"order": "chosen", "between": "on"}),
    ],
)
def test_a_table_stays_sound(name: str, options: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    policy = chance.choice(list(Takeback))
    taken = seed % 4 != 3
    absence = Absence(policy=chance.choice(list(AbsencePolicy)), grace=5_000)
    game = a_table(
        name,
        seats=3,
        takeback=policy,
        taken=taken,
        start_when_full=taken,
        absence=absence,
        clock=any_clock(chance),
        private=seed == 4,
        host_stays=seed == 5,
        **options,
    )
    refusals = changes = 0
    for _ in range(500):
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
        if changes % 25 == 0:
            can_be_moved(game)
        if game.is_over():
            break
    is_sound(game)
    can_be_moved(game)
    assert changes > 10 or game.is_over()
    assert refusals


def test_any_command_is_carried_out_now_and_then() -> None:
    """That the test above reaches what it is about."""
    chance = random.Random(11)
    missing: set[object] = {*commands.AnyCommand.__args__, *Gesture, "a bot's turn"}
    missing.remove(commands.Press)
    for number in range(200):
        game = a_table(
            seats=3,
            taken=number % 2 == 0,
            start_when_full=False,
            passing="on",
            points="on",
            between="on" if number % 3 == 0 else "off",
            absence=Absence(policy=chance.choice(list(AbsencePolicy)), grace=5_000),
            clock=any_clock(chance),
        )
        for _ in range(300):
            command = any_command(game, chance)
            try:
                change = game.does(command)
            except Refused:
                continue
            if change is None:
                continue
            missing.discard(
                command.gesture if isinstance(command, commands.Press) else type(command)
            )
            if isinstance(command, commands.Act) and command.by.bots:
                missing.discard("a bot's turn")
        if not missing:
            return
    assert not missing
