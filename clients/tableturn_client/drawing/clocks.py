"""Clocks: what each seat has left, and what was agreed. In words and digits, never by colour alone.

What is drawn is for showing (case C2): a clock at zero has run out when the service says so.
"""

from __future__ import annotations

import math
from datetime import timedelta

from rich.text import Text

from tableturn_client.clocks import ClockKind
from tableturn_client.drawing.moment import Moment
from tableturn_client.drawing.words import clean, many
from tableturn_client.messages import (
    AbsencePolicy,
    ClockSettings,
    Occupant,
    SeatView,
    TableStatus,
    TableView,
    TimeoutPolicy,
)
from tableturn_client.timekeeping import start_left, time_left, time_used

_AWAY = {
    AbsencePolicy.ABSENCE_POLICY_BOT: "a bot plays on for who is away",
    AbsencePolicy.ABSENCE_POLICY_DROP: "who is away leaves the game",
}
_IF_AWAY = {
    AbsencePolicy.ABSENCE_POLICY_BOT: "a bot plays on",
    AbsencePolicy.ABSENCE_POLICY_DROP: "the seat leaves the game",
}
_IF_UP = {
    TimeoutPolicy.TIMEOUT_POLICY_DEFAULT: "the least that the rules allow is done",
    TimeoutPolicy.TIMEOUT_POLICY_BOT: "a bot plays on",
    TimeoutPolicy.TIMEOUT_POLICY_DROP: "the seat leaves the game",
}
_WITH_BANK = (ClockKind.INCREMENT.value, ClockKind.DELAY.value)
_GRACE = timedelta(minutes=2)
_HOUR, _DAY = 3_600, 86_400


def shown(time: timedelta) -> str:
    """A clock's face: `12:34`, `1:02:03`, `2 d 4 h`. Only nothing at all is `0:00`."""
    seconds = math.ceil(max(0.0, time.total_seconds()))
    if seconds >= _DAY:
        return f"{seconds // _DAY} d {seconds % _DAY // _HOUR} h"
    if seconds >= _HOUR:
        return f"{seconds // _HOUR}:{seconds % _HOUR // 60:02}:{seconds % 60:02}"
    return f"{seconds // 60}:{seconds % 60:02}"


def span(time: timedelta) -> str:
    """How long something lasts, roughly: `20 s`, `10 min`, `3 h`, `2 days`."""
    seconds = int(max(0.0, time.total_seconds()))
    if seconds >= 2 * _DAY:
        return many(seconds // _DAY, "day")
    if seconds >= 2 * _HOUR:
        return f"{seconds // _HOUR} h"
    return f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"


def face(view: TableView, seat: SeatView, moment: Moment) -> Text:
    """What a seat has left, or has used where time is only counted; empty for no clock."""
    if not seat.HasField("clock"):
        return Text()
    clock, now = seat.clock, moment.now
    start = start_left(view, seat.seat, now)
    late = f" +{shown(start)} start" if start else ""
    if view.clock.kind == ClockKind.COUNT_UP.value:
        return Text(f"{shown(time_used(view, seat.seat, now))} used{late}")
    if clock.ran_out:
        return Text("ran out", "bold red")
    left = time_left(view, seat.seat, now)
    if left is None or not (left or clock.running or view.clock.kind in _WITH_BANK):
        return Text()  # it has its time when its turn comes
    left -= min(left, start)
    if clock.running and clock.HasField("low_time") and moment.is_over(clock.low_time, view):
        return Text(f"{shown(left)} low", "bold red")
    return Text(f"{shown(left)}{late}", "bold" if clock.running else "")


def state(view: TableView, seat: SeatView) -> str:
    """Whether a seat's clock runs, and who plays there instead of its player, in words."""
    told = []
    if seat.stand_in:
        told.append(f"{clean(seat.stand_in, 16)} plays on for them")
    elif seat.clock.ran_out:
        told.append("time is up; the turn goes on")
    elif seat.clock.running:
        told.append("runs")
    if seat.occupant == Occupant.OCCUPANT_NOBODY:
        told.append("nobody sits there")
    return ", ".join(told)


def leaving(view: TableView) -> str:
    """What happens to whoever goes away now, in words that follow "be back"; empty: nothing."""
    if view.status != TableStatus.TABLE_STATUS_RUNNING:
        return ""
    by_post = view.clock.kind == ClockKind.CORRESPONDENCE.value
    away = "" if by_post else _IF_AWAY.get(view.absence.policy, "")
    if away:
        return f"within {span(view.absence.grace.ToTimedelta() or _GRACE)}, or {away}"
    up = _IF_UP.get(view.clock.timeout, "") if view.HasField("clock") else ""
    limited = view.clock.kind not in (ClockKind.NONE.value, ClockKind.COUNT_UP.value)
    return f"before your time is up, or {up}" if up and limited else ""


def standing(view: TableView, moment: Moment) -> str:
    """How long the table is paused, or between rounds; empty for neither."""
    if not view.HasField("standing_since"):
        return ""
    now = moment.since(view.standing_since, view)
    before = view.paused_time if view.paused else view.between_time
    what = "paused" if view.paused else "between rounds"
    told = f"{what} for {shown(now)}"
    if before.ToTimedelta():
        told += f", {shown(before.ToTimedelta() + now)} in all"
    return told + ("; no clock runs" if view.HasField("clock") else "")


def terms(view: TableView) -> list[str]:
    """What was agreed about time and who is away, in sentences; none for nothing."""
    told = []
    if view.HasField("clock") and (clock := _clock(view.clock)):
        up = _IF_UP.get(view.clock.timeout, "")
        told.append(f"Clock: {clock}" + (f"; then {up}." if up else "."))
        if start := view.clock.start.ToTimedelta():
            told.append(f"For who is late: {shown(start)} more at a seat's first turn.")
    if away := _AWAY.get(view.absence.policy):
        grace = view.absence.grace.ToTimedelta() or _GRACE
        told.append(f"After {span(grace)}, {away}.")
    return told


def _clock(clock: ClockSettings) -> str:
    """The clock in words."""
    bank, step = shown(clock.bank.ToTimedelta()), shown(clock.step.ToTimedelta())
    each = bool(clock.step.ToTimedelta())
    match clock.kind:
        case ClockKind.COUNT_UP.value:
            return "time is counted, and never runs out"
        case ClockKind.PER_TURN.value:
            return f"{step} for each turn"
        case ClockKind.CORRESPONDENCE.value:
            return f"{step} for each turn, by correspondence"
        case ClockKind.INCREMENT.value:
            return f"{bank} for the game" + (f", and {step} more with each turn" if each else "")
        case ClockKind.DELAY.value:
            late = f", which begins to run {step} into a turn" if each else ""
            return f"{bank} for the game{late}"
    return ""
