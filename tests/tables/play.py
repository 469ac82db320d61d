"""A small vocabulary for tests of the authority: a table, the people at it, and what they do.

game = a_table("free-table", seats=2, points="on")
ann, bob = game.people
ann.acts("score 5 for seat 2", confirm=True)
with refused("NOT_ASKED"):
    ann.confirms()

panel = game.host_puts_panel(seats=(1, 2))
panel.presses(2)
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import pytest

from tableturn import notation
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.choices import _CLASSES, Choice, pick
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tableturn_server.tables import authority, commands, views
from tableturn_server.tables.authority import Change, decide, staged_position
from tableturn_server.tables.commands import By, Gesture
from tableturn_server.tables.export import Recorded
from tableturn_server.tables.facts import asked_seats
from tableturn_server.tables.history import (
    History,
    snapshot_turn,
    standing,
    turn_to_take_back,
)
from tableturn_server.tables.log import LogEntry
from tableturn_server.tables.making import Wish, make
from tableturn_server.tables.refusals import Refused
from tableturn_server.tables.state import (
    Absence,
    Clock,
    Confirmation,
    Panel,
    Status,
    Table,
    Takeback,
    game_of,
)

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
SEED = bytes(range(16))


def digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


HOST = By(digest("the host's token"))
ADMIN = By(digest("the admin's token"), admin=True)
STRANGER = By(digest("a token of nobody here"))
NOBODY = By()
BOTS = By(bots=True)
SERVICE = By(service=True)
UID = 7


@contextlib.contextmanager
def refused(reason: str, says: str = "", **details: object) -> Iterator[None]:
    """What is done inside is refused for this reason, with these words and details."""
    with pytest.raises(Refused) as raised:
        yield
    assert raised.value.reason.value == reason, raised.value.sentence
    for name, value in details.items():
        assert raised.value.details.get(name) == str(value)
    assert raised.value.sentence
    assert says in raised.value.sentence


def action(text: str) -> Action:
    """The action of a text such as `move C3`."""
    kind, fields = notation.parse(text)
    found: Action = _CLASSES[kind](**{name: _value(name, v) for name, v in fields.items()})
    return found


def _value(name: str, value: tuple[int, ...] | int | str) -> object:
    """The value of a field as the rules have it."""
    enum = {"cube": Color, "bonus": BonusKind}.get(name)
    if enum and isinstance(value, int):
        return enum(value)
    return Cubes(*value) if isinstance(value, tuple) else value


@dataclass
class TableOfTest:
    """A table with all that the store keeps of it: its log, and snapshots by turn."""

    table: Table
    log: list[LogEntry]
    snapshots: dict[int, Table] = field(default_factory=dict)
    clock: int = 1_000_000
    most_replayed: int = 0
    tick: int = 1000

    def does(self, command: commands.AnyCommand) -> Change | None:
        """Decide a command, and keep what comes of it."""
        self.clock += self.tick
        before = self.table
        history = self.history() if authority.needs_history(self.table, command) else None
        change = decide(self.table, command, self.clock, history)
        assert self.table is before
        if change is not None:
            assert change.table.revision == change.entry.revision == before.revision + 1
            self.table = change.table
            self.log.append(change.entry)
            if change.snapshot:
                self.snapshots[change.table.turns] = change.table
        return change

    def history(self) -> History | None:
        """What a takeback is given: the nearest snapshot, and the turns since."""
        if self.table.status is not Status.RUNNING or not self.table.turns:
            return None
        taken_back = turn_to_take_back(self.table)
        snapshot = self.snapshots[snapshot_turn(taken_back)]
        entries = [entry for entry in self.log if entry.revision > snapshot.revision]
        turns = standing(entries, snapshot.turns, self.table.turns)
        self.most_replayed = max(self.most_replayed, taken_back - snapshot.turns)
        return History(snapshot, turns)

    def recorded(self) -> list[Recorded]:
        return [Recorded(f"change-{entry.revision}", entry) for entry in self.log]

    def person(self, seat: int) -> Person:
        return Person(self, NAMES[seat - 1])

    @property
    def people(self) -> list[Person]:
        return [self.person(seat) for seat in range(1, len(self.table.seats) + 1)]

    @property
    def people_by_name(self) -> list[Person]:
        """The people who sat down first, wherever they sit now."""
        return [Person(self, name) for name in NAMES[: len(self.table.seats)]]

    @property
    def asked(self) -> list[Person]:
        """Whoever is asked now."""
        game = game_of(self.table)
        return [self.person(prompt.seat) for prompt in game.prompts(self.table.position)]

    @property
    def asked_seats(self) -> tuple[int, ...]:
        """The seats that are asked now, whoever sits there."""
        return asked_seats(self.table)

    def is_over(self) -> bool:
        return self.table.status is Status.FINISHED

    def plays_on(self, turns: int, chance: random.Random) -> None:
        """Whoever is asked takes turns by chance, until so many more stand or it is over."""
        until = self.table.turns + turns
        while self.table.turns < until and not self.is_over():
            chance.choice(self.asked).takes_a_turn(chance)

    def host_pauses(self) -> None:
        assert self.does(commands.Pause(by=HOST))

    def host_resumes(self) -> None:
        assert self.does(commands.Resume(by=HOST))

    def host_starts(self, *, without_free_seats: bool = False) -> None:
        assert self.does(commands.Start(by=HOST, without_free_seats=without_free_seats))

    def host_seats_bot(
        self,
        bot: str = "greedy",
        *,
        seat: int = 0,
        name: str = "",
        confirmation: Confirmation = Confirmation.EITHER,
    ) -> BotOfTest:
        change = self.does(
            commands.SeatBot(by=HOST, seat=seat, bot=bot, name=name, confirmation=confirmation)
        )
        assert change is not None
        return BotOfTest(self, change.seat)

    def host_passes_to(self, seat: int) -> None:
        assert self.does(commands.PassHost(by=HOST, seat=seat))

    def says_away(
        self, seat: int, *, bot: str = "greedy", away_for: int = 120_000, since: int | None = None
    ) -> Change | None:
        """A seat's player goes away, and for so long; or was heard last at `since`, it is said."""
        if since is None:
            since = self.clock
            self.clock += away_for - self.tick
        return self.does(commands.GoAway(by=SERVICE, seat=seat, since=since, bot=bot))

    def hears(self, seat: int) -> Change | None:
        """The service hears a device of a seat again."""
        return self.does(commands.ComeBack(by=SERVICE, seat=seat))

    def bot_of(self, seat: int) -> BotOfTest:
        """The bot that sits on a seat, or stands in there."""
        return BotOfTest(self, seat)

    def host_puts_panel(
        self, uid: int = UID, *, seats: tuple[int, ...], token: str = ""
    ) -> PanelOfTest:
        panel = PanelOfTest(self, uid, digest(token or f"the token of panel {uid}"))
        assert self.does(commands.AttachPanel(by=HOST, uid=uid, token=panel.token, seats=seats))
        return panel

    def host_sets_confirmation(self, seat: int, confirmation: Confirmation) -> None:
        assert self.does(commands.SetConfirmation(by=HOST, seat=seat, confirmation=confirmation))

    def host_takes_back(self, at: int | None = None) -> Change | None:
        revision = self.table.revision if at is None else at
        return self.does(commands.TakeBack(by=HOST, expected_revision=revision))


