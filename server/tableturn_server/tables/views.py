"""What a seat or a spectator sees of a table.

Plain values of the shape of `tableturn.v1.TableView`; the service turns them
into messages. Nothing here is given the hidden half of a position.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from tableturn_server.rules import views
from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Choice, Illegal
from tableturn_server.rules.game import Game, Outcome, PromptKind
from tableturn_server.tables import commands
from tableturn_server.tables.clocks import is_limited, left, low_at
from tableturn_server.tables.facts import staged_position, still_to_vote, waits_for_button
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import (
    check_seat,
    is_host,
    is_known,
    panels_of_token,
    plays_along,
)
from tableturn_server.tables.state import (
    Confirmation,
    Occupant,
    Status,
    Table,
    component_set,
    game_of,
)


class PromptView(views.View, frozen=True, kw_only=True):
    """What the table waits for from one seat (`tableturn.v1.Prompt`)."""

    seat: int
    kind: PromptKind
    asked_at: int = 0
    can_confirm: bool = False
    confirm_skips: bool = False
    label: str = ""


class ClockView(views.View, frozen=True, kw_only=True):
    """A seat's clock (`tableturn.v1.SeatClock`); in milliseconds, 0 for an absent time."""

    running: bool = False
    deadline: int = 0
    left: int | None = None
    used: int = 0
    running_since: int = 0
    low_time: int = 0
    ran_out: bool = False
    start_left: int = 0


class DropVote(views.View, frozen=True, kw_only=True):
    """Who wants a seat to leave the game (`tableturn.v1.DropVote`)."""

    seat: int
    voters: tuple[int, ...]
    waiting_for: tuple[int, ...]


class SeatView(views.View, frozen=True, kw_only=True):
    """One seat (`tableturn.v1.SeatView`)."""

    seat: int
    color: str
    name: str = ""
    occupant: Occupant
    dropped: bool = False
    bot: str = ""
    confirmation: Confirmation
    from_panel: bool = False
    bot_waits: bool = False
    stand_in: str = ""


class PanelView(views.View, frozen=True, kw_only=True):
    """A panel on the table (`tableturn.v1.PanelView`)."""

    uid: int
    seats: tuple[int, ...]


class SetInfo(views.View, frozen=True, kw_only=True):
    """Which component set is played with (`tableturn.v1.ComponentSetInfo`)."""

    name: str
    sha256: bytes
    custom: bool = False
    reconstructed: bool = False


class TableView(views.View, frozen=True, kw_only=True):
    """A table as one seat or a spectator sees it, without ids of changes and times.

    What seats have staged (`staged`) and their clocks (`clocks`) the service writes beside it.
    """

    table_id: str
    title: str = ""
    game: str
    rules_version: int
    revision: int
    status: Status
    paused: bool = False
    options: dict[str, str]
    component_set: SetInfo | None = None
    seats: tuple[SeatView, ...]
    turns: int = 0
    prompts: tuple[PromptView, ...] = ()
    game_view: views.GameView | None = None
    viewer: int = 0
    choices: tuple[Choice, ...] = ()
    outcome: Outcome | None = None
    takeback: int = 0
    takeback_asked: tuple[int, ...] = ()
    seed_hash: bytes = b""
    seed: bytes = b""
    open_seed: bool = False
    log_hash: bytes = b""
    panels: tuple[PanelView, ...] = ()
    next_table_id: str = ""
    private: bool = False
    host_seat: int = 0
    drop_votes: tuple[DropVote, ...] = ()


def audience(table: Table, by: commands.By, wanted: int) -> int | None:
    """As whom a token sees a table: the number of a seat, or None for a spectator.

    A panel's token is a spectator's, unless it names one of its seats; who plays along may look
    at a seat that was taken at a panel. Raises Refused for a seat that the token doesn't hold,
    and where spectators need a watch token and this is none.
    """
    check_seat(table, wanted)
    own = table.seats_of(by.token)
    if wanted and (wanted in own or plays_along(table, by, wanted)):
        return wanted
    if wanted:
        known = by.admin or is_known(table, by.token)
        reason = Reason.NOT_ALLOWED if known else Reason.BAD_TOKEN
        raise Refused(reason, f"it needs the token of seat {wanted}")
    if panels_of_token(table, by.token):
        return None
    if own:
        return own[0]
    making = table.making
    may_look = by.admin or (by.token and by.token in (making.watch, making.host))
    if not may_look:
        if making.watch:
            raise Refused(Reason.BAD_TOKEN, "spectators of this table need its watch token")
        if making.private:
            raise Refused(
                Reason.BAD_TOKEN, "this table is private: sit down with its join code to see it"
            )
    return None


def is_plain_spectator(table: Table, by: commands.By) -> bool:
    """Somebody without a seat, a panel, or the host's or admin's token: who may just watch."""
    if by.admin or by.bots or by.service or is_host(table, by) or by.token == table.making.host:
        return False
    return not (table.seats_of(by.token) or panels_of_token(table, by.token))


