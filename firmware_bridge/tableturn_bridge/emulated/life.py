"""What is heard of a board from its start to the next reset: both directions of its line.

Nothing here asks the board. Its frames and those that reached it tell which picture it must have,
which gestures it has sent and what became of them; its contacts tell what a finger did. All times
are whole milliseconds of the emulator's clock. Buttons count from 0, as in the protocol.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from tableturn_bridge.frames import Decoder
from tableturn_bridge.protocol import (
    ANSWER_PATIENCE,
    LINK_LOST,
    NO_BUTTON,
    QUEUE,
    VERSION,
    Event,
    EventAck,
    Hello,
    HelloRequest,
    Kind,
    Message,
    Pong,
    Result,
    SetUid,
    State,
)
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.board import Fate, Outcome
from tableturn_bridge.virtual.contacts import Contact, Gesture, Gestures, Sight
from tableturn_bridge.virtual.firmware import FINAL, FLASHES
from tableturn_bridge.virtual.flashes import Flashes
from tableturn_bridge.virtual.lights import Sign
from tableturn_bridge.virtual.pictures import counts, has_chords, sight_of, sign_of

SILENCE = 150
"""A gesture that is to be sent is on the line within this time, whatever else waits there."""
NEAR = 40
"""A board and a listener agree on the time of a press to so many milliseconds."""
MANY = 64


@dataclass
class Sent:
    """A gesture that the board has sent and that waits for its answer."""

    gesture: Gesture
    times: int = 1


@dataclass(frozen=True)
class Made:
    """A gesture of which nothing was heard yet, and what should become of it.

    `fate` is None if it should be sent.
    """

    gesture: Gesture
    fate: Fate | None


@dataclass(frozen=True)
class Claim:
    """What a lamp should say by all that was heard, and since when."""

    sign: Sign
    since: int


class Life:
    """A board from its start on.

    Args:
        buttons: Buttons for seats.
        uid: The number that it has, as far as is known.
        closed: The contacts that are closed at the start.
        now: When its program began.
    """

    def __init__(self, buttons: int, uid: int, closed: set[int], now: int) -> None:
        self.buttons = buttons
        self.uid = uid
        self.started = now
        self.session = 0
        self.picture: State | None = None
        self.dropped = 0
        self.events_sent = 0
        self.outcomes: list[Outcome] = []
        self.sent: dict[int, Sent] = {}
        """Gestures that wait for their answer, by their numbers."""
        self.to_board = Decoder()
        self._from_board = Decoder()
        self._made: list[Made] = []
        self._contacts = {one: Contact(one in closed, now) for one in (*range(buttons), NO_BUTTON)}
        self._gestures = Gestures()
        self._down: dict[int, int] = {}
        self._answers: deque[int] = deque(maxlen=MANY)
        """Numbers of gestures that no longer wait. One may still be on its way once more."""
        self._flashes = Flashes(buttons)
        self._protocol = VERSION
        self._strange = False
        self._heard_at: int | None = None
        self._now = now
        self.claims = [Claim(self._sign(button), now) for button in range(buttons)]

    # ---------------------------------------------------------------- time

    def next_time(self) -> int | None:
        """When something changes by time alone."""
        now = self._now
        times = [contact.next_time() for contact in self._contacts.values()]
        times += [self._gestures.next_time(now)]
        times += [one.gesture.released_at + SILENCE for one in self._made]
        times += self._flashes.ends()
        ends = [one.gesture.released_at + ANSWER_PATIENCE for one in self.sent.values()]
        times += [end for end in ends if end > now]
        if self._heard_at is not None:
            times.append(self._heard_at + LINK_LOST)
        if now < self.started + lights.LAMP_TEST:
            times.append(self.started + lights.LAMP_TEST)
        return min((time for time in times if time is not None), default=None)

    def advance(self, now: int) -> None:
        """Let time pass, and everything happen at its own time."""
        while (time := self.next_time()) is not None and time <= now:
            self._now = max(time, self._now)
            self._tick()
            self._claim()
        self._now = max(now, self._now)

    def _tick(self) -> None:
        now = self._now
        if self._heard_at is not None and now - self._heard_at >= LINK_LOST:
            self._heard_at = None
            self._give_up()
        for button, contact in self._contacts.items():
            if contact.read(now):
                self._button(button, contact.pressed)
        for made in [one for one in self._made if now - one.gesture.released_at >= SILENCE]:
            self._made.remove(made)
            self._tell(made.gesture, made.fate or Fate.NOT_ARMED)
        self._flashes.expire(now)

    # ---------------------------------------------------------------- fingers

    def contact(self, button: int, closed: bool, now: int) -> None:
        """A contact closes or opens."""
        self.advance(now)
        self._contacts[button].set(closed, now)

    def down_since(self, button: int) -> int | None:
        """Since when a finger holds a button down, bounces apart; None if none does."""
        return self._down.get(button)

    def _button(self, button: int, pressed: bool) -> None:
        if pressed:
            self._down[button] = self._now
            picture = self.picture
            sight, chords = sight_of(picture, button), has_chords(picture)
            self._gestures.press(button, sight, self._now, chords=chords)
            return
        self._down.pop(button, None)
        gesture = self._gestures.release(button, self._now)
        if gesture is None:
            return
        fate = None if counts(self.picture, gesture) else Fate.NOT_ARMED
        if fate is None and len(self.sent) + len(self._to_be_sent()) >= QUEUE:
            fate = Fate.DROPPED
        self._made.append(Made(gesture, fate))
        if fate is None:
            self._flashes.waits(gesture)
        else:
            self._flash(gesture, "REFUSED" if fate is Fate.DROPPED else "NOT_ARMED")

    def _to_be_sent(self) -> list[Gesture]:
        """Gestures that should be on the line any moment."""
        return [one.gesture for one in self._made if one.fate is None]

    def _tell(self, gesture: Gesture, fate: Fate, number: int = 0, sent: int = 0) -> None:
        self.outcomes.append(Outcome(gesture, fate, self._now, number, sent))

    # ---------------------------------------------------------------- from the host

    def reached(self, data: bytes, now: int) -> None:
        """Bytes of the host have reached the board."""
        self.advance(now)
        before = self.to_board.counts.frames
        messages = self.to_board.feed(data)
        if self.to_board.counts.frames > before:
            self._heard_at = self._now
        for message in messages:
            self._heed(message)
        self._claim()

    def _heed(self, message: Message) -> None:
        match message:
            case HelloRequest(proto_min=lowest, proto_max=highest):
                self._strange = not lowest <= self._protocol <= highest
                if self._strange:
                    self._give_up()
            case State() if self.session and not self._strange:
                self._flashes.arms(message.armed & ~(self.picture.armed if self.picture else 0))
                self.picture = message
            case EventAck(session=self.session):
                self._answered(message)
            case SetUid(uid=uid) if not self.uid:
                self.uid = uid

    def _answered(self, ack: EventAck) -> None:
        """The host says what became of a gesture."""
        if ack.result not in FINAL or ack.number not in self.sent:
            return
        result = Result(ack.result)
        done = self.sent.pop(ack.number)
        self._answers.append(ack.number)
        if result in FLASHES:
            self._flash(done.gesture, FLASHES[result])
        self._tell(done.gesture, FINAL[result], ack.number, done.times)

    def _give_up(self) -> None:
        """Nothing that was shown or waits counts any more."""
        self.picture = None
        self._flashes.clear()
        self._gestures.spoil()
        self._lose()

    def end(self) -> None:
        """The board stops. What it kept for itself is clear now, and the rest is lost."""
        for one in self._made:
            self._tell(one.gesture, one.fate or Fate.LOST)
        self._made.clear()
        self._lose()

    def _lose(self) -> None:
        """What waited for an answer gets none."""
        for number, one in self.sent.items():
            self._tell(one.gesture, Fate.LOST, number, one.times)
            self._answers.append(number)
        self.sent.clear()

    # ---------------------------------------------------------------- from the board

    def said(self, data: bytes, now: int) -> None:
        """Bytes of the board are on the line."""
        self.advance(now)
        for message in self._from_board.feed(data):
            match message:
                case Hello():
                    self._protocol = message.protocol
                    self.session, self.uid = message.session, message.uid
                case Pong():
                    self.dropped = message.dropped
                case Event():
                    self._sends(message)
        self._claim()

    def _sends(self, event: Event) -> None:
        """The board tells of a gesture, once more or for the first time."""
        self.events_sent += 1
        known = self.sent.get(event.number)
        if known is not None:
            known.times += 1
        elif event.number not in self._answers and event.kind in list(Kind):
            self.sent[event.number] = Sent(self._gesture(event))

    def _gesture(self, event: Event) -> Gesture:
        """The gesture of an event: what the board says it was, when the finger made it."""
        kind, sight = Kind(event.kind), Sight(True, event.tag, event.revision, True)
        pressed = self._now - event.age

        def apart(made: Made) -> int:
            return abs(made.gesture.pressed_at - pressed)

        fitting = [one for one in self._made if one.gesture.button == event.button]
        made = min(fitting, key=apart, default=None)
        if made is None or apart(made) > NEAR:
            return Gesture(kind, event.button, event.second, sight, pressed, self._now)
        self._made.remove(made)
        if made.fate is not None:  # it counted after all
            self._flashes.waits(made.gesture)
        return replace(made.gesture, kind=kind, second=event.second, sight=sight)

    # ---------------------------------------------------------------- lamps

    def _flash(self, gesture: Gesture, name: str) -> None:
        if self.picture is not None:
            self._flashes.begin(gesture, name, self._now)

    def _claim(self) -> None:
        """Note which lamps should say something else than before."""
        for button, claim in enumerate(self.claims):
            sign = self._sign(button)
            if sign != claim.sign:
                self.claims[button] = Claim(sign, self._now)

    def _sign(self, button: int) -> Sign:
        """What a lamp should say now. What the person just does goes before all else."""
        now = self._now
        if now < self.started + lights.LAMP_TEST:
            return lights.TEST
        if self._strange:
            return lights.VERSION
        waiting = self._waiting(button) or self._waiting(NO_BUTTON)
        late = None if waiting is None else now >= waiting.released_at + ANSWER_PATIENCE
        held = self._gestures.become(button, now)
        return sign_of(self.picture, button, held, self._flashes, late)

    def _waiting(self, button: int) -> Gesture | None:
        """The gesture of a button that has waited longest for its answer, or to be sent."""
        sent = [one.gesture for one in self.sent.values()]
        waiting = (*sent, *self._to_be_sent())
        return next((one for one in waiting if button in one.buttons), None)
