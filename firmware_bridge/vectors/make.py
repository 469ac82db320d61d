"""Writes the golden vectors: `python firmware_bridge/vectors/make.py`. See README.md there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tableturn_bridge.frames import crc, enclose, encode
from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import (
    ANSWER_PATIENCE,
    DEBOUNCE,
    LINK_LOST,
    MESSAGES,
    NO_BUTTON,
    RESEND,
    RESEND_SEEN,
    STATE_EVERY,
    VERSION,
    Caps,
    Event,
    EventAck,
    Flags,
    Hello,
    HelloRequest,
    Kind,
    Message,
    Ping,
    Pong,
    ResetCause,
    Result,
    SetUid,
    State,
)

HERE = Path(__file__).parent
TOLERANCE = 10


def fields_of(message: Message) -> dict[str, Any]:
    """A message's fields, as JSON has them."""
    return {
        name: list(value) if isinstance(value, tuple) else int(value)
        for name, value in vars(message).items()
    }


# ---------------------------------------------------------------- frames

SMALL: dict[str, Message] = {
    "hello-request": HelloRequest(1, 1, 1),
    "state": State(1, 1, 1, 1, (0x11, 0x21, 0x31, 0x41, 0x51, 0x61), 1, 1),
    "ping": Ping(1),
    "event-ack": EventAck(1, Result.ACCEPTED, 1),
    "set-uid": SetUid(1),
    "hello": Hello(1, 1, 1, 1, 1, ResetCause.POWER_ON, 4, Caps.MASTER_BUTTON, 1),
    "pong": Pong(1, 1, 1, 1, 1, 1, 1, 1),
    "event": Event(1, 1, 1, Kind.PRESS, 1, 1, 1, 1, 1),
}
GAME: dict[str, Message] = {
    "hello-request": HelloRequest(1, 3, 0xDEADBEEF),
    "state": State(0x29B1, 57, 0b0010, 0b0010, (0x13, 0x22, 0x30, 0x40, 0, 0), Flags.TIME_LOW, 200),
    "ping": Ping(0x0A00),
    "event-ack": EventAck(300, Result.STALE, 0xDEADBEEF),
    "set-uid": SetUid(0xA1B2C3D4),
    "hello": Hello(1, 1, 0, 0xA1B2C3D4, 0, ResetCause.BROWN_OUT, 6, 0x0103, 0x00010000),
    "pong": Pong(0x0A00, 57, 3_600_000, 0xDEADBEEF, 12, 0, 3, 4),
    "event": Event(0xDEADBEEF, 300, 1, Kind.CHORD, 2, 0x29B1, 57, 1068, 3),
}
assert SMALL.keys() == GAME.keys()


def every_bit(message: Message, byte: int) -> Message:
    """A message of the same kind whose body is made of one byte."""
    other = type(message).of(bytes([byte]) * message.FORM.size)
    assert other is not None
    return other


def golden_frames() -> list[dict[str, Any]]:
    """Each message four times: with ones, as in a game, with nothing but zeros, and the largest."""
    found = []
    for name, small in SMALL.items():
        kinds = {
            "ones": (small, 1),
            "game": (GAME[name], 0x7F),
            "zeros": (every_bit(small, 0x00), 0),
            "largest": (every_bit(small, 0xFF), 255),
        }
        for words, (message, number) in kinds.items():
            content = bytes((message.CODE, number)) + message.body()
            content += crc(content).to_bytes(2, "little")
            found.append(
                {
                    "name": f"{name}-{words}",
                    "message": type(message).__name__,
                    "fields": fields_of(message),
                    "number": number,
                    "content": content.hex(),
                    "frame": encode(message, number).hex(),
                }
            )
    return found


def stream(name: str, why: str, data: bytes, *read: Message, **counts: int) -> dict[str, Any]:
    """Bytes, and what a reader makes of them."""
    nothing = dict.fromkeys(("frames", "crc_errors", "garbage", "unknown", "short"), 0)
    return {
        "name": name,
        "why": why,
        "bytes": data.hex(),
        "read": [{"message": type(each).__name__, "fields": fields_of(each)} for each in read],
        "counts": nothing | counts,
    }


