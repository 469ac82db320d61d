"""Making a table: what may be asked for, and the table at its first revision."""

from __future__ import annotations

import re
import unicodedata

import msgspec

from tableturn_server.rules import catalog, components
from tableturn_server.rules.game import BadOption, Game, Setting
from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.tables.clocks import is_limited
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.spans import DAY, HOUR, SECOND, in_time
from tableturn_server.tables.state import (
    SEAT_COLORS,
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Making,
    Panel,
    Seat,
    Status,
    Table,
    TableState,
    Takeback,
    TimeoutPolicy,
)

TABLE_ID = re.compile(r"[a-z0-9][a-z0-9-]{2,39}")
TOKEN_BYTES = 32
NAME_LENGTH = 40
TITLE_LENGTH = 60
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
_SEEN = "LNPS"  # letters, numbers, punctuation, symbols: of these a name has one at least
_JOINER = "\u200d"  # joins emoji


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asks for who makes a table; see `CreateTableRequest`. A span is in ms."""

    table_id: str
    game: str
    seats: int = 0
    options: dict[str, str]
    component_set: bytes = b""
    host: bytes
    watch: bytes = b""
    unlisted: bool = False
    start_when_full: bool = False
    takeback: Takeback = Takeback.HOST
    title: str = ""
    seed: bytes = b""
    clock: Clock = Clock()
    absence: Absence = Absence()
    private: bool = False
    spectator_delay: int = 0
    host_stays: bool = False


def make(wish: Wish, *, drawn_seed: bytes, now: int) -> tuple[Table, LogEntry, tuple[str, ...]]:
    """The new table at revision 1, its log entry, and warnings for the players.

    `drawn_seed` is used unless the wish names a seed of its own. Raises Refused
    with UNKNOWN_NAME, BAD_FIELD or BAD_COMPONENTS.
    """
    kind = _kind(wish)
    _check(wish)
    seats = wish.seats or kind.seats.start
    chosen, custom = _component_set(kind.component_set, wish)
    options = _options(kind, seats, wish.options, chosen)
    making = Making(
        table_id=wish.table_id,
        title=clean_text(wish.title, "title", TITLE_LENGTH, empty=True),
        game=wish.game,
        rules_version=kind.rules_version,
        seats=seats,
        options=options,
        set_name=chosen.name if chosen else "",
        set_sha256=chosen.sha256 if chosen else b"",
        custom_set=custom,
        host=wish.host,
        watch=wish.watch,
        unlisted=wish.unlisted or wish.private,
        start_when_full=wish.start_when_full,
        takeback=wish.takeback,
        seed=wish.seed or drawn_seed,
        open_seed=bool(wish.seed),
        created=now,
        clock=wish.clock,
        absence=wish.absence,
        private=wish.private,
        spectator_delay=wish.spectator_delay,
        host_stays=wish.host_stays,
    )
    line = f"a table of {kind.title} for {seats} is made"
    entry = LogEntry(revision=1, time=now, kind=ChangeKind.CREATE, lines=(line,))
    warnings = kind.warnings(Setting(seats=seats, options=options, components=chosen))
    table = new_table(making, tuple(Seat(color) for color in SEAT_COLORS[:seats]))
    return table, entry, (*warnings, *_warnings(wish))


def new_table(making: Making, seats: tuple[Seat, ...], panels: tuple[Panel, ...] = ()) -> Table:
    """A table at its first revision, with nobody asked anything yet."""
    count = len(seats)
    return TableState(
        making=making,
        revision=1,
        stamp=making.created,
        status=Status.OPEN,
        paused=False,
        seats=seats,
        asked_at=(0,) * count,
        turned_at=0,
        staged=((),) * count,
        turns=0,
        log_hash=b"",
        takeback_asked=(),
        open=None,
        hidden=None,
        panels=panels,
    )


def _kind(wish: Wish) -> type[Game[object, object]]:
    """The game that is wanted. Raises Refused for one that there is not."""
    kind = catalog.GAMES.get(wish.game)
    if kind is None:
        raise Refused(
            Reason.UNKNOWN_NAME,
            f"there is no game {wish.game[:40]!r}; games: {', '.join(sorted(catalog.GAMES))}",
            field="game",
        )
    return kind


def _check(wish: Wish) -> None:
    """Raise Refused for what no table has, whatever its game."""
    check_table_id(wish.table_id)
    check_token(wish.host, "host_token_sha256")
    if wish.watch:
        check_token(wish.watch, "watch_token_sha256")
    if wish.seed and len(wish.seed) != SEED_BYTES:
        raise Refused(
            Reason.BAD_FIELD,
            f"a seed has {SEED_BYTES} bytes, not {len(wish.seed)}",
            field="seed",
        )
    check_clock(wish.clock)
    check_absence(wish.absence)
    check_delay(wish.spectator_delay)


def _warnings(wish: Wish) -> tuple[str, ...]:
    """What is wanted and has no effect."""
    by_days = wish.clock.kind is ClockKind.CORRESPONDENCE
    if by_days and wish.absence.policy is not AbsencePolicy.WAIT:
        return ("by correspondence nobody is ever away: what shall happen then has no effect",)
    return ()


def _component_set(shipped: str | None, wish: Wish) -> tuple[components.ComponentSet | None, bytes]:
    """The set that the table plays with, and the document of a set of the maker's own."""
    if shipped is None:
        if wish.component_set:
            raise Refused(
                Reason.BAD_COMPONENTS, f"{wish.game} is played without components", place="$"
            )
        return None, b""
    if not wish.component_set:
        return components.shipped(shipped), b""
    try:
        chosen = components.load(wish.component_set, wish.game)
    except components.BadComponents as error:
        raise Refused(Reason.BAD_COMPONENTS, str(error), place=error.place or "the file") from error
    # The whole set, without its base: another edition of the base changes nothing here.
    return chosen, chosen.document