@dataclass
class Person:
    """Somebody with a token; the token's text follows from the name."""

    at: TableOfTest
    name: str

    @property
    def by(self) -> By:
        return By(digest(f"the token of {self.name}"))

    @property
    def seat(self) -> int:
        (seat,) = self.at.table.seats_of(self.by.token)
        return seat

    @property
    def staged(self) -> tuple[Action, ...]:
        return self.at.table.staged[self.seat - 1]

    @property
    def asked_at(self) -> int:
        return self.at.table.asked_at[self.seat - 1]

    def sees(self) -> views.TableView:
        return views.view(self.at.table, self.seat)

    def takes_seat(self, seat: int = 0, name: str | None = None) -> int:
        change = self.at.does(
            commands.TakeSeat(by=NOBODY, seat=seat, name=name or self.name, token=self.by.token)
        )
        assert change is not None
        return change.seat

    def leaves(self) -> None:
        assert self.at.does(commands.LeaveSeat(by=self.by))

    def acts(self, *texts: str, confirm: bool = False, at: int | None = None, seat: int = 0) -> int:
        """Stage actions; the revision that the seat has seen is the newest unless it is given."""
        return self._acts(tuple(map(action, texts)), confirm, at, seat)

    def _acts(
        self, actions: tuple[Action, ...], confirm: bool, at: int | None = None, seat: int = 0
    ) -> int:
        change = self.at.does(
            commands.Act(
                by=self.by,
                seat=seat,
                expected_revision=self.at.table.revision if at is None else at,
                actions=actions,
                confirm=confirm,
            )
        )
        assert change is not None
        return change.table.revision

    def acts_by_chance(self, choice: Choice, chance: random.Random) -> int:
        """Stage one of the actions that a choice allows."""
        return self._acts((pick(choice, chance.randrange),), False)

    def confirms(self, at: int | None = None) -> int:
        return self._acts((), True, at)

    def undoes(self, *, all: bool = False, at: int | None = None) -> None:
        revision = self.at.table.revision if at is None else at
        assert self.at.does(commands.Undo(by=self.by, expected_revision=revision, all=all))

    def asks_to_take_back(self) -> tuple[int, ...] | None:
        """The seats that still have to agree; None if this one has agreed before."""
        revision = self.at.table.revision
        change = self.at.does(commands.TakeBack(by=self.by, expected_revision=revision))
        return None if change is None else change.waiting_for

    def concedes(self) -> None:
        assert self.at.does(commands.Concede(by=self.by))

    def lets_bot_play(self, bot: str = "greedy") -> Change | None:
        return self.at.does(commands.StandIn(by=self.by, bot=bot))

    def comes_back(self) -> Change | None:
        return self.at.does(commands.ComeBack(by=self.by))

    def votes(
        self, target: int, *, withdraw: bool = False, away: Iterable[int] = ()
    ) -> tuple[int, ...] | None:
        """Want a seat to leave; the seats that still must want it, None if nothing changes."""
        change = self.at.does(
            commands.VoteDrop(by=self.by, target=target, withdraw=withdraw, away=frozenset(away))
        )
        return None if change is None else change.waiting_for

    def moves_to(self, token: str) -> Change | None:
        """Move the seat to another device, with a code that was made now."""
        seat = self.seat
        return self.at.does(
            commands.Reseat(
                by=SERVICE, seat=seat, token=digest(token), since=self.at.table.seat(seat).since
            )
        )

    def pauses(self) -> None:
        assert self.at.does(commands.Pause(by=self.by))

    def resumes(self) -> None:
        assert self.at.does(commands.Resume(by=self.by))

    def takes_a_turn(self, chance: random.Random) -> None:
        """Actions by chance, and a confirmation as soon as chance wants one that is possible."""
        for _ in range(200):
            game = game_of(self.at.table)
            position = staged_position(game, self.at.table, self.seat)
            prompt = next(p for p in game.prompts(position) if p.seat == self.seat)
            choices = [
                choice
                for choice in game.legal_actions(position, self.seat)
                if choice.kind != "finish_game"
            ]
            if prompt.can_confirm and (not choices or chance.random() < 0.4):
                self.confirms()
                return
            self.acts_by_chance(chance.choice(choices), chance)
        raise AssertionError("no confirmation is reached")


