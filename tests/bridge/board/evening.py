"""An evening at a panel in virtual time: people who press, a bridge, a service, and trouble.

The board, the link, what the lamps show, and what the service does are the real ones. What is
made up is how long everything takes, and the trouble. All that people do with their fingers is
written down, and so is all that the service has carried out: `check` holds one against the other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from tableturn_bridge.protocol import DEBOUNCE, Event, Kind, Ping, Pong, Result
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.state import Status, Table

from .authority import Service, Store
from .bench import Bench
from .host import LOOKS_EVERY, Host

SEATS = 4
BEGIN = 1_900_000_000
"""When the evening is, in seconds since 1970."""
PATIENCE = 15_000
"""Milliseconds within which all must be well again after any trouble."""
LOOK = 0xBEEF
"""The token of pings by which an evening looks at its panel; those of the bridge are small."""

Doing = tuple[float, Callable[[], None]]
"""Something that is done after so many milliseconds."""
Key = tuple[int, int]
"""The session and the number of a gesture."""


@dataclass(frozen=True)
class Finger:
    """What a person has done with a button."""

    button: int
    counts: float
    """When the button counted as pressed, if the board was there."""


@dataclass
class Call:
    """A gesture on its way from a bridge to the service and back."""

    event: Event
    host: Host
    due: float
    result: Result | None = None


class Evening:
    """A free table with four seats, a panel, and what happens there."""

    def __init__(self, bench: Bench, runner: asyncio.Runner, seed: int) -> None:
        self.bench = bench
        self.draw = random.Random(seed)
        self.store = Store()
        self._runner = runner
        self._uid = 9
        self.service = self._new_service()
        self.service.make(SEATS, max_rounds="0")
        self.host: Host | None = Host(bench, self.draw, self.service.picture(SEATS))
        self.plugged = True
        self.bridges = 1
        self.services = 1
        self.fingers: list[Finger] = []
        self.made: dict[Key, Finger] = {}
        """By which finger each gesture was made."""
        self.revisions: dict[Key, int] = {}
        """The revision of each gesture that the service has carried out."""
        self.takes_back = False
        """The next turn that counts is taken back at once."""
        self.calls: list[Call] = []
        self._taken = 0
        self._shows_at: float | None = None

    def _new_service(self) -> Service:
        return Service(self.store, self._runner, lambda: BEGIN + self.bench.now / 1000, self._uid)

    # ------------------------------------------------------------ time

    def run(self, ms: float) -> None:
        """Let time pass for everybody."""
        end = self.bench.now + ms
        while self.bench.now < end:
            self.bench.to(min(end, self.bench.now + LOOKS_EVERY))
            if self.host is not None and self.plugged:
                self.host.look()
                self._hear(self.host)
            else:
                self.bench.take()
            self._carry()

    def soon(self, most: float = 15) -> float:
        """A moment that is not far away."""
        return self.bench.now + self.draw.uniform(0, most)

    def _hear(self, host: Host) -> None:
        for _, event in host.pressed[self._taken :]:
            self._made_by(event)
            self.calls.append(Call(event, host, self.soon()))
        self._taken = len(host.pressed)

    def _made_by(self, event: Event) -> None:
        """The finger whose gesture this is: none makes two, and none is there without."""
        key = event.session, event.number
        pressed = self.bench.pressed_at[key]
        fingers = [
            finger
            for finger in self.fingers[-20:]
            if finger.button == event.button and abs(finger.counts - pressed) < 10
        ]
        assert len(fingers) == 1, (event, pressed, self.fingers[-3:])
        assert self.made.setdefault(key, fingers[0]) == fingers[0]

    def _carry(self) -> None:
        """What is on its way arrives."""
        for call in list(self.calls):
            if call.due > self.bench.now:
                continue
            if call.result is None:
                call.result = self._carried_out(call.event)
                call.due = self.soon()
                self._shows_at = self.soon()
                continue
            self.calls.remove(call)
            if call.host is self.host:
                self.host.answer(call.event, call.result)
        if self._shows_at is not None and self._shows_at <= self.bench.now:
            self._shows_at = None
            if self.host is not None:
                self.host.show(self.service.picture(SEATS))

    def _carried_out(self, event: Event) -> Result:
        key = event.session, event.number
        before = self.service.table
        result, revision = self.service.press(event)
        if result is not Result.ACCEPTED:
            assert key not in self.revisions, "a gesture that counted is refused"
            return result
        if key not in self.revisions:
            self._was_meant(event, before)
            if self.takes_back:
                self.takes_back = False
                self.service.take_back()
        assert self.revisions.setdefault(key, revision) == revision
        return result

    def _was_meant(self, event: Event, table: Table) -> None:
        """Whoever pressed to end a turn saw that they were asked, and nothing older."""
        if table.status is Status.RUNNING and event.kind in (Kind.PRESS, Kind.LONG):
            asked_at = table.asked_at[event.button]
            assert asked_at <= event.revision, "a press for what has passed counts"

    # ------------------------------------------------------------ fingers

    def down(self, button: int) -> None:
        self.bench.down(button)
        self.fingers.append(Finger(button, self.bench.now + DEBOUNCE))

    def up(self, button: int) -> None:
        self.bench.up(button)

    def does(self, *things: Doing) -> None:
        """Do each of these after so many milliseconds from now."""
        begin = self.bench.now
        for after, thing in sorted(things, key=lambda one: one[0]):
            self.run(begin + after - self.bench.now)
            thing()

    def press(self, button: int, at: float = 0, ms: float = 0) -> list[Doing]:
        """A press, for `does`; without a length it is a short one. Some contacts bounce."""
        length = ms or self.draw.uniform(20, 70)
        down, bounces = self._edges(button, True, at)
        up, others = self._edges(button, False, at + length)
        return [
            *bounces,
            (down, lambda: self.down(button)),
            *others,
            (up, lambda: self.up(button)),
        ]

    def _edges(self, button: int, closed: bool, at: float) -> tuple[float, list[Doing]]:
        """When a contact is at rest, and how it bounces until then."""
        edges = 2 * self.draw.randrange(6) if self.draw.random() < 0.3 else 0
        every = self.draw.uniform(0.2, 0.7)

        def edge(state: bool) -> Callable[[], None]:
            return lambda: self.bench.contact(button, state)

        bounces = [(at + every * one, edge(closed == (one % 2 == 0))) for one in range(edges)]
        return at + every * edges, bounces

    # ------------------------------------------------------------ trouble

    def bridge_dies(self) -> None:
        """All that it knew is gone. What it has sent may still be carried out, or not."""
        for call in list(self.calls):
            if call.result is not None or self.draw.random() < 0.5:
                self.calls.remove(call)
        self.host = None

    def bridge_starts(self) -> None:
        self.bridges += 1
        self.host = Host(self.bench, self.draw, self.service.picture(SEATS))
        self._taken = 0

    def service_restarts(self) -> None:
        """What was not answered is sent again, whether it was carried out or not."""
        self.services += 1
        self.service = self._new_service()
        for call in self.calls:
            call.due = self.bench.now + self.draw.uniform(100, 300)
            if self.draw.random() < 0.5:
                call.result = None

    def unplug(self) -> None:
        self.bench.unplug()
        self.plugged = False

    def plug(self) -> None:
        self.bench.plug()
        self.plugged = True
        assert self.host is not None
        self.host.open()

    # ------------------------------------------------------------ what is so

    def asked(self) -> int:
        """The button of the seat whose turn it is."""
        (asked,) = [seat for seat, at in enumerate(self._armed()) if at]
        return asked

    def _armed(self) -> list[bool]:
        armed = self.service.picture(SEATS).armed
        return [bool(armed >> button & 1) for button in range(SEATS)]

    @property
    def turns(self) -> int:
        return self.service.table.turns

    def settles(self) -> None:
        """Let time pass until nothing is on its way and the panel shows the table as it is."""
        end = self.bench.now + PATIENCE
        self.run(30)  # what somebody has just let go of isn't told yet
        while not self._is_settled():
            assert self.bench.now < end, "the panel doesn't come back"
            self.run(10)

    def _is_settled(self) -> bool:
        if self.host is None or not self.host.link.is_up or self.calls or self._shows_at:
            return False
        self.bench.sent.clear()
        self.bench.tell(Ping(LOOK))
        self.run(15)
        pongs = [
            message
            for _, message in self.bench.sent
            if isinstance(message, Pong) and message.token == LOOK
        ]
        return bool(pongs) and (pongs[-1].queue, pongs[-1].revision) == (
            0,
            self.service.table.revision,
        )

    # ------------------------------------------------------------ the evening

    def sits_down(self) -> None:
        """Everybody presses a button to take a seat; one of them holds theirs to begin."""
        self.settles()
        for button in range(SEATS):
            self.does(*self.press(button))
            self.settles()
        self.does(*self.press(2, ms=900))
        self.run(50)
        self.settles()
        assert self.service.table.status is Status.RUNNING

    def until_confirmed(self, turns: int) -> None:
        """Whoever is asked presses until so many turns stand, and no more."""
        for _ in range(4):
            self.settles()
            assert self.turns <= turns, "the turn has advanced twice"
            if self.turns == turns:
                return
            self.does(*self.press(self.asked()))
            self.run(30)
        raise AssertionError("no press counts")

    def check(self) -> None:
        """Turns go round, each once; each was made by one press of its seat's own button."""
        log = self.service.log
        standing: list[LogEntry] = []
        for entry in log:
            if entry.kind == ChangeKind.CONFIRM:
                standing.append(entry)
            elif entry.kind == ChangeKind.TAKEBACK:
                standing.pop()
        assert [entry.turn for entry in standing] == [*range(1, len(standing) + 1)]
        assert [entry.seat for entry in standing] == [
            number % SEATS + 1 for number in range(len(standing))
        ]
        # No gesture counts twice, no two are one change, and none was made without a finger.
        assert len(set(self.made.values())) == len(self.made)
        assert len(set(self.revisions.values())) == len(self.revisions)
        keys = {revision: key for key, revision in self.revisions.items()}
        for entry in log:
            if entry.kind == ChangeKind.CONFIRM:
                assert self.made[keys[entry.revision]].button + 1 == entry.seat
        # Nothing that was accepted is lost.
        assert set(self.revisions.values()) <= {entry.revision for entry in log}