def _options(
    kind: type[Game[object, object]],
    seats: int,
    given: dict[str, str],
    chosen: components.ComponentSet | None,
) -> dict[str, str]:
    """All options with their values, checked by the game itself."""
    if seats not in kind.seats:
        raise Refused(
            Reason.BAD_FIELD,
            f"{kind.title} is for {kind.seats.start} to {kind.seats.stop - 1} seats, not {seats}",
            field="seats",
        )
    known = [option.name for option in kind.options]
    for name in given:
        if name not in known:
            raise Refused(
                Reason.UNKNOWN_NAME,
                f"{kind.name} has no option {name[:40]!r}; options: {', '.join(sorted(known))}",
                field="options",
            )
    try:
        options = catalog.complete_options(kind, given)
        catalog.bind(kind.name, seats, options, chosen)
    except BadOption as error:
        raise Refused(Reason.BAD_FIELD, str(error), field="options") from error
    return options


# -- time --------------------------------------------------------------------------------------

_Bounds = dict[str, tuple[int, int]]
_START: _Bounds = {"start": (0, DAY)}
_BANK: _Bounds = {"bank": (SECOND, 7 * DAY), "step": (0, DAY), **_START}
_SPANS: dict[ClockKind, tuple[str, _Bounds]] = {
    ClockKind.NONE: ("a table without a clock", {}),
    ClockKind.COUNT_UP: ("a clock that only counts", _START),
    ClockKind.PER_TURN: ("a clock per turn", {"step": (SECOND, DAY), **_START}),
    ClockKind.INCREMENT: ("a clock with an increment", _BANK),
    ClockKind.DELAY: ("a clock with a delay", _BANK),
    ClockKind.CORRESPONDENCE: ("a correspondence clock", {"step": (HOUR, 60 * DAY), **_START}),
}
"""Which spans each kind of clock has, and their bounds."""

LEAST_GRACE, MOST_GRACE = 5 * SECOND, DAY
MOST_DELAY = HOUR


def check_clock(clock: Clock) -> None:
    """Raise Refused for spans that the kind of clock doesn't have, or not so long or short."""
    what, bounds = _SPANS[clock.kind]
    for name in ("bank", "step", "start"):
        least, most = bounds.get(name, (0, 0))
        if least <= getattr(clock, name) <= most:
            continue
        raise Refused(
            Reason.BAD_FIELD,
            f"the {name} of {what} is {in_time(least)} to {in_time(most)}"
            if name in bounds
            else f"{what} has no {name}; leave it out",
            field=f"clock.{name}",
        )
    if clock.timeout is not TimeoutPolicy.WARN and not is_limited(clock):
        raise Refused(
            Reason.BAD_FIELD,
            f"{what} never runs out; leave out what happens then",
            field="clock.timeout",
        )


def check_absence(absence: Absence) -> None:
    """Raise Refused for a grace that is too short or too long."""
    if not LEAST_GRACE <= absence.grace <= MOST_GRACE:
        raise Refused(
            Reason.BAD_FIELD,
            f"the grace is {in_time(LEAST_GRACE)} to {in_time(MOST_GRACE)}",
            field="absence.grace",
        )


def check_delay(delay: int) -> None:
    """Raise Refused for what spectators see too late."""
    if not 0 <= delay <= MOST_DELAY:
        raise Refused(
            Reason.BAD_FIELD,
            f"what spectators see is at most {in_time(MOST_DELAY)} old",
            field="spectator_delay",
        )


# -- names and texts ---------------------------------------------------------------------------


def check_table_id(table_id: str) -> None:
    """Raise Refused unless the id may name a table."""
    if not TABLE_ID.fullmatch(table_id):
        raise Refused(
            Reason.BAD_FIELD,
            "a table's id has 3 to 40 of a-z, 0-9 and -, and begins with a letter or digit",
            field="table_id",
        )


def check_token(digest: bytes, field: str) -> None:
    """Raise Refused unless this can be the SHA-256 of a token."""
    if len(digest) != TOKEN_BYTES:
        raise Refused(
            Reason.BAD_FIELD,
            f"{field} is the SHA-256 of a token: {TOKEN_BYTES} bytes, not {len(digest)}",
            field=field,
        )


def clean_text(value: str, field: str, longest: int, *, empty: bool = False) -> str:
    """A name or title in normal form, without white space at its ends.

    Raises Refused if it is empty (unless that is allowed), too long, or holds
    characters that can't be seen.
    """
    cleaned = unicodedata.normalize("NFC", value[: longest * 8]).strip()
    if not cleaned and not empty:
        raise Refused(Reason.BAD_FIELD, f"{field} is missing", field=field)
    if len(value) > longest * 8 or len(cleaned) > longest:
        raise Refused(
            Reason.BAD_FIELD,
            f"{field} has at most {longest} characters, not {len(value)}",
            field=field,
        )
    kinds = {unicodedata.category(c) for c in cleaned}
    if not can_be_seen(cleaned) or (cleaned and not any(kind[0] in _SEEN for kind in kinds)):
        raise Refused(Reason.BAD_FIELD, f"{field} has characters that can't be seen", field=field)
    return cleaned


def can_be_seen(text: str) -> bool:
    """Nothing in a text is a control or another character without a shape."""
    return all(c == _JOINER or unicodedata.category(c) not in _UNSEEN for c in text)
