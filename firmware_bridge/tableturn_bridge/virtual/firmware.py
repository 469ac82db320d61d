"""What the panel's program does, from its start to the next reset.

It has no clock and no port: bytes, buttons and the time come in, bytes and the signs of the lamps
come out. Everything in here is lost by a reset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tableturn_bridge import frames, protocol
from tableturn_bridge.patterns import BRIGHTEST
from tableturn_bridge.protocol import (
    LINK_LOST,
    MOST_BUTTONS,
    NO_BUTTON,
    Caps,
    EventAck,
    Hello,
    HelloRequest,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    SetUid,
    State,
)
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.contacts import Contact, Gesture, Gestures
from tableturn_bridge.virtual.flashes import Flashes
from tableturn_bridge.virtual.lights import Sign
from tableturn_bridge.virtual.pictures import counts, has_chords, sight_of, sign_of
from tableturn_bridge.virtual.waiting import Queue, Waiting

MOST_COUNT = 0xFFFF


@dataclass(frozen=True)
class Make:
    """What is built into a board: its buttons, and the versions of its program.

    `protocol` is the only version of the protocol that it speaks.
    """

    buttons: int = 4
    protocol: int = protocol.VERSION
    major: int = 1
    minor: int = 0
    build: int = 0
    caps: Caps = Caps.MASTER_BUTTON | Caps.VIRTUAL

    def __post_init__(self) -> None:
        if not 2 <= self.buttons <= MOST_BUTTONS:
            raise ValueError(f"a panel has 2 to {MOST_BUTTONS} buttons, not {self.buttons}")
        for name in ("protocol", "major", "minor"):
            if not 0 <= getattr(self, name) <= 0xFF:
                raise ValueError(f"{name} is a number from 0 to 255, not {getattr(self, name)}")

    @property
    def all_buttons(self) -> tuple[int, ...]:
        """All buttons, the one that belongs to no seat last."""
        return (*range(self.buttons), NO_BUTTON)


@dataclass
class Lasting:
    """What a board remembers without power."""

    uid: int = 0


class Fate(StrEnum):
    """What became of a gesture."""

    ACCEPTED = "ACCEPTED"
    STALE = "STALE"
    REJECTED = "REJECTED"
    NOT_ARMED = "NOT_ARMED"
    """It was never sent: the button had nothing to say."""
    DROPPED = "DROPPED"
    """It was never sent: too many others waited."""
    LOST = "LOST"
    """It was given up: the link was lost or the board reset before the answer came."""


@dataclass(frozen=True)
class Outcome:
    """A gesture, what became of it, and when. `sent` says how often it was sent."""

    gesture: Gesture
    fate: Fate
    at: int
    number: int = 0
    sent: int = 0


FINAL = {
    Result.ACCEPTED: Fate.ACCEPTED,
    Result.STALE: Fate.STALE,
    Result.REJECTED: Fate.REJECTED,
}
"""What the host's final answers make of a gesture."""
FLASHES = {Result.STALE: "STALE", Result.REJECTED: "REFUSED"}
"""What its lamp flashes then."""


@dataclass
class Sent:
    """What has been sent: the bytes that nobody has fetched yet, and counts since the start."""

    bytes: bytearray = field(default_factory=bytearray)
    frames: int = 0
    events: int = 0


