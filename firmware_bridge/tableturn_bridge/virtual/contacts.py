"""From bouncing contacts to gestures: debounce, and what a press has become when it is let go."""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_bridge.protocol import DEBOUNCE, LONG_PRESS, NO_BUTTON, Kind


class Contact:
    """One button, read once each millisecond.

    A counter goes up while the contact is closed and down while it is open; the button counts as
    pressed when the counter has reached `DEBOUNCE`, and as released when it is back at zero. So
    bounces of any number cost time, but never make a second press. One that is closed when the
    program starts counts as pressed from the first, so that it makes no press of its own.
    """

    def __init__(self, closed: bool, now: int) -> None:
        self.pressed = closed
        self._closed = closed
        self._count = DEBOUNCE if closed else 0
        self._read_at = now

    def set(self, closed: bool, now: int) -> None:
        """The contact closes or opens; it is read so from the next millisecond on."""
        self.read(now)
        self._closed = closed

    def read(self, now: int) -> bool:
        """Read it up to this time. True if the button has been pressed or released by that."""
        passed = max(0, now - self._read_at)
        self._read_at = max(now, self._read_at)
        self._count += passed if self._closed else -passed
        self._count = min(DEBOUNCE, max(0, self._count))
        changed = self._count == (0 if self.pressed else DEBOUNCE)
        self.pressed ^= changed
        return changed

    def next_time(self) -> int | None:
        """When the button will be pressed or released if the contact stays as it is."""
        if self._closed == self.pressed:
            return None
        left = DEBOUNCE - self._count if self._closed else self._count
        return self._read_at + left


@dataclass(frozen=True)
class Sight:
    """What the panel showed when a button was pressed.

    `live` says that it showed a table at all: without one, no gesture counts.
    """

    live: bool = False
    tag: int = 0
    revision: int = 0
    armed: bool = False


@dataclass(frozen=True)
class Gesture:
    """What somebody has done with a button, decided when it was let go. Buttons count from 0."""

    kind: Kind
    button: int
    second: int
    sight: Sight
    pressed_at: int
    released_at: int

    @property
    def buttons(self) -> tuple[int, ...]:
        """The button, and the second one if there is one."""
        return (self.button,) if self.second == NO_BUTTON else (self.button, self.second)


@dataclass
class _Held:
    """A button that is down."""

    since: int
    sight: Sight
    other: int | None = None
    """The other button of a chord."""
    first: bool = True
    """It is the one that was held, not the second one of a chord."""
    spent: bool = False
    """Its chord has been told; letting go of it says nothing more."""


class Gestures:
    """Tells presses, long presses and chords apart.

    A second button makes a chord only if the first has been held for a long press by then: two
    people who press at the same moment say two things, never one. While seats are taken nothing
    is a chord: one who holds a button to begin, and one who sits down, are two people.
    """

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}

    def press(self, button: int, sight: Sight, now: int, *, chords: bool = True) -> None:
        """A button has gone down; `chords` says that it may be the second one of a chord."""
        held = self._held[button] = _Held(now, sight)
        alone = button == NO_BUTTON or not chords
        first = None if alone else self._waiting_for_second(now)
        if first is not None:
            self._held[first].other = button
            held.other, held.first = first, False

    def _waiting_for_second(self, now: int) -> int | None:
        """The button that has been held longest, long enough for a chord."""
        candidates = [
            (held.since, button)
            for button, held in self._held.items()
            if button != NO_BUTTON and held.other is None and now - held.since >= LONG_PRESS
        ]
        return min(candidates)[1] if candidates else None

    def release(self, button: int, now: int) -> Gesture | None:
        """A button has been let go. None if it says nothing more."""
        held = self._held.pop(button, None)
        if held is None or held.spent:
            return None
        if held.other is not None:
            return self._chord(button, held, now)
        long = now - held.since >= LONG_PRESS
        if button == NO_BUTTON:
            kind = Kind.MASTER_LONG if long else Kind.MASTER
        else:
            kind = Kind.LONG if long else Kind.PRESS
        return Gesture(kind, button, NO_BUTTON, held.sight, held.since, now)

    def _chord(self, button: int, held: _Held, now: int) -> Gesture:
        """The gesture of both, whichever of them is let go first."""
        assert held.other is not None
        partner = self._held[held.other]
        partner.spent = True
        first, second = (button, held.other) if held.first else (held.other, button)
        began = held if held.first else partner
        return Gesture(Kind.CHORD, first, second, began.sight, began.since, now)

    def spoil(self) -> None:
        """What is held now won't count: the table it was meant for is no longer shown."""
        for held in self._held.values():
            held.sight = Sight()

    def become(self, button: int, now: int) -> Kind | None:
        """Which gesture a held button has become, beyond a short press."""
        held = self._held.get(button)
        if held is None or held.spent or not held.sight.live:
            return None
        if held.other is not None:
            return Kind.CHORD
        return Kind.LONG if now - held.since >= LONG_PRESS else None

    def next_time(self, now: int) -> int | None:
        """When a held button becomes a long press."""
        times = [held.since + LONG_PRESS for held in self._held.values()]
        return min((time for time in times if time > now), default=None)
