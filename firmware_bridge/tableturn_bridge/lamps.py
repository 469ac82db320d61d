"""What the lamps of a panel show: the table's view, turned into one picture.

Pure. People look at a panel for these things, in this order: whose turn it is, and whether its
time runs out; whether their own press would count now (the armed buttons); who has confirmed where
all do so at the same time; who is next, and who begins the round; whether the game is paused, or
between rounds; who has won. Two pictures are unlike all others: the service can't be reached, and
this panel can't be used here.

A picture is that of a moment, in milliseconds of the service's time: `next_change` is when the next
one is due though nothing happens at the table.
"""

from __future__ import annotations

import binascii
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tableturn_bridge.patterns import BRIGHTEST, Pattern, lamp
from tableturn_bridge.protocol import MOST_BUTTONS, Color, Flags, State, with_mark
from tableturn_client import Confirmation
from tableturn_client.messages import (
    FreeTablePhase,
    Occupant,
    Prompt,
    PromptKind,
    SeatView,
    TableStatus,
    TableView,
)

QUIET_AFTER = 60_000
"""Milliseconds for which the winner's lamp says so, after the last change of the table."""


@dataclass(frozen=True)
class Lamp:
    """One button: what its lamp shows, in which colour, and whether pressing it means something."""

    pattern: Pattern = Pattern.OFF
    color: Color = Color.NONE
    armed: bool = False
    staged: bool = False


def tag_of(table_id: str) -> int:
    """The number that stands for a table on the wire."""
    return binascii.crc_hqx(table_id.encode(), 0xFFFF)


def seats_of(view: TableView, uid: int) -> tuple[int, ...] | None:
    """The seats that a panel's buttons serve, 0 for none; None if it isn't on the table."""
    return next((tuple(panel.seats) for panel in view.panels if panel.uid == uid), None)


def picture(
    view: TableView,
    seats: Sequence[int],
    buttons: int,
    brightness: int = BRIGHTEST,
    *,
    now: int = 0,
) -> State:
    """The picture of a table on a panel whose buttons serve these seats, at a moment.

    At 0, where the service's time isn't known, no time is low, and who has won has just won.
    """
    served = [seats[at] if at < len(seats) else 0 for at in range(buttons)]
    scene = _Scene(view, now)
    return _state(
        tag_of(view.table_id),
        view.revision,
        [scene.lamp(number, at < len(seats)) for at, number in enumerate(served)],
        with_mark(_flags(view, scene.low), _button_of(served, starter(view))),
        brightness,
    )


def next_change(view: TableView, now: int) -> int | None:
    """When the picture changes though nothing happens at the table; None for never."""
    moments = [
        seat.clock.low_time.ToMilliseconds()
        for seat in view.seats
        if seat.clock.HasField("low_time")
    ]
    if view.status == TableStatus.TABLE_STATUS_FINISHED:
        moments.append(_quiet_at(view))
    return min((moment for moment in moments if moment > now), default=None)


def alike(
    pattern: Pattern, buttons: int, tag: int = 0, revision: int = 0, brightness: int = BRIGHTEST
) -> State:
    """The same pattern on every lamp, with nothing armed: service lost, or panel elsewhere."""
    return _state(tag, revision, [Lamp(pattern)] * buttons, 0, brightness)


def _state(tag: int, revision: int, shown: Sequence[Lamp], flags: int, brightness: int) -> State:
    lamps = [lamp(one.pattern, one.color) for one in shown]
    return State(
        tag=tag,
        # A table whose revision outgrows the wire is none that people play at.
        revision=revision & 0xFFFFFFFF,
        armed=sum(1 << at for at, one in enumerate(shown) if one.armed),
        staged=sum(1 << at for at, one in enumerate(shown) if one.staged),
        lamps=tuple(lamps + [lamp(Pattern.OFF)] * (MOST_BUTTONS - len(lamps))),
        flags=flags,
        brightness=brightness,
    )