def golden_streams() -> list[dict[str, Any]]:
    """Lines with something wrong on them. A good frame follows, to be read all the same."""
    good = Ping(0x1234)
    frame = encode(good, 9)
    state = GAME["state"]
    told = encode(state, 8)
    body = good.body()
    wrong = bytearray(told)
    wrong[-3] ^= 0x01
    one_zero = told + frame[1:]
    return [
        stream("two", "two frames", told + frame, state, good, frames=2),
        stream("shared-zero", "one zero ends a frame and begins the next", one_zero, state, good,
               frames=2),
        stream("zeros", "any number of zeros is no frame", bytes(5) + frame + bytes(5), good,
               frames=1),
        stream("no-end", "the last zero is missing: not yet a frame", frame + told[:-1], good,
               frames=1),
        stream("crc", "one bit of the CRC is wrong", bytes(wrong) + frame, good, frames=1,
               crc_errors=1),
        stream("cut", "a frame that ends too early, as by a reset", told[:12] + frame, good,
               frames=1, garbage=11),
        stream("tiny", "three bytes: too short for type, number and CRC",
               bytes.fromhex("0004030201") + frame, good, frames=1, garbage=4),
        stream("boot", "what a boot loader says, without a zero", b"\xf0\x0d boot\x14\x10" + frame,
               good, frames=1, garbage=9),
        stream("endless", "300 bytes without a zero", b"\x55" * 300 + frame, good, frames=1,
               garbage=300),
        stream("just-too-long", "a body of 33 bytes, all else correct",
               b"\0\x26" + b"\x77" * 37 + frame, good, frames=1, garbage=38),
        stream("longest", "a type of later versions with a body of 32 bytes",
               enclose(0x7E, 8, bytes(range(1, 33))) + frame, good, frames=2, unknown=1),
        stream("unknown", "a type of later versions", enclose(0x7E, 8, b"new") + frame, good,
               frames=2, unknown=1),
        stream("grown", "a body that has grown at its end: the known part is read",
               enclose(Ping.CODE, 8, body + b"\x01\x00\x02"), good, frames=1),
        stream("shrunk", "a body that is shorter than known: dropped",
               enclose(Ping.CODE, 8, body[:1]) + frame, good, frames=2, short=1),
        stream("empty", "no body at all: dropped", enclose(Ping.CODE, 8, b"") + frame, good,
               frames=2, short=1),
    ]  # fmt: skip


# ---------------------------------------------------------------- what a panel does

SESSION = 0x5E55104E
UID = 0xA1B2C3D4
TAG = 0x29B1
TURN, FREE, NEXT = Pattern.TURN, Pattern.FREE, Pattern.NEXT


def picture(revision: int = 57, armed: int = 0b1111, tag: int = TAG) -> State:
    """Four seats: it is button 1's turn."""
    colors = enumerate((TURN, NEXT, Pattern.OFF, Pattern.OFF), start=1)
    lamps = tuple(color << 4 | pattern for color, pattern in colors)
    return State(tag, revision, armed, 0b0001, (*lamps, 0, 0), 0, 255)


SHOWN = ["TURN", "NEXT", "OFF", "OFF"]


