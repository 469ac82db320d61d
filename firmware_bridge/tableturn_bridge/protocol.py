"""The messages between host and panel, protocol version 1: the one table of them.

The host follows the table at the service and sends the panel whole pictures (`State`), again
every half second, so that none needs to be acknowledged. The panel sends gestures (`Event`) and
keeps each until it is acknowledged. What a message is made of stands here once: the Python codec
below reads the declarations, and so does whatever writes the C header of the firmware.

Everything is little endian. A body may grow at its end in later versions: what is known is read
and the rest ignored; a body that is shorter than known is dropped. See `frames` for how messages
travel.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from enum import IntEnum, IntFlag
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

VERSION = 1
"""The version of this protocol."""
LOWEST_VERSION = 1
"""The oldest version that this host still speaks."""

FEWEST_BUTTONS = 2
"""Buttons for seats that a panel has at least."""
MOST_BUTTONS = 6
"""Buttons for seats that a panel has at most: the picture has so many lamps. The service has room
for larger panels, with a button for each of the eight seats that a table can have."""
LONGEST_BODY = 32
"""Bytes of a message's body at most."""
NO_BUTTON = 0xFF
"""Stands for the button that belongs to no seat, and for no second button."""

# Times, in milliseconds.
HELLO_EVERY = 250
"""The host asks who is there so often, until it is answered."""
HELLO_PATIENCE = 5000
"""It does so for this long; a board takes 0.8 to 3 seconds to boot after its port is opened."""
STATE_EVERY = 500
"""The host repeats the picture so often; that is also its sign of life."""
PING_EVERY = 1000
"""The host asks how the panel is so often."""
PINGS_UNANSWERED = 3
"""So many unanswered pings mean that the panel is lost."""
LINK_LOST = 2000
"""Without a valid frame for so long, the panel disarms, empties its queue and shows it."""
RESEND = (120, 240, 480, 960)
"""The panel sends an event again after these times; the last one repeats."""
RESEND_SEEN = 1000
"""It sends an event so rarely once the host has seen it."""
DEBOUNCE = 8
"""A button counts as pressed or released after so long without bouncing."""
LONG_PRESS = 800
"""A press of at least this length is a long one."""
ANSWER_PATIENCE = 3000
"""Without a final answer for so long, the lamp of the pressed button shows an error."""
QUEUE = 7
"""Events that a panel keeps: of all six seats and the master button at the same moment."""

U8 = Annotated[int, "B"]
U16 = Annotated[int, "H"]
U32 = Annotated[int, "I"]
Lamps = Annotated[tuple[int, ...], f"{MOST_BUTTONS}B"]
"""One byte for each button: the pattern in the low half, the colour in the high half."""


class Kind(IntEnum):
    """The kinds of gestures in `Event`. All are decided when the button is let go.

    The numbers are those of `tableturn.v1.Gesture`.
    """

    PRESS = 1
    LONG = 2
    CHORD = 3
    MASTER = 4
    MASTER_LONG = 5


class Result(IntEnum):
    """What the host says to an event. All but SEEN are final."""

    SEEN = 0
    ACCEPTED = 1
    STALE = 2
    REJECTED = 3


class ResetCause(IntEnum):
    """Why the panel started."""

    UNKNOWN = 0
    POWER_ON = 1
    EXTERNAL = 2
    BROWN_OUT = 3
    WATCHDOG = 4


class Caps(IntFlag):
    """What a panel has beyond lamps and buttons."""

    MASTER_BUTTON = 1
    PIXELS = 2
    VIRTUAL = 4
    """It is no board, but a model of one."""


class Flags(IntFlag):
    """What holds for the whole table: the lower half of `State.flags`; see `marked`."""

    PAUSED = 1
    OVER = 2
    TIME_LOW = 4
    """The time of a seat that is asked runs out, or has run out."""
    SEATING = 8
    """Seats are being taken by pressing."""


def with_mark(flags: int, button: int) -> int:
    """The flags with the button, from 1, whose lamp is marked; 0 for none."""
    return flags | button << 4


def marked(flags: int) -> int:
    """The button whose lamp has the start player's mark: the upper half of `State.flags`.

    A panel that doesn't know the mark shows the same picture without it.
    """
    return flags >> 4


class Color(IntEnum):
    """The colours of seats, in the order in which tables have them; 0 for none."""

    NONE = 0
    RED = 1
    BLUE = 2
    GREEN = 3
    YELLOW = 4
    WHITE = 5
    BLACK = 6
    PURPLE = 7
    ORANGE = 8


