"""What the emulator tells, brought to who listens to the board and who looks at its lamps."""

from __future__ import annotations

from tableturn_bridge.emulated.eyes import Eyes, SeenLamp
from tableturn_bridge.emulated.observer import Observer, index_of
from tableturn_bridge.emulated.process import Happening


class Senses:
    """Ears on a board's line, eyes on its lamps. Times are the emulator's milliseconds.

    Args:
        buttons: Buttons for seats that the board has.
        uid: Its number as far as is known, 0 for none.
    """

    def __init__(self, buttons: int, uid: int) -> None:
        self.board = Observer(buttons, uid)
        self.now = 0.0
        """Up to this time everything is known."""
        self.is_open = False
        """A program has the board's port open."""
        self.crashed = ""
        """How its program has come to an end, in a word of the emulator; empty while it runs."""
        self.moved_at: dict[str, float] = {}
        """When each contact moved the last time, by the emulator's words for them."""
        self._eyes = Eyes(self.board)

    def take_in(self, one: Happening) -> None:
        """Something has happened."""
        now = one.at / 1000
        self.now = max(now, self.now)
        board = self.board
        match one.kind, one.words:
            case "lamp", (button, level):
                self._eyes.light(int(button), int(level), now)
            case "pixels", (colors,):
                self._eyes.pixels(tuple(colors.split(",")))
            case "contact", (button, what):
                self.moved_at[button] = now
                board.contact(index_of(button), what == "closed", now)
            case "tx", (data,):
                board.said(bytes.fromhex(data), now)
            case "rx", (data,):
                board.reached(bytes.fromhex(data), now)
            case "start", (cause,):
                board.starts(cause.upper(), now)
            case "reset", _:
                board.stops(now)
            case "off", _:
                self.goes_dark()
            case "crash", (word,):
                self.crashed = word
                board.stops(now)
            case (("opened" | "closed" as what), _):
                self.is_open = what == "opened"

    def goes_dark(self) -> None:
        """Without power there is no light; a level, measured over some time, would still tell."""
        self.is_open = False
        self.board.stops(self.now)
        for button in range(self.board.buttons):
            self._eyes.light(button, 0, self.now)
        self._eyes.look(self.now)

    def pass_time(self, now: float) -> None:
        """Nothing else has happened up to this time."""
        self.now = max(now, self.now)
        self.board.advance(self.now)
        self._eyes.look(self.now)

    def seen(self, offset: float) -> list[SeenLamp]:
        """The lamps now, that of button 0 first; their times are later by an offset."""
        self._eyes.look(self.now)
        return [self._eyes.lamp(button, offset) for button in range(self.board.buttons)]

    def lamps_changed_at(self) -> float | None:
        """When the light followed the last picture with other lamps; None if it hasn't yet."""
        return self._eyes.changed_at()