class Sequence:
    """One sequence, written down in any order of time.

    A host is there from `host` on, which keeps the link up with the picture twice a second until
    `silent`; without `host` it only does what is said.
    """

    def __init__(
        self,
        name: str,
        why: str,
        until: int,
        *,
        uid: int = UID,
        host: int | None = 400,
        silent: int | None = None,
        shown: State | None = None,
    ) -> None:
        self.head = {"name": name, "why": why, "buttons": 4, "uid": uid, "until": until}
        self.steps: list[dict[str, Any]] = []
        self.start(0, ResetCause.POWER_ON, uid=uid)
        if host is not None:
            self.greet(host)
            self.pictures(host + 5, until if silent is None else silent, shown or picture())

    def _add(self, at: float, **step: Any) -> None:
        self.steps.append({"at": at, **step})

    def start(self, at: int, cause: ResetCause, *, uid: int = UID) -> None:
        """The panel starts and says hello, without a session."""
        self._add(at, start=cause.name)
        self.hello(at, session=0, cause=cause, uid=uid)

    def hello(
        self,
        at: int,
        *,
        session: int = SESSION,
        cause: ResetCause = ResetCause.POWER_ON,
        uid: int = UID,
        protocol: int = VERSION,
    ) -> None:
        """The panel says hello."""
        fields = {"protocol": protocol, "uid": uid, "session": session, "reset_cause": int(cause)}
        self._add(at, panel="Hello", fields={**fields, "buttons": 4})

    def greet(
        self,
        at: int,
        session: int = SESSION,
        *,
        cause: ResetCause = ResetCause.POWER_ON,
        uid: int = UID,
        effective: int | None = None,
    ) -> None:
        """The host asks who is there, and is answered."""
        self.host(at, HelloRequest(1, 1, session))
        self.hello(at, session=session if effective is None else effective, cause=cause, uid=uid)

    def pictures(self, start: int, end: int, shown: State) -> None:
        """The host repeats this picture."""
        for at in range(start, end, STATE_EVERY):
            self.host(at, shown)

    def host(self, at: int, message: Message) -> None:
        """The host sends a message."""
        self._add(
            at,
            host=type(message).__name__,
            fields=fields_of(message),
            frame=encode(message, 0).hex(),
        )

    def bytes(self, at: int, data: bytes) -> None:
        """The host's line carries this."""
        self._add(at, bytes=data.hex())

    def press(self, at: int, button: int, length: int = 60) -> int:
        """A button is pressed for so long; returns when the panel has noticed the release."""
        self._add(at, down=button)
        self._add(at + length, up=button)
        return at + length + DEBOUNCE

    def event(
        self,
        at: int,
        number: int,
        button: int,
        *,
        age: int,
        tries: int = 0,
        kind: Kind = Kind.PRESS,
        second: int = NO_BUTTON,
        revision: int = 57,
        session: int = SESSION,
    ) -> None:
        """The panel sends a gesture. The others press for 60 ms and are sent at once."""
        gesture = Event(session, number, button, kind, second, TAG, revision, age, tries)
        self._add(at, panel="Event", fields=fields_of(gesture))

    def ack(self, at: int, number: int, result: Result, session: int = SESSION) -> None:
        """The host says what became of a gesture."""
        self.host(at, EventAck(number, result, session))

    def pong(self, at: int, **fields: int) -> None:
        """The host asks how the panel is, and it says so."""
        self.host(at, Ping(0x0A00))
        self._add(at, panel="Pong", fields={"token": 0x0A00, **fields})

    def shows(self, at: int, *signs: str) -> None:
        """The lamps say this."""
        self._add(at, shows=list(signs))

    @property
    def document(self) -> dict[str, Any]:
        """The sequence as it is written. Steps of the same time stay in their order."""
        return {**self.head, "steps": sorted(self.steps, key=lambda step: step["at"])}


