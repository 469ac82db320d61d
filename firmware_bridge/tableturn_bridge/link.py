"""The conversation with one panel, without a port and without a clock.

A `Link` is told what comes from the port and what time it is; it says what to write, what has
happened, and when it wants to be asked again. The first connection, a panel that was reset and
one that was lost take the same way:

1. *Asking.* `HelloRequest` every 250 ms, for 5 s at most. A board whose port was just opened
   boots meanwhile; whatever a boot loader says is dropped. Each request proposes another
   session, so that a panel that was reset never counts its gestures in an old one.
2. *Up.* The whole picture at once and on every change, twice again soon after, and every half
   second. A ping every second: three without an answer mean that the panel is lost. A `Hello` or
   a `Pong` of another session means that it was reset: back to 1.
3. *Down.* `failed` says why. A link that is down stays so; open the port again.

Times are milliseconds of any clock that doesn't go back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from tableturn_bridge import protocol, reasons
from tableturn_bridge.asking import Asking
from tableturn_bridge.errors import LinkTrouble
from tableturn_bridge.frames import Decoder, encode
from tableturn_bridge.gestures import Gestures
from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import (
    Event,
    EventAck,
    Hello,
    HelloRequest,
    Message,
    Ping,
    Pong,
    Result,
    SetUid,
    State,
)

NOTHING_SHOWN = State(
    tag=0,
    revision=0,
    armed=0,
    staged=0,
    lamps=(lamp(Pattern.SERVICE_LOST),) * protocol.MOST_BUTTONS,
    flags=0,
    brightness=255,
)
"""What a panel shows before it was told anything: the bridge is there, and nothing behind it."""

PICTURE_AGAIN = (60, 120)
"""Milliseconds after which a new picture is repeated, before it is every half second.

On a bad line a frame may get lost, and a lamp would be late by half a second.
"""
ANSWER_AGAIN = (60, 180, 420)
"""Milliseconds after which a final answer is said again, whether it was lost or not.

