"""What is known of an emulated board by listening: to its line, its contacts and its resets.

The board itself is never asked; it is the real program, and has nothing to ask. `Life` knows what
holds from one start to the next, the observer what lasts longer.
"""

from __future__ import annotations

from collections import Counter

from tableturn_bridge.emulated.life import Claim, Life
from tableturn_bridge.protocol import NO_BUTTON, State
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.board import Outcome


class Observer:
    """Who listens to a board. All times are milliseconds of the emulator's clock.

    Args:
        buttons: Buttons for seats that the board has.
        uid: Its number as far as is known, 0 for none.
    """

    def __init__(self, buttons: int, uid: int = 0) -> None:
        self.buttons = buttons
        self.resets: Counter[str] = Counter()
        """How often it started, by cause."""
        self.fates: Counter[str] = Counter()
        """What became of all gestures."""
        self.life: Life | None = None
        """What has been heard since its start; None while its program doesn't run."""
        self.picture_seen: State | None = None
        """The last picture that it had, even if it no longer shows it."""
        self.lamps_told_at = 0.0
        """When a picture with other lamps reached it."""
        self.lamps_changed: frozenset[int] = frozenset()
        """Which lamps had something else to say in that."""
        self._uid = uid
        self._events_sent = 0
        self._closed: set[int] = set()
        self._outcomes: list[Outcome] = []
        self._stopped_at = 0

    # ---------------------------------------------------------------- what happens

    def starts(self, cause: str, now: float) -> None:
        """Its program begins, by the reset cause of this name."""
        self.stops(now)
        self.resets[cause] += 1
        self.life = Life(self.buttons, self._uid, self._closed, int(now))

    def stops(self, now: float) -> None:
        """Its program runs no more: reset, or without power. Nothing that it knew survives."""
        if self.life is None:
            return
        self.advance(now)
        self.life.end()
        self._collect(now)
        self._events_sent += self.life.events_sent
        self._stopped_at = int(now)
        self.life = None

    def contact(self, button: int, closed: bool, now: float) -> None:
        """A contact closes or opens."""
        (self._closed.add if closed else self._closed.discard)(button)
        if self.life is not None:
            self.life.contact(button, closed, int(now))
            self._collect(now)

    def reached(self, data: bytes, now: float) -> None:
        """Bytes of the host have reached it."""
        if self.life is not None:
            self.life.reached(data, int(now))
            self._collect(now)

    def said(self, data: bytes, now: float) -> None:
        """It has sent bytes."""
        if self.life is not None:
            self.life.said(data, int(now))
            self._collect(now)

    def advance(self, now: float) -> None:
        """Time passes."""
        if self.life is not None:
            self.life.advance(int(now))
            self._collect(now)

    def _collect(self, now: float) -> None:
        """Take over what lasts longer than a life."""
        life = self.life
        assert life is not None
        self._uid = life.uid
        self._outcomes += life.outcomes
        self.fates.update(outcome.fate for outcome in life.outcomes)
        life.outcomes.clear()
        if life.picture is not None:
            self._sees(life.picture, now)

    def _sees(self, picture: State, now: float) -> None:
        """A picture is there."""
        before = self.picture_seen
        old = (None,) * self.buttons if before is None else before.lamps[: self.buttons]
        pairs = enumerate(zip(old, picture.lamps, strict=False))
        changed = frozenset(button for button, (was, is_) in pairs if was != is_)
        if changed:
            self.lamps_told_at, self.lamps_changed = now, changed
        self.picture_seen = picture

    # ---------------------------------------------------------------- what is known

    @property
    def uid(self) -> int:
        """Its number, as it told it or as it was given."""
        return self._uid

    @property
    def session(self) -> int:
        """The session of its last greeting; 0 after a reset."""
        return 0 if self.life is None else self.life.session

    @property
    def picture(self) -> State | None:
        """The picture that has reached it; None while it doesn't hear its host."""
        return None if self.life is None else self.life.picture

    @property
    def waiting(self) -> int:
        """How many events it has sent that have no answer yet."""
        return 0 if self.life is None else len(self.life.sent)

    @property
    def dropped(self) -> int:
        """How many gestures found no room, by its own count."""
        return 0 if self.life is None else self.life.dropped

    @property
    def frames_read(self) -> int:
        """How many good frames have reached it since its start."""
        return 0 if self.life is None else self.life.to_board.counts.frames

    @property
    def events_sent(self) -> int:
        """Events that it has sent, each repetition counted."""
        return self._events_sent + (0 if self.life is None else self.life.events_sent)

    def claim(self, button: int) -> Claim:
        """What a lamp should say by all that was heard. Buttons count from 0."""
        if self.life is None:
            return Claim(lights.DARK, self._stopped_at)
        return self.life.claims[button]

    def down_since(self, button: int) -> int | None:
        """Since when a finger holds a button down, by what its program must have noticed."""
        return None if self.life is None else self.life.down_since(button)

    def take_outcomes(self) -> list[Outcome]:
        """The gestures of which it is clear by now what became of them, each told once."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes


def index_of(word: str) -> int:
    """The protocol's number of a button, as the emulator calls it."""
    return NO_BUTTON if word == "master" else int(word)


def word_of(index: int) -> str:
    """How the emulator calls a button."""
    return "master" if index == NO_BUTTON else str(index)