def _button_of(served: Sequence[int], seat: int) -> int:
    """The button, from 1, that serves a seat; 0 for none."""
    return served.index(seat) + 1 if seat and seat in served else 0


def _flags(view: TableView, low: Collection[int]) -> Flags:
    flags = Flags(0)
    if view.paused:
        flags |= Flags.PAUSED
    if low:
        flags |= Flags.TIME_LOW
    if view.status == TableStatus.TABLE_STATUS_FINISHED:
        flags |= Flags.OVER
    if view.status == TableStatus.TABLE_STATUS_OPEN:
        flags |= Flags.SEATING
    return flags


class _Scene:
    """What is looked up in a view again and again."""

    def __init__(self, view: TableView, now: int) -> None:
        self.view = view
        self.now = now
        self.low = low_seats(view, now)
        self.seats = {seat.seat: seat for seat in view.seats}
        self.prompts = {prompt.seat: prompt for prompt in view.prompts}
        self.staged = {turn.seat for turn in view.staged if turn.actions}
        served = {seat for panel in view.panels for seat in panel.seats}
        self.free = any(
            seat.occupant == Occupant.OCCUPANT_NOBODY and seat.seat not in served
            for seat in view.seats
        )
        self.next = next_seat(view)

    def lamp(self, number: int, served: bool) -> Lamp:
        """The lamp of the button that serves a seat; `served`: the table knows this button."""
        seat = self.seats.get(number)
        match self.view.status:
            case TableStatus.TABLE_STATUS_OPEN:
                return self._seating(seat, served)
            case TableStatus.TABLE_STATUS_RUNNING if seat is not None:
                return self._running(seat)
            case TableStatus.TABLE_STATUS_FINISHED if seat is not None:
                return self._over(seat)
        return Lamp()

    def _seating(self, seat: SeatView | None, served: bool) -> Lamp:
        """While seats are taken: free ones blink, and whoever sits can start by holding."""
        if seat is None:
            return Lamp(Pattern.FREE, armed=True) if served and self.free else Lamp()
        if seat.occupant == Occupant.OCCUPANT_NOBODY:
            return Lamp(Pattern.FREE, color_of(seat), armed=True)
        return Lamp(Pattern.SEATED, color_of(seat), armed=not _is_bot(seat))

    def _running(self, seat: SeatView) -> Lamp:
        """In the game."""
        color = color_of(seat)
        prompt = self.prompts.get(seat.seat)
        staged = seat.seat in self.staged
        if self.view.paused:
            return Lamp(Pattern.PAUSED, color, staged=staged)
        if seat.occupant == Occupant.OCCUPANT_NOBODY and not seat.dropped:
            return Lamp(Pattern.FREE, color, armed=True)  # somebody may go on for who left
        if seat.stand_in and confirmed_here(seat):
            return Lamp(Pattern.FREE, color, armed=True)  # or for oneself, instead of the bot
        if prompt is None:
            if seat.seat in ready_seats(self.view):
                return Lamp(Pattern.READY, color)
            return Lamp(Pattern.NEXT if seat.seat == self.next else Pattern.OFF, color)
        return Lamp(
            Pattern.LOW if seat.seat in self.low else _asked(prompt, staged),
            color,
            armed=prompt.can_confirm
            and confirmed_here(seat)
            and (not _is_bot(seat) or staged or seat.bot_waits),
            staged=staged,
        )

    def _over(self, seat: SeatView) -> Lamp:
        """After the end: the winner, then quiet; all who sit here can have a rematch by holding."""
        won = seat.seat in winners(self.view)
        return Lamp(
            Pattern.WINNER if won and self.now < _quiet_at(self.view) else Pattern.OFF,
            color_of(seat),
            armed=seat.occupant == Occupant.OCCUPANT_PERSON,
        )


def _asked(prompt: Prompt, staged: bool) -> Pattern:
    """The pattern of a seat that the table waits for."""
    if staged and prompt.can_confirm:
        return Pattern.STAGED
    if prompt.kind == PromptKind.PROMPT_KIND_BETWEEN_ROUNDS:
        return Pattern.BETWEEN
    return Pattern.TURN