A panel that knows that its gesture was seen sends it again only after a second, and its player
would look at a flickering lamp for so long.
"""


@dataclass(frozen=True)
class Up:
    """The panel is there and has been shown the picture.

    `again` if it had been there before on the same open port: it was reset meanwhile, and all
    gestures that it had kept are gone with it.
    """

    hello: Hello
    again: bool = False


@dataclass(frozen=True)
class Pressed:
    """A gesture, told once however often the panel sent it. It waits for `answer`."""

    event: Event


@dataclass(frozen=True)
class Failed:
    """The link is down."""

    error: LinkTrouble


Happening = Up | Pressed | Failed


class Phase(Enum):
    """Where the conversation stands."""

    CLOSED = auto()
    ASKING = auto()
    UP = auto()
    DOWN = auto()


@dataclass
class LinkCounts:
    """What a link has seen, for `doctor` and for the report to the service."""

    hellos: int = 0
    pings: int = 0
    pongs: int = 0
    events: int = 0
    """Events that came, resent ones too."""
    strays: int = 0
    """Events of other sessions; they are ignored."""
    echoes: int = 0
    """Messages of a host: the port gives back what was written, or another host is there."""
    resets: int = 0
    """How often the panel was reset while the link was up."""


@dataclass
class _Due:
    """When what is sent next, in milliseconds."""

    ask: int = 0
    give_up: int = 0
    state: int = 0
    ping: int = 0


class Link:
    """A host's side of the conversation with one panel, over one opening of its port.

    Args:
        port: The port's name, for sentences.
        session: Draws a session, any number from 1 to 2^32 - 1.
        uid: Draws a number for a panel that has none yet, from the same span.
        gestures: What is known of gestures so far. Give the same one to each link of a panel,
            so that a gesture that is sent again after a short break isn't told twice.
    """

    def __init__(
        self,
        *,
        port: str,
        session: Callable[[], int],
        uid: Callable[[], int],
        gestures: Gestures | None = None,
    ) -> None:
        self.port = port
        self.phase = Phase.CLOSED
        self.failed: LinkTrouble | None = None
        self.hello: Hello | None = None
        self.pong: Pong | None = None
        self.counts = LinkCounts()
        self.decoder = Decoder()
        self.gestures = gestures or Gestures()
        self._draw_session = session
        self._draw_uid = uid
        self._given_uid = 0
        self._picture = NOTHING_SHOWN
        self._repeats = 0
        self._number = 0
        self._unanswered = 0
        self._due = _Due()
        self._acks: list[tuple[int, EventAck]] = []
        self._asking = Asking()
        self._outgoing = bytearray()
        self._happened: list[Happening] = []

    # ---------------------------------------------------------------- what the port tells

    def opened(self, now: int) -> None:
        """The port is open: begin to ask. A panel that speaks already is heard at once."""
        self._ask_anew(now)

    def received(self, data: bytes, now: int) -> list[Happening]:
        """Bytes came. Returns what has happened, in order; `take` what to write."""
        if self.phase in (Phase.CLOSED, Phase.DOWN):
            return []
        self._asking.bytes += len(data)
        frames = self.decoder.counts.frames
        for message in self.decoder.feed(data):
            self._hear(message, now)
        self._asking.frames += self.decoder.counts.frames - frames
        return self._taken()

    def tick(self, now: int) -> list[Happening]:
        """Time has passed. To be called at `next_at`; at other times it does no harm."""
        if self.phase is Phase.ASKING:
            if now >= self._due.give_up:
                self._fail(self._why_unanswered())
            elif now >= self._due.ask:
                self._ask(now)
        elif self.phase is Phase.UP:
            if now >= self._due.state:
                self._send_picture(now)
            if now >= self._due.ping:
                self._ping(now)
            self._answer_again(now)
        return self._taken()

    @property
    def is_up(self) -> bool:
        """The panel is there and shows the picture."""
        return self.phase is Phase.UP

    @property
    def next_at(self) -> int | None:
        """When `tick` has something to do; None if never."""
        if self.phase is Phase.ASKING:
            return min(self._due.ask, self._due.give_up)
        if self.phase is Phase.UP:
            return min(self._due.ping, self._due.state, *(due for due, _ in self._acks))
        return None

    def take(self) -> bytes:
        """What is to be written to the port now, in one piece. Each byte is given out once."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    # ---------------------------------------------------------------- what the table tells

    def show(self, picture: State, now: int) -> None:
        """Show this picture from now on. The same one again changes nothing."""
        if picture == self._picture:
            return
        picture.body()  # fails here, where the caller can see it, if a value doesn't fit
        self._picture = picture
        self._repeats = 0
        if self.phase is Phase.UP:
            self._send_picture(now)

    def answer(self, event: Event, result: Result, now: int) -> bool:
        """Say what became of a gesture. The panel gets the same answer each time it asks again.

        Returns False, and says nothing, if it was answered before or the panel has been reset
        since. Raises ValueError for SEEN: that is said by the link itself.
        """
        if not self.gestures.answer(event, result):
            return False
        if self._is_up_with(event.session):
            ack = EventAck(event.number, result, event.session)
            self._send(ack)
            self._acks += [(now + later, ack) for later in ANSWER_AGAIN]
        return True

    # ---------------------------------------------------------------- asking

    def _ask_anew(self, now: int) -> None:
        self.phase = Phase.ASKING
        self._acks.clear()
        self._asking = Asking()
        self._due.give_up = now + protocol.HELLO_PATIENCE
        self._ask(now)

    def _ask(self, now: int) -> None:
        self._due.ask = now + protocol.HELLO_EVERY
        session = self._draw_session()
        self._send(HelloRequest(protocol.LOWEST_VERSION, protocol.VERSION, session))

    def _greeted(self, hello: Hello, now: int) -> None:
        """A Hello came while we asked, or one that shows that the panel was reset."""
        self._asking.hello = hello
        if not protocol.LOWEST_VERSION <= hello.protocol <= protocol.VERSION:
            # One without a session may have come unasked, before it knew what we speak.
            self._asking.refused += 1
            if hello.session or self._asking.refused > 1:
                self._fail(reasons.other_version(self.port, hello))
            else:
                self._ask(now)
        elif not protocol.FEWEST_BUTTONS <= hello.buttons <= protocol.MOST_BUTTONS:
            self._fail(reasons.buttons(self.port, hello))
        elif not hello.session:
            self._ask(now)
        elif not hello.uid:
            self._number_it()
            self._ask(now)
        else:
            self._come_up(hello, now)

    def _number_it(self) -> None:
        """Give a number to a panel without one: the same one until it keeps it."""
        self._asking.numbered += 1
        self._given_uid = self._given_uid or self._draw_uid()
        self._send(SetUid(self._given_uid))

    def _come_up(self, hello: Hello, now: int) -> None:
        again = self.hello is not None
        self.phase = Phase.UP
        self.hello = hello
        self.pong = None
        self._unanswered = 0
        self._repeats = 0
        self.gestures.begin(hello.uid, hello.session)
        self._send_picture(now)
        self._due.ping = now
        self._happened.append(Up(hello, again))
        self._ping(now)

    # ---------------------------------------------------------------- hearing

    def _hear(self, message: Message, now: int) -> None:
        if self.phase is Phase.DOWN:
            return
        if isinstance(message, protocol.HOST_TO_PANEL):
            self.counts.echoes += 1
        elif isinstance(message, Hello):
            self._hear_hello(message, now)
        elif self.phase is not Phase.UP:
            return  # of whom? The panel has not said yet; it will send its events again.
        elif isinstance(message, Pong):
            self._hear_pong(message, now)
        elif isinstance(message, Event):
            self._hear_event(message)

    def _hear_hello(self, hello: Hello, now: int) -> None:
        self.counts.hellos += 1
        if self.phase is Phase.ASKING:
            self._greeted(hello, now)
        elif self._is_up_with(hello.session):
            self._send_picture(now)  # the late answer to an earlier request
        else:
            self._was_reset(now)

    def _hear_pong(self, pong: Pong, now: int) -> None:
        if not self._is_up_with(pong.session):
            self._was_reset(now)
            return
        self.counts.pongs += 1
        self.pong = pong
        self._unanswered = 0

    def _was_reset(self, now: int) -> None:
        self.counts.resets += 1
        self._ask_anew(now)

    def _hear_event(self, event: Event) -> None:
        self.counts.events += 1
        if not self._is_up_with(event.session):
            self.counts.strays += 1
            return
        new, result = self.gestures.heard(event)
        self._send(EventAck(event.number, result, event.session))
        if new:
            self._happened.append(Pressed(event))

    def _is_up_with(self, session: int) -> bool:
        return self.phase is Phase.UP and self.hello is not None and self.hello.session == session

    # ---------------------------------------------------------------- telling

    def _send(self, message: Message) -> None:
        self._outgoing += encode(message, self._number)
        self._number = (self._number + 1) & 0xFF

    def _send_picture(self, now: int) -> None:
        self._send(self._picture)
        early = PICTURE_AGAIN[self._repeats : self._repeats + 1]
        self._due.state = now + (early[0] if early else protocol.STATE_EVERY)
        self._repeats += 1

    def _ping(self, now: int) -> None:
        """Ask how the panel is; it is lost if it has left as many pings without an answer."""
        if self._unanswered >= protocol.PINGS_UNANSWERED:
            self._fail(reasons.lost(self.port))
            return
        self._unanswered += 1
        self.counts.pings += 1
        self._send(Ping(self.counts.pings & 0xFFFF))
        # Once at a time, whatever the clock says: after this machine has slept, the panel gets
        # the same time to answer as always.
        self._due.ping = now + protocol.PING_EVERY

    def _answer_again(self, now: int) -> None:
        for due, ack in self._acks:
            if now >= due:
                self._send(ack)
        self._acks = [(due, ack) for due, ack in self._acks if now < due]

    def _taken(self) -> list[Happening]:
        happened, self._happened = self._happened, []
        return happened

    # ---------------------------------------------------------------- failing

    def _fail(self, error: LinkTrouble) -> None:
        self.phase = Phase.DOWN
        self.failed = error
        self._happened.append(Failed(error))

    def _why_unanswered(self) -> LinkTrouble:
        """Nobody has answered the question who is there: the reason that fits what came."""
        if self.hello is not None:
            return reasons.lost(self.port)
        return self._asking.why_unanswered(self.port, self.counts.echoes)