class Message:
    """A message. Subclasses declare their code and, in order, the fields of their body."""

    CODE: ClassVar[int]
    FORM: ClassVar[struct.Struct]
    FORMS: ClassVar[tuple[str, ...]]
    """How each field is packed, in the notation of `struct`; `FORM` is all of them."""

    def body(self) -> bytes:
        """The bytes of the body. Raises ValueError if a value doesn't fit its field."""
        values: list[int] = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            values.extend(value if isinstance(value, tuple) else (value,))
        try:
            return self.FORM.pack(*values)
        except struct.error as error:
            raise ValueError(f"{self!r} can't be sent: {error}") from error

    @classmethod
    def of(cls, body: bytes) -> Message | None:
        """The message of a body; None if it is too short."""
        if len(body) < cls.FORM.size:
            return None
        values = iter(cls.FORM.unpack_from(body))
        arguments: list[Any] = []
        for form in cls.FORMS:
            count = int(form[:-1] or 1)
            taken = tuple(next(values) for _ in range(count))
            arguments.append(taken if form[:-1] else taken[0])
        return cls(*arguments)


def _forms(kind: type[Message]) -> tuple[str, ...]:
    """How each field of a message is packed, in the notation of `struct`."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(get_args(hints[field.name])[1] for field in fields(kind))  # type: ignore[arg-type]


# ---------------------------------------------------------------- host to panel


@dataclass(frozen=True)
class HelloRequest(Message):
    """Who is there? `session` is adopted by a panel that has none, that is after a reset."""

    CODE = 0x01
    proto_min: U8
    proto_max: U8
    session: U32


@dataclass(frozen=True)
class State(Message):
    """The whole picture.

    `tag` names the table, so that revision 57 of one is never taken for that of its rematch.
    `armed` are the buttons whose gestures count now, `staged` those whose seats have a turn
    staged: bit 0 is button 1. `lamps` has a pattern and a colour for each button. `flags` has the
    `Flags` of the table, and above them the number of the button that is `marked`.
    """

    CODE = 0x02
    tag: U16
    revision: U32
    armed: U8
    staged: U8
    lamps: Lamps
    flags: U8
    brightness: U8


@dataclass(frozen=True)
class Ping(Message):
    """How are you?"""

    CODE = 0x03
    token: U16


@dataclass(frozen=True)
class EventAck(Message):
    """What became of an event of a session."""

    CODE = 0x04
    number: U16
    result: U8
    session: U32


@dataclass(frozen=True)
class SetUid(Message):
    """Keep this number: you have none yet."""

    CODE = 0x05
    uid: U32


# ---------------------------------------------------------------- panel to host


@dataclass(frozen=True)
class Hello(Message):
    """Here I am: the answer to `HelloRequest`, and sent unasked after a reset with session 0.

    `protocol` is the version that the panel speaks with this host; if the host's span has none
    that it knows, the nearest one that it does know.
    """

    CODE = 0x81
    protocol: U8
    major: U8
    minor: U8
    uid: U32
    session: U32
    reset_cause: U8
    buttons: U8
    caps: U16
    build: U32


@dataclass(frozen=True)
class Pong(Message):
    """How the panel is: the revision that it shows, and counters since its start.

    `uptime` is in milliseconds. Counters stop at their largest value.
    """

    CODE = 0x83
    token: U16
    revision: U32
    uptime: U32
    session: U32
    crc_errors: U16
    overruns: U16
    dropped: U16
    queue: U8


@dataclass(frozen=True)
class Event(Message):
    """A gesture. Sent until it is acknowledged.

    `number` counts the events of a session. `button` counts from 0; it is `NO_BUTTON` for the
    one that belongs to no seat, and so is `second` without a second button. `tag` and `revision`
    are those that the panel showed when the button was pressed; `age` is the time since then in
    milliseconds, `tries` how often it was sent before.
    """

    CODE = 0x84
    session: U32
    number: U16
    button: U8
    kind: U8
    second: U8
    tag: U16
    revision: U32
    age: U16
    tries: U8


HOST_TO_PANEL: tuple[type[Message], ...] = (HelloRequest, State, Ping, EventAck, SetUid)
PANEL_TO_HOST: tuple[type[Message], ...] = (Hello, Pong, Event)
MESSAGES: dict[int, type[Message]] = {}

for _kind in (*HOST_TO_PANEL, *PANEL_TO_HOST):
    _kind.FORMS = _forms(_kind)
    _kind.FORM = struct.Struct("<" + "".join(_kind.FORMS))
    assert _kind.FORM.size <= LONGEST_BODY
    MESSAGES[_kind.CODE] = _kind


def read(code: int, body: bytes) -> Message | None:
    """The message of a code and a body; None if the code is unknown or the body too short."""
    kind = MESSAGES.get(code)
    return None if kind is None else kind.of(body)