# ---------------------------------------------------------------- looking at a view


def color_of(seat: SeatView) -> Color:
    """A seat's colour; none for a word that this version doesn't know."""
    return Color.__members__.get(seat.color.upper(), Color.NONE)


def confirmed_here(seat: SeatView) -> bool:
    """A press confirms this seat's turns: it plays, and its own device isn't the only way.

    A bot confirms by itself, unless it was told to wait for the panel.
    """
    if seat.dropped or seat.occupant == Occupant.OCCUPANT_NOBODY:
        return False
    if _is_bot(seat):
        return seat.confirmation == Confirmation.PANEL.value
    return seat.confirmation != Confirmation.DEVICE.value


def _is_bot(seat: SeatView) -> bool:
    return seat.occupant == Occupant.OCCUPANT_BOT


def low_seats(view: TableView, now: int) -> Collection[int]:
    """The seats that are asked and have little time left, or none."""
    if view.status != TableStatus.TABLE_STATUS_RUNNING or view.paused:
        return ()
    asked = {prompt.seat for prompt in view.prompts}
    return [seat.seat for seat in view.seats if seat.seat in asked and _is_low(seat, now)]


def _is_low(seat: SeatView, now: int) -> bool:
    clock = seat.clock
    return clock.ran_out or (clock.HasField("low_time") and clock.low_time.ToMilliseconds() <= now)


def _quiet_at(view: TableView) -> int:
    return view.update_time.ToMilliseconds() + QUIET_AFTER


def starter(view: TableView) -> int:
    """The seat that began the round, marked while the game goes on; 0 for none."""
    if view.status != TableStatus.TABLE_STATUS_RUNNING or view.paused:
        return 0
    return view.game_view.first_seat


def ready_seats(view: TableView) -> Collection[int]:
    """The seats that have confirmed, while others still have to."""
    table = view.game_view.free_table
    if table.phase != FreeTablePhase.FREE_TABLE_PHASE_TOGETHER:
        return ()
    return table.ready


def next_seat(view: TableView) -> int:
    """The seat that is asked after the one that is asked now; 0 where no single one is known to be.

    After the last turn of a round that depends on the game: nobody comes after the last round;
    where the order turns round the last seat begins itself; and where all act together, or
    there is time between rounds, it is everybody. Starting cubes are chosen in reverse order.
    """
    order = list(view.game_view.turn_order)
    asked = [prompt.seat for prompt in view.prompts]
    if len(asked) != 1 or asked[0] not in order:
        return 0
    at = order.index(asked[0])
    kind = view.prompts[0].kind
    if kind == PromptKind.PROMPT_KIND_START:
        return order[at - 1] if at else order[0]
    if kind not in _IN_TURN:
        return 0  # the order is being decided, or this is the last of all who are asked
    out = {seat.seat for seat in view.seats if seat.dropped}
    out |= set(view.game_view.free_table.passed)
    later = [seat for seat in order[at + 1 :] if seat not in out]
    around = [seat for seat in order[:at] if seat not in out]
    if later:
        return later[0]
    return around[0] if around and _goes_around(view) else 0


_IN_TURN = (PromptKind.PROMPT_KIND_TURN, PromptKind.PROMPT_KIND_RETURN_CUBES)


def _goes_around(view: TableView) -> bool:
    """After the last seat in turn order the first one is asked, and nobody else."""
    options = view.options
    if options.get("passing") == "on":
        return True  # until all have passed
    return (
        not view.game_view.last_round
        and options.get("order") != "reversed"
        and options.get("together", "none") == "none"
        and options.get("between") != "on"
    )


def winners(view: TableView) -> Collection[int]:
    """The seats that won; nobody where the game knows no winner, so that all are equal."""
    results = view.outcome.results
    won = {result.seat for result in results if result.rank == 1}
    playing = {result.seat for result in results if not result.dropped}
    return () if len(playing) > 1 and won == playing else won