def greeting() -> list[Sequence]:
    """Hello, sessions, numbers and versions."""
    kept = Sequence(
        "session-kept", "a session is adopted once; later proposals change nothing", 1500
    )
    kept.greet(900, 0x11111111, effective=SESSION)

    reset = Sequence(
        "reset",
        "a reset ends the session and all that waits; numbers begin anew",
        4000,
        silent=1200,
    )
    sent = reset.press(1000, 0)
    reset.event(sent, 1, 0, age=60)
    reset.start(1150, ResetCause.WATCHDOG)
    reset.greet(1600, 0x22222222, cause=ResetCause.WATCHDOG)
    reset.pictures(1605, 4000, picture(58))
    again = reset.press(2000, 1)
    reset.event(again, 1, 1, age=60, revision=58, session=0x22222222)
    reset.ack(again + 20, 1, Result.ACCEPTED, 0x22222222)

    no_session = Sequence(
        "no-picture-before-a-session", "a panel that was reset shows nothing until it is greeted",
        1500, host=None,
    )  # fmt: skip
    no_session.host(600, picture())
    no_session.shows(700, *["LINK_LOST"] * 4)
    no_session.pong(800, session=0, revision=0)
    no_session.greet(900)
    no_session.host(905, picture())
    no_session.shows(1000, *SHOWN)

    number = Sequence(
        "set-uid",
        "a panel takes one number and keeps it, also without power",
        3000,
        uid=0,
        host=None,
    )
    number.greet(400, uid=0)
    number.host(420, SetUid(UID))
    number.greet(500, 0x11111111, effective=SESSION)
    number.host(520, SetUid(0x0BADF00D))
    number.greet(600, 0x11111111, effective=SESSION)
    number.start(1000, ResetCause.POWER_ON)
    number.greet(1400, 0x22222222)

    version = Sequence(
        "version", "no version in common: it says its own, takes no session, and shows it", 2000,
        host=None,
    )  # fmt: skip
    version.host(400, HelloRequest(VERSION + 1, VERSION + 2, SESSION))
    version.hello(400, session=0)
    version.host(410, picture())
    version.shows(500, *["VERSION"] * 4)
    version.greet(900)
    version.host(905, picture())
    version.shows(1000, *SHOWN)
    return [kept, reset, no_session, number, version]


