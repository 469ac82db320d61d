"""What follows from the picture that a panel shows: which gestures count, and what lamps say.

The model of the firmware works by it, and so does whoever listens to a board. Buttons count from 0.
"""

from __future__ import annotations

from tableturn_bridge.protocol import NO_BUTTON, Flags, Kind, State, marked
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.contacts import Gesture, Sight
from tableturn_bridge.virtual.flashes import Flashes
from tableturn_bridge.virtual.lights import Sign


def is_armed(picture: State | None, button: int) -> bool:
    """Short and long presses of this button count now."""
    return picture is not None and button != NO_BUTTON and bool(picture.armed >> button & 1)


def sight_of(picture: State | None, button: int) -> Sight:
    """What a panel shows when a button is pressed."""
    if picture is None:
        return Sight()
    return Sight(True, picture.tag, picture.revision, is_armed(picture, button))


def has_chords(picture: State | None) -> bool:
    """A second button may make a chord: not while seats are being taken."""
    return picture is None or not picture.flags & Flags.SEATING


def counts(picture: State | None, gesture: Gesture) -> bool:
    """A gesture counts if its table is still shown and it answers what is asked.

    A press that began before its button was armed was meant for something else.
    """
    if picture is None or not gesture.sight.live:
        return False
    if gesture.kind in (Kind.PRESS, Kind.LONG):
        return gesture.sight.armed and is_armed(picture, gesture.button)
    return True


def sign_of(
    picture: State | None, button: int, held: Kind | None, flashes: Flashes, late: bool | None
) -> Sign:
    """What the lamp of a button says. What the person just does goes before all else.

    Args:
        picture: What the host wants to be shown; None while it isn't heard.
        button: Whose lamp it is.
        held: The gesture that the button has become, while it is held.
        flashes: What runs once.
        late: None if no gesture of the button waits for its answer, else whether it has waited for
            too long.
    """
    if picture is None:
        return lights.LINK_LOST
    sign = lights.of_lamp(picture.lamps[button])
    if marked(picture.flags) == button + 1:
        sign = lights.with_mark(sign)
    if held is not None:
        return lights.held_chord(sign) if held is Kind.CHORD else lights.held_long(sign)
    flash = flashes.sign(button, sign.color)
    if flash is not None:
        return flash
    if late is not None:
        name = "NO_ANSWER" if late else "PENDING"
        return Sign(name, lights.WAITING[name], sign.color)
    return sign