@dataclass
class BotOfTest:
    """A bot on a seat, as the service plays for it."""

    at: TableOfTest
    seat: int

    @property
    def staged(self) -> tuple[Action, ...]:
        return self.at.table.staged[self.seat - 1]

    def plays(self, *texts: str, confirm: bool = True, at: int | None = None) -> None:
        """Take a whole turn, or stage one for the panel to confirm."""
        change = self.at.does(
            commands.Act(
                by=BOTS,
                seat=self.seat,
                expected_revision=self.at.table.revision if at is None else at,
                actions=tuple(map(action, texts)),
                confirm=confirm,
            )
        )
        assert change is not None
        assert change.seat == self.seat

    def waits(self) -> None:
        """Stage nothing, and leave the turn to the seat's button."""
        self.plays(confirm=False)

    def plays_by_chance(self, chance: random.Random) -> None:
        """A whole turn by chance."""
        table = self.at.table
        game, open_ = game_of(table), table.position
        played: list[Action] = []
        for _ in range(200):
            prompt = next(p for p in game.prompts(open_) if p.seat == self.seat)
            choices = game.legal_actions(open_, self.seat)
            if prompt.can_confirm and (not choices or chance.random() < 0.4):
                change = self.at.does(
                    commands.Act(
                        by=BOTS,
                        seat=self.seat,
                        expected_revision=table.revision,
                        actions=tuple(played),
                        confirm=True,
                    )
                )
                assert change is not None
                return
            played.append(pick(chance.choice(choices), chance.randrange))
            open_ = game.stage(open_, self.seat, played[-1])
        raise AssertionError("no confirmation is reached")