def delivery() -> list[Sequence]:
    """Events until they are acknowledged."""
    press = Sequence("press", "a press is sent when it is let go, once, and answered", 4000)
    sent = press.press(1000, 0)
    press.event(sent, 1, 0, age=60)
    press.ack(sent + 20, 1, Result.SEEN)
    press.shows(sent + 60, "PENDING", *SHOWN[1:])
    press.ack(sent + 100, 1, Result.ACCEPTED)
    press.shows(sent + 150, *SHOWN)
    sent = press.press(2000, 1)
    press.event(sent, 2, 1, age=60)
    press.ack(sent + 20, 2, Result.ACCEPTED)

    resend = Sequence(
        "resend", "sent again after 120, 240, 480, 960, 960 ... ms, until answered", 6000
    )
    at = resend.press(1000, 2)
    for tries, pause in enumerate((0, *RESEND, RESEND[-1])):
        at += pause
        resend.event(at, 1, 2, age=at - 1000 - DEBOUNCE, tries=tries)
    resend.ack(at + 50, 1, Result.ACCEPTED)

    seen = Sequence("seen", "once seen, sent again each second only", 5000)
    at = seen.press(1000, 0)
    seen.event(at, 1, 0, age=60)
    seen.ack(at + 30, 1, Result.SEEN)
    at += 30
    for tries in (1, 2):
        at += RESEND_SEEN
        seen.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    seen.ack(at + 100, 1, Result.ACCEPTED)

    stale = Sequence("stale", "two flashes: it had passed", 4000)
    at = stale.press(1000, 0)
    stale.event(at, 1, 0, age=60)
    stale.ack(at + 50, 1, Result.STALE)
    stale.shows(at + 100, "STALE", *SHOWN[1:])
    stale.shows(at + 1200, *SHOWN)

    refused = Sequence("refused", "three flashes: it was refused", 4000)
    at = refused.press(1000, 0)
    refused.event(at, 1, 0, age=60)
    refused.ack(at + 50, 1, Result.REJECTED)
    refused.shows(at + 100, "REFUSED", *SHOWN[1:])
    refused.shows(at + 1200, *SHOWN)

    late = Sequence("no-answer", "after 3 seconds without an answer the lamp says so", 6500)
    at = late.press(1000, 0)
    released = at
    late.event(at, 1, 0, age=60)
    for tries in range(1, 4):
        # The host says SEEN each time; each time it is a second until the next.
        late.ack(at + 20, 1, Result.SEEN)
        at += 20 + RESEND_SEEN
        late.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    late.shows(released + ANSWER_PATIENCE - 50, "PENDING", *SHOWN[1:])
    late.shows(released + ANSWER_PATIENCE + 50, "NO_ANSWER", *SHOWN[1:])
    late.ack(at + 100, 1, Result.ACCEPTED)
    late.shows(at + 200, *SHOWN)

    stranger = Sequence("other-session", "an answer of another session says nothing", 3000)
    at = stranger.press(1000, 0)
    stranger.event(at, 1, 0, age=60)
    stranger.ack(at + 50, 1, Result.ACCEPTED, session=SESSION + 1)
    stranger.event(at + RESEND[0], 1, 0, age=60 + RESEND[0], tries=1)
    stranger.ack(at + RESEND[0] + 50, 1, Result.ACCEPTED)

    two = Sequence("two", "two wait, each with its own times; answers go by their numbers", 3000)
    first = two.press(1000, 0)
    two.event(first, 1, 0, age=60)
    second = two.press(1050, 1)
    two.event(second, 2, 1, age=60)
    two.event(first + RESEND[0], 1, 0, age=60 + RESEND[0], tries=1)
    two.ack(first + RESEND[0] + 20, 2, Result.ACCEPTED)  # before it is sent again
    third = first + RESEND[0] + RESEND[1]
    two.event(third, 1, 0, age=third - 1000 - DEBOUNCE, tries=2)
    two.ack(third + 20, 1, Result.ACCEPTED)

    full = Sequence("full", "four wait at most; a fifth is dropped and counted", 3000)
    for number, button in enumerate((0, 1, 2, 3, 0), start=1):
        at = full.press(1000 + 100 * number, button)
        if number < 5:
            full.event(at, number, button, age=60)
            full.ack(at + 15, number, Result.SEEN)
    full.pong(1700, queue=4, dropped=1, session=SESSION, revision=57)
    for number in range(1, 5):
        full.ack(1800 + number, number, Result.ACCEPTED)
    full.pong(1850, queue=0, dropped=1, session=SESSION, revision=57)
    at = full.press(2000, 1)
    full.event(at, 5, 1, age=60)
    full.ack(at + 20, 5, Result.ACCEPTED)

    lost = Sequence(
        "link-lost", "2 s without a good frame: what waits is given up, and nothing is armed", 6000,
        silent=1000,
    )  # fmt: skip
    heard = 905  # the last picture
    at = lost.press(1000, 0)
    for tries, pause in enumerate((0, *RESEND)):
        if at + pause < heard + LINK_LOST:
            at += pause
            lost.event(at, 1, 0, age=at - 1000 - DEBOUNCE, tries=tries)
    lost.shows(heard + LINK_LOST - 50, "PENDING", *SHOWN[1:])
    lost.shows(heard + LINK_LOST + 50, *["LINK_LOST"] * 4)
    lost.press(3300, 0)
    lost.bytes(3500, b"\0\x05junk\0")
    lost.shows(3600, *["LINK_LOST"] * 4)
    lost.pictures(4000, 6000, picture(58))
    lost.shows(4100, *SHOWN)
    at = lost.press(4500, 0)
    lost.event(at, 2, 0, age=60, revision=58)
    lost.ack(at + 20, 2, Result.ACCEPTED)
    return [press, resend, seen, stale, refused, late, stranger, two, full, lost]


