"""The keyboard as a panel: which key presses which button."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

SHORT = "123456"
LONG = ("qwerty", "qwertz", "QWERTY", "!@#$%^")
"""The keys under the digits, also on a German keyboard, and Shift with a digit on an English one.
"""


def legend(buttons: int) -> tuple[str, ...]:
    """What the keys of a panel with so many buttons do, a line each; how to end is the last one."""
    pressed = f"1 to {buttons}"
    held = f"{LONG[0][0]} to {LONG[0][buttons - 1]}"
    return (
        f"{pressed:<11} press a button: confirm, or take a seat",
        f"{held:<11} hold the button of the digit above: pass, start",
        "u, digit    hold it and press a second one: undo",
        "m, M        the master button, short and long: pause",
        "n           pull the plug, or put it back",
        "x           reset the board",
        "Ctrl-C      end",
    )


class Do(Enum):
    """What a key asks for."""

    PRESS = auto()
    HOLD = auto()
    UNDO = auto()
    MASTER = auto()
    MASTER_LONG = auto()
    PLUG = auto()
    RESET = auto()
    HELP = auto()


@dataclass(frozen=True)
class Wish:
    """What a key asks for, and of which button; buttons count from 1."""

    do: Do
    button: int = 0


_OTHERS = {
    "m": Do.MASTER,
    "M": Do.MASTER_LONG,
    "n": Do.PLUG,
    "x": Do.RESET,
    "?": Do.HELP,
}


class Keys:
    """Reads one key after the other. `note` says what was understood, or what is expected."""

    def __init__(self, buttons: int) -> None:
        self._buttons = buttons
        self._undo = False
        self.note = ""

    def read(self, key: str) -> Wish | None:
        """What a key asks for; None if nothing yet, or nothing that is known."""
        undo, self._undo = self._undo, False
        self.note = ""
        if len(key) != 1:  # an arrow, or something pasted
            return None
        if key == "u":
            self._undo = True
            self.note = "undo for which button? press its digit"
            return None
        if key in _OTHERS:
            return Wish(_OTHERS[key])
        if key in SHORT:
            return self._button(Do.UNDO if undo else Do.PRESS, SHORT.index(key) + 1)
        for row in LONG:
            if key in row:
                return self._button(Do.HOLD, row.index(key) + 1)
        self.note = f"{key!r} does nothing; ? shows the keys" if key.isprintable() else ""
        return None

    def _button(self, do: Do, button: int) -> Wish | None:
        if button > self._buttons:
            self.note = f"this panel has no button {button}"
            return None
        return Wish(do, button)