@dataclass
class PanelOfTest:
    """A panel on the table, as its bridge sends what is done with the buttons."""

    at: TableOfTest
    uid: int
    token: bytes

    @property
    def by(self) -> By:
        return By(self.token)

    @property
    def there(self) -> Panel:
        (panel,) = (panel for panel in self.at.table.panels if panel.uid == self.uid)
        return panel

    @property
    def seats(self) -> tuple[int, ...]:
        return self.there.seats

    def command(
        self, button: int, gesture: Gesture, second: int = 0, at: int | None = None
    ) -> commands.Press:
        """A gesture; the revision that the panel shows is the newest unless it is given."""
        return commands.Press(
            by=self.by,
            uid=self.uid,
            button=button,
            gesture=gesture,
            second=second,
            expected_revision=self.at.table.revision if at is None else at,
        )

    def _does(self, button: int, gesture: Gesture, second: int = 0, at: int | None = None) -> int:
        change = self.at.does(self.command(button, gesture, second, at))
        assert change is not None
        return change.seat

    def presses(self, button: int, *, at: int | None = None) -> int:
        return self._does(button, Gesture.PRESS, at=at)

    def holds(self, button: int, *, at: int | None = None) -> int:
        return self._does(button, Gesture.LONG, at=at)

    def chords(self, button: int, second: int, *, at: int | None = None) -> int:
        return self._does(button, Gesture.CHORD, second, at)

    def presses_master(self, *, at: int | None = None) -> int:
        return self._does(0, Gesture.MASTER, at=at)

    def holds_master(self, *, at: int | None = None) -> int:
        return self._does(0, Gesture.MASTER_LONG, at=at)


def a_table(
    game: str = "free-table",
    *,
    seats: int = 2,
    seed: bytes = SEED,
    open_seed: bool = False,
    takeback: Takeback = Takeback.HOST,
    start_when_full: bool = True,
    watch: bytes = b"",
    taken: bool = True,
    clock: Clock | None = None,
    absence: Absence | None = None,
    private: bool = False,
    host_stays: bool = False,
    **options: str,
) -> TableOfTest:
    """A table with everybody on their seats, and the game started."""
    if game == "free-table":
        options = {"first_seat": "1", **options}
    wish = Wish(
        table_id="the-table",
        game=game,
        seats=seats,
        options=options,
        host=HOST.token,
        watch=watch,
        start_when_full=start_when_full,
        takeback=takeback,
        seed=seed if open_seed else b"",
        clock=clock or Clock(),
        absence=absence or Absence(),
        private=private,
        host_stays=host_stays,
    )
    table, entry, _ = make(wish, drawn_seed=seed, now=1_000_000)
    made = TableOfTest(table, [entry])
    if taken:
        for name in NAMES[:seats]:
            change = made.does(
                commands.TakeSeat(
                    by=HOST, name=name, token=digest(f"the token of {name}"), invited=private
                )
            )
            assert change is not None
    return made


def eastern_wonders(**wishes: object) -> TableOfTest:
    return a_table("eastern-wonders", **wishes)  # type: ignore[arg-type]


__all__ = [
    "ADMIN",
    "BOTS",
    "HOST",
    "NAMES",
    "NOBODY",
    "SEED",
    "SERVICE",
    "STRANGER",
    "UID",
    "BotOfTest",
    "By",
    "Confirmation",
    "PanelOfTest",
    "Person",
    "TableOfTest",
    "a_table",
    "action",
    "authority",
    "digest",
    "eastern_wonders",
    "refused",
]