class Firmware:
    """The program of a panel. All times are whole milliseconds and never go back."""

    def __init__(
        self, make: Make, lasting: Lasting, closed: set[int], cause: ResetCause, now: int
    ) -> None:
        self.make = make
        self.lasting = lasting
        self.cause = cause
        self.started = now
        self.session = 0
        self.picture: State | None = None
        """What the host wants to be shown; None while it isn't heard."""
        self.dropped = 0
        self.sent = Sent()
        self.outcomes: list[Outcome] = []
        self.decoder = frames.Decoder()
        self.queue = Queue()
        self._gestures = Gestures()
        self._contacts = {one: Contact(one in closed, now) for one in make.all_buttons}
        self._flashes = Flashes(make.buttons)
        self._heard_at: int | None = None
        self._strange = False
        """The host speaks no version of the protocol that this board knows."""
        self._now = now
        self._say_hello()

    # ---------------------------------------------------------------- time

    def next_time(self) -> int | None:
        """When the program does something by itself the next time."""
        now = self._now
        times = [contact.next_time() for contact in self._contacts.values()]
        times += [self.queue.next_time(now), self._gestures.next_time(now)]
        times += self._flashes.ends()
        if self._heard_at is not None:
            times.append(self._heard_at + LINK_LOST)
        if now < self.started + lights.LAMP_TEST:
            times.append(self.started + lights.LAMP_TEST)
        return min((time for time in times if time is not None), default=None)

    def advance(self, now: int) -> None:
        """Do what is due up to this time, each thing at its own."""
        while (time := self.next_time()) is not None and time <= now:
            self._tick(max(time, self._now))
        self._now = max(now, self._now)

    def _tick(self, now: int) -> None:
        """Do what is due at this very time."""
        self._now = now
        if self._heard_at is not None and now - self._heard_at >= LINK_LOST:
            self._lose_link()
        for button, contact in self._contacts.items():
            if contact.read(now):
                self._button(button, contact.pressed)
        for waiting in self.queue.due(now):
            self._send(waiting.event(self.session, now))
            waiting.sent_at(now)
            self.sent.events += 1
        self._flashes.expire(now)

    # ---------------------------------------------------------------- buttons

    def contact(self, button: int, closed: bool, now: int) -> None:
        """A contact closes or opens, perhaps bouncing."""
        self.advance(now)
        self._contacts[button].set(closed, now)

    def _button(self, button: int, pressed: bool) -> None:
        """A button has been pressed or released, bounces apart."""
        if pressed:
            picture = self.picture
            sight, chords = sight_of(picture, button), has_chords(picture)
            self._gestures.press(button, sight, self._now, chords=chords)
            return
        gesture = self._gestures.release(button, self._now)
        if gesture is None:
            return
        if not counts(self.picture, gesture):
            self._flash(gesture, "NOT_ARMED")
            self._tell(gesture, Fate.NOT_ARMED)
        elif self.queue.add(gesture, self._now):
            self._flashes.waits(gesture)
        else:  # nobody may think that it counted
            self.dropped = min(MOST_COUNT, self.dropped + 1)
            self._flash(gesture, "REFUSED")
            self._tell(gesture, Fate.DROPPED)

    def _tell(self, gesture: Gesture, fate: Fate, waiting: Waiting | None = None) -> None:
        """Note what became of a gesture."""
        number, sent = (0, 0) if waiting is None else (waiting.number, waiting.sent)
        self.outcomes.append(Outcome(gesture, fate, self._now, number, sent))

    # ---------------------------------------------------------------- messages

    def received(self, data: bytes, now: int) -> None:
        """Bytes have come from the host."""
        self.advance(now)
        before = self.decoder.counts.frames
        messages = self.decoder.feed(data)
        if self.decoder.counts.frames > before:
            self._heard_at = self._now
        for message in messages:
            self._heed(message)
        self.advance(now)

    def _heed(self, message: Message) -> None:
        """Do what a message asks for."""
        match message:
            case HelloRequest():
                self._greeted(message)
            case State() if self.session and not self._strange:
                self._flashes.arms(message.armed & ~(self.picture.armed if self.picture else 0))
                self.picture = message
            case Ping(token=token):
                self._send(self._pong(token))
            case EventAck(session=self.session):
                self._answered(message)
            case SetUid(uid=uid) if not self.lasting.uid:
                self.lasting.uid = uid

    def _greeted(self, request: HelloRequest) -> None:
        """The host asks who is there."""
        self._strange = not request.proto_min <= self.make.protocol <= request.proto_max
        if self._strange:
            self._give_up()
        elif not self.session:
            self.session = request.session
        self._say_hello()

    def _answered(self, ack: EventAck) -> None:
        """The host says what became of an event."""
        if ack.result not in list(Result):
            return
        result = Result(ack.result)
        done = self.queue.acknowledge(ack.number, result, self._now)
        if done is None:
            return
        if result in FLASHES:
            self._flash(done.gesture, FLASHES[result])
        self._tell(done.gesture, FINAL[result], done)

    def _lose_link(self) -> None:
        """The host is no longer heard."""
        self._heard_at = None
        self._give_up()

    def _give_up(self) -> None:
        """Nothing that was shown or waits counts any more."""
        self.picture = None
        self._flashes.clear()
        self._gestures.spoil()
        for waiting in self.queue.empty():
            self._tell(waiting.gesture, Fate.LOST, waiting)

    def _say_hello(self) -> None:
        make = self.make
        self._send(
            Hello(
                protocol=make.protocol,
                major=make.major,
                minor=make.minor,
                uid=self.lasting.uid,
                session=self.session,
                reset_cause=self.cause,
                buttons=make.buttons,
                caps=make.caps,
                build=make.build,
            )
        )

    def _pong(self, token: int) -> Pong:
        return Pong(
            token=token,
            revision=0 if self.picture is None else self.picture.revision,
            uptime=(self._now - self.started) & 0xFFFFFFFF,
            session=self.session,
            crc_errors=min(MOST_COUNT, self.decoder.counts.crc_errors),
            overruns=0,  # a pseudo terminal has no receiver that could overrun
            dropped=self.dropped,
            queue=len(self.queue),
        )

    def _send(self, message: Message) -> None:
        self.sent.bytes += frames.encode(message, self.sent.frames & 0xFF)
        self.sent.frames += 1

    # ---------------------------------------------------------------- lamps

    def _flash(self, gesture: Gesture, name: str) -> None:
        """Run a sign once on the lamps of a gesture's buttons."""
        if self.picture is not None:  # without one, all lamps say so already
            self._flashes.begin(gesture, name, self._now)

    def sign(self, button: int, now: int) -> Sign:
        """What the lamp of a button says. What the person just does goes before all else."""
        if now < self.started + lights.LAMP_TEST:
            return lights.TEST
        if self._strange:
            return lights.VERSION
        waiting = self.queue.of(button) or self.queue.of(NO_BUTTON)
        late = None if waiting is None else now >= waiting.patience_ends
        held = self._gestures.become(button, now)
        return sign_of(self.picture, button, held, self._flashes, late)

    def lamp(self, button: int, now: int) -> tuple[int, int]:
        """How bright the lamp of a button is, and in which colour."""
        sign = self.sign(button, now)
        brightness = BRIGHTEST if self.picture is None else self.picture.brightness
        return lights.light(sign, brightness, self.started, now), sign.color