def gestures() -> list[Sequence]:
    """What a finger does, and what it is taken for."""
    unarmed = Sequence(
        "not-armed", "a button that is not asked: one flash, no event", 3000, shown=picture(armed=2)
    )
    at = unarmed.press(1000, 0)
    unarmed.shows(at + 50, "NOT_ARMED", *SHOWN[1:])
    unarmed.shows(at + 1200, *SHOWN)

    seen = Sequence(
        "revision-at-the-press", "a press carries what was shown when it began", 3000, silent=1000
    )
    seen.pictures(1020, 3000, picture(58))
    at = seen.press(1000, 0, 100)
    seen.event(at, 1, 0, age=100, revision=57)
    seen.ack(at + 20, 1, Result.STALE)

    long = Sequence("long", "from 800 ms on it is a long press", 5000)
    at = long.press(1000, 0, 780)
    long.event(at, 1, 0, age=780)
    long.ack(at + 20, 1, Result.ACCEPTED)
    at = long.press(2500, 0, 820)
    long.event(at, 2, 0, age=820, kind=Kind.LONG)
    long.ack(at + 20, 2, Result.ACCEPTED)

    chord = Sequence(
        "chord", "a second button while the first is held long: one gesture, also unarmed", 5000,
        shown=picture(armed=0),
    )  # fmt: skip
    chord.press(1000, 2, 1200)
    at = chord.press(2000, 1, 100)
    chord.event(at, 1, 2, age=1100, kind=Kind.CHORD, second=1)
    chord.ack(at + 20, 1, Result.ACCEPTED)

    same = Sequence("same-moment", "two people press at the same moment: two presses", 3000)
    first = same.press(1000, 0, 100)
    second = same.press(1005, 1, 125)
    same.event(first, 1, 0, age=100)
    same.ack(first + 10, 1, Result.ACCEPTED)
    same.event(second, 2, 1, age=125)
    same.ack(second + 20, 2, Result.ACCEPTED)

    master = Sequence(
        "master", "the button that belongs to no seat, short and long; it is never armed", 4000,
        shown=picture(armed=0),
    )  # fmt: skip
    at = master.press(1000, NO_BUTTON)
    master.event(at, 1, NO_BUTTON, age=60, kind=Kind.MASTER)
    master.ack(at + 20, 1, Result.ACCEPTED)
    at = master.press(2000, NO_BUTTON, 900)
    master.event(at, 2, NO_BUTTON, age=900, kind=Kind.MASTER_LONG)
    master.ack(at + 20, 2, Result.ACCEPTED)

    short = Sequence("spike", "a contact closed for less than 8 ms is no press", 2000)
    short._add(1000, down=0)
    short._add(1004, up=0)
    short._add(1100, down=0)
    short._add(1105, up=0)

    bounce = Sequence("bounce", "80 bounces on both edges are one press", 3000)
    for begin, last, other in ((1000, "down", "up"), (1100, "up", "down")):
        for edge in range(80):
            name = last if edge % 2 == 0 else other
            bounce._add(begin + round(0.4 * edge, 1), **{name: 0})
        bounce._add(begin + 32, **{last: 0})
    bounce.event(1100 + 32 + 5, 1, 0, age=100)
    bounce.ack(1160, 1, Result.ACCEPTED)

    damaged = Sequence("damaged", "damaged frames change nothing and are counted", 2000)
    frame = bytearray(encode(picture(60), 0))
    frame[5] ^= 0x40
    damaged.bytes(1000, bytes(frame))
    damaged.bytes(1010, b"\x99" * 50)
    damaged.pong(1020, crc_errors=1, session=SESSION, revision=57)
    return [unarmed, seen, long, chord, same, master, short, bounce, damaged]


def documents() -> dict[str, dict[str, Any]]:
    """The files by their names."""
    sequences = [*greeting(), *delivery(), *gestures()]
    return {
        "frames.json": {
            "protocol": VERSION,
            "types": {kind.__name__: code for code, kind in MESSAGES.items()},
            "frames": golden_frames(),
            "streams": golden_streams(),
        },
        "panel.json": {
            "protocol": VERSION,
            "tolerance": TOLERANCE,
            "sequences": [sequence.document for sequence in sequences],
        },
    }


def text_of(document: dict[str, Any]) -> str:
    """JSON with one line for each frame and each step, so that a change shows as such."""
    lines = []
    for key, value in document.items():
        if isinstance(value, list):
            entries = ",\n    ".join(_entry(entry) for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n    {entries}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(entry: dict[str, Any]) -> str:
    """One frame on a line; of a sequence, one step."""
    if "steps" not in entry:
        return json.dumps(entry)
    steps = ",\n      ".join(json.dumps(step) for step in entry["steps"])
    head = json.dumps({key: value for key, value in entry.items() if key != "steps"})
    return f'{head[:-1]}, "steps": [\n      {steps}\n    ]}}'


def main() -> None:
    """Write both files."""
    for name, document in documents().items():
        (HERE / name).write_text(text_of(document), "utf-8")


if __name__ == "__main__":
    main()
