"""What `new` is told about a table, in groups: who plays, what, with which clock, who may see."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import click

from tableturn_client.cli.command import Whole, read_options
from tableturn_client.cli.files import read_file
from tableturn_client.cli.grouping import ClockType, GroupedOption, TimeType, grouped
from tableturn_client.client import Takeback
from tableturn_client.clocks import Absence, Clock, ClockKind, IfAway, TimeUp
from tableturn_client.errors import BadValue
from tableturn_client.tokens import check_token, new_token

_LARGEST_SET = 256 * 1024
_SEED = re.compile(r"[0-9a-fA-F]{32}")
_TAKEBACK = {
    "host": Takeback.HOST,
    "all": Takeback.ALL,
    "all-agree": Takeback.ALL,
    "never": Takeback.NEVER,
}
_TIME_UP = {policy.name.lower(): policy for policy in TimeUp}
_IF_AWAY = {policy.name.lower(): policy for policy in IfAway}


@dataclass(frozen=True)
class WhoPlays:
    """How many seats, the bots on them, and the names under which to sit down at once."""

    seats: int | None
    bots: tuple[str, ...]
    names: tuple[str, ...]


who_plays = grouped(
    "who",
    "Who plays",
    WhoPlays,
    GroupedOption(["--seats"], type=Whole(1, 1000), metavar="N", help="How many [the least]."),
    GroupedOption(
        ["--bot", "bots"],
        multiple=True,
        metavar="BOT",
        help="Give a seat to a bot, the last ones to several. Without --seats there is one more "
        "seat.",
    ),
    GroupedOption(
        ["--play", "names"],
        multiple=True,
        metavar="NAME",
        help="Sit down under this name and play at once; the game then starts when the table "
        "is full.",
    ),
)


@dataclass(frozen=True)
class WhatIsPlayed:
    """The game's options and components, the table's name and id, and how it begins."""

    options: dict[str, str]
    components: bytes
    table_id: str
    if_absent: bool
    title: str
    seed: bytes
    takeback: Takeback
    start_when_full: bool | None


def _what(
    options: tuple[str, ...],
    components: str | None,
    table_id: str,
    if_absent: bool,
    title: str,
    seed: str | None,
    takeback: str,
    start_when_full: bool | None,
) -> WhatIsPlayed:
    if if_absent and not table_id:
        raise click.UsageError("--if-absent needs --id")
    own_set = b"" if components is None else read_file(components, _LARGEST_SET)
    if components is not None and not own_set:
        raise BadValue(f"{components} is empty: it is no component set")
    if seed is not None and not _SEED.fullmatch(seed):
        raise click.UsageError("a seed has 32 hexadecimal digits")
    return WhatIsPlayed(
        read_options(options),
        own_set,
        table_id,
        if_absent,
        title,
        bytes.fromhex(seed or ""),
        _TAKEBACK[takeback],
        start_when_full,
    )


what_is_played = grouped(
    "what",
    "What is played",
    _what,
    GroupedOption(
        ["--option", "options"], multiple=True, metavar="NAME=VALUE", help="See `rules GAME`."
    ),
    GroupedOption(["--components"], metavar="FILE", help="A component set of your own."),
    GroupedOption(
        ["--id", "table_id"], default="", metavar="ID", help="The table's id [one is made]."
    ),
    GroupedOption(
        ["--if-absent"], is_flag=True, help="With --id: a table of the same making is fine."
    ),
    GroupedOption(["--title"], default="", help="What the table is called."),
    GroupedOption(
        ["--seed"], metavar="HEX", help="A chosen seed, 32 digits; all see that it was chosen."
    ),
    GroupedOption(
        ["--takeback"],
        type=click.Choice(list(_TAKEBACK)),
        default="host",
        help="Who may take a confirmed turn back [host].",
    ),
    GroupedOption(
        ["--start-when-full/--no-start-when-full"],
        default=None,
        help="Start as soon as every seat is taken [no; with --play yes].",
    ),
)


@dataclass(frozen=True)
class Timing:
    """The clock, and what happens to who is away."""

    clock: Clock | None
    absence: Absence | None


def _timing(
    clock: Clock | None,
    time_up: str | None,
    start_clock: float | None,
    absence: str | None,
    grace: float | None,
) -> Timing:
    if clock is None and (time_up or start_clock):
        raise click.UsageError("--time-up and --start-clock need a --clock")
    if clock is not None and clock.kind is ClockKind.COUNT_UP and time_up:
        raise click.UsageError("time that is counted up is never up: leave --time-up away")
    if grace is not None and absence is None:
        raise click.UsageError("--grace needs --absence: what happens to who is away for longer")
    if grace == 0:
        raise click.UsageError("--grace 0s leaves nobody the time to come back: 5s is the least")
    if clock and clock.kind is ClockKind.CORRESPONDENCE and absence in ("bot", "drop"):
        raise click.UsageError(
            "by correspondence nobody is ever away: leave --absence away; --time-up says what "
            "happens when the days are over"
        )
    if clock is not None:
        clock = replace(clock, time_up=_TIME_UP[time_up or "warn"], start=start_clock or 0.0)
    away = Absence(_IF_AWAY[absence], grace or 0.0) if absence else None
    return Timing(clock, away)


timing = grouped(
    "timing",
    "Time, and who is away",
    _timing,
    GroupedOption(
        ["--clock"],
        type=ClockType(),
        metavar="CLOCK",
        help='"90s per turn", "15m + 10s" (a bank, and so much more each turn), "15m delay 5s", '
        '"30m in all", "3 days" (by correspondence), "count-up" [none].',
    ),
    GroupedOption(
        ["--time-up"],
        type=click.Choice(list(_TIME_UP)),
        help="What happens then: it is said, the least is done, a bot plays on, or the seat "
        "leaves [warn].",
    ),
    GroupedOption(
        ["--start-clock"],
        type=TimeType(),
        metavar="TIME",
        help="For who is late: so long a seat's own time stands still at its first turn.",
    ),
    GroupedOption(
        ["--absence"],
        type=click.Choice(list(_IF_AWAY)),
        help="Who is away: the table waits, a bot plays on, or the seat leaves [wait].",
    ),
    GroupedOption(
        ["--grace"],
        type=TimeType(),
        metavar="TIME",
        help="For how long a lost connection harms nobody [2m].",
    ),
)


@dataclass(frozen=True)
class WhoSees:
    """Who finds the table, who may sit down and look on, and who looks after it."""

    unlisted: bool
    private: bool
    watch_token: str
    spectator_delay: float
    host_stays: bool


def _who_sees(
    unlisted: bool,
    private: bool,
    watch_token: str | None,
    spectator_delay: float | None,
    host_stays: bool,
) -> WhoSees:
    watch = new_token() if watch_token == "new" else watch_token or ""
    if watch_token is not None:
        check_token(watch)
    return WhoSees(unlisted, private, watch, spectator_delay or 0.0, host_stays)


who_sees = grouped(
    "sees",
    "Who may see it",
    _who_sees,
    GroupedOption(["--unlisted"], is_flag=True, help="Leave it out of `tables`."),
    GroupedOption(
        ["--private"], is_flag=True, help="Nobody sits down or looks on without the join code."
    ),
    GroupedOption(
        ["--watch-token"],
        metavar="TOKEN",
        help="Spectators need this token; `new` makes one. Else anybody may watch.",
    ),
    GroupedOption(
        ["--spectator-delay"],
        type=TimeType(),
        metavar="TIME",
        help="Spectators see everything so much later, such as 10m [at once].",
    ),
    GroupedOption(
        ["--host-stays"],
        is_flag=True,
        help="The host's duties stay with you, also when you are gone [they pass on].",
    ),
)
