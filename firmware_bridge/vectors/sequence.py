"""One sequence of what host, people and panel do: how it is written down."""

from __future__ import annotations

from typing import Any

from tableturn_bridge.frames import encode
from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import (
    DEBOUNCE,
    NO_BUTTON,
    STATE_EVERY,
    VERSION,
    Event,
    EventAck,
    Flags,
    HelloRequest,
    Kind,
    Message,
    Ping,
    ResetCause,
    Result,
    State,
)
from vectors.frames import fields_of

SESSION = 0x5E55104E
UID = 0xA1B2C3D4
TAG = 0x29B1
NO_FLAGS = Flags(0)
TURN, FREE, NEXT = Pattern.TURN, Pattern.FREE, Pattern.NEXT


def picture(
    revision: int = 57, armed: int = 0b1111, tag: int = TAG, flags: int = NO_FLAGS
) -> State:
    """Four seats: it is button 1's turn."""
    colors = enumerate((TURN, NEXT, Pattern.OFF, Pattern.OFF), start=1)
    lamps = tuple(color << 4 | pattern for color, pattern in colors)
    return State(tag, revision, armed, 0b0001, (*lamps, 0, 0), int(flags), 255)


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

    def shows(self, at: int, *signs: str, marked: int | None = None) -> None:
        """The lamps say this, and so does the mark of the start player."""
        mark = {} if marked is None else {"marked": marked}
        self._add(at, shows=list(signs), **mark)

    @property
    def document(self) -> dict[str, Any]:
        """The sequence as it is written. Steps of the same time stay in their order."""
        return {**self.head, "steps": sorted(self.steps, key=lambda step: step["at"])}