def as_spectator(table: Table, by: commands.By) -> commands.By:
    """A plain spectator with nothing but the right to watch, whatever was held there before."""
    return commands.By(by.token if by.token == table.making.watch else b"")


def seed_hash(seed: bytes) -> bytes:
    """What is published of a seed before the game: BLAKE2b-256."""
    return blake2b(seed, digest_size=32).digest()


def view(table: Table, seat: int | None) -> TableView:
    """The table as a seat sees it, or a spectator (None)."""
    making = table.making
    started = table.status is not Status.OPEN
    game = game_of(table) if started else None
    over = table.status is Status.FINISHED
    return TableView(
        table_id=making.table_id,
        title=making.title,
        game=making.game,
        rules_version=making.rules_version,
        revision=table.revision,
        status=table.status,
        paused=table.paused,
        options=making.options,
        component_set=_set_info(table),
        seats=tuple(
            SeatView(
                seat=number,
                color=s.color,
                name=s.name,
                occupant=s.occupant,
                dropped=s.dropped,
                bot=s.bot,
                confirmation=s.confirmation,
                from_panel=s.at_panel,
                bot_waits=started and waits_for_button(table, number),
                stand_in=s.stand_in,
            )
            for number, s in enumerate(table.seats, 1)
        ),
        turns=table.turns,
        prompts=prompts(game, table) if game else (),
        game_view=game.view(shown_position(game, table), seat) if game else None,
        viewer=seat or 0,
        choices=choices(game, table, seat) if game and seat else (),
        outcome=game.outcome(table.position) if game and over else None,
        takeback=making.takeback,
        takeback_asked=table.takeback_asked,
        seed_hash=seed_hash(making.seed),
        seed=making.seed if over or making.open_seed else b"",
        open_seed=making.open_seed,
        log_hash=table.log_hash,
        panels=tuple(PanelView(uid=panel.uid, seats=panel.seats) for panel in table.panels),
        next_table_id=table.next_table,
        private=making.private,
        host_seat=table.host_seat,
        drop_votes=tuple(
            DropVote(seat=target, voters=voters, waiting_for=still_to_vote(table, target))
            for target, voters in table.votes
        ),
    )


def clocks(table: Table) -> tuple[ClockView, ...]:
    """The seats' clocks; none where the table has no clock, or before the start."""
    limited = is_limited(table.making.clock)
    return tuple(
        ClockView(
            running=bool(clock.since),
            deadline=clock.deadline,
            left=left(clock) if limited else None,
            used=clock.used,
            running_since=clock.since,
            low_time=low_at(table, clock),
            ran_out=clock.ran_out,
            start_left=clock.start,
        )
        for clock in table.clocks
    )


def prompts(game: Game[Any, Any], table: Table) -> tuple[PromptView, ...]:
    """Whom the table waits for, each as its own turn is staged."""
    found = []
    for confirmed in game.prompts(table.position):
        number = confirmed.seat
        staged = game.prompts(staged_position(game, table, number))
        prompt = next(p for p in staged if p.seat == number)
        found.append(
            PromptView(
                seat=number,
                kind=prompt.kind,
                asked_at=table.asked_at[number - 1],
                can_confirm=prompt.can_confirm,
                confirm_skips=prompt.confirm_skips,
                label=prompt.label,
            )
        )
    return tuple(found)


def choices(game: Game[Any, Any], table: Table, seat: int) -> tuple[Choice, ...]:
    """What a seat may do now; nothing while the table is paused or the game over."""
    if table.status is not Status.RUNNING or table.paused:
        return ()
    return game.legal_actions(staged_position(game, table, seat), seat)


def question(table: Table, seat: int) -> tuple[PromptView | None, tuple[Choice, ...]]:
    """What a seat is asked (None: nothing), and what it may do now."""
    if table.status is not Status.RUNNING:
        return None, ()
    game = game_of(table)
    asked = next((p for p in prompts(game, table) if p.seat == seat), None)
    return asked, choices(game, table, seat)


def shown_position(game: Game[Any, Any], table: Table) -> Any:
    """The open position with everything that is staged, as all see it.

    What seats stage at the same time doesn't touch the same things; should one
    staging rule out another, the earlier seat's is shown.
    """
    open_ = table.position
    for number, actions in enumerate(table.staged, 1):
        staged = open_
        try:
            for action in actions:
                staged = game.stage(staged, number, action)
        except Illegal:
            continue
        open_ = staged
    return open_


def staged(table: Table, viewer: int | None) -> tuple[tuple[int, tuple[Action, ...]], ...]:
    """What seats have staged, as a seat may see it or a spectator; pairs of seat and actions."""
    game = game_of(table)
    return tuple(
        (number, actions if number == viewer else tuple(map(game.shown, actions)))
        for number, actions in enumerate(table.staged, 1)
        if actions
    )


def _set_info(table: Table) -> SetInfo | None:
    """Which components are played with, and whether some are stand-ins."""
    chosen = component_set(table.making)
    if chosen is None:
        return None
    return SetInfo(
        name=table.making.set_name,
        sha256=table.making.set_sha256,
        custom=bool(table.making.custom_set),
        reconstructed=chosen.reconstructed,
    )
