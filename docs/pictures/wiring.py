"""Draws how a panel is wired: an Arduino Nano from above, its buttons, lamps and pixels.

The pins are those of `firmware_bridge/firmware/pins.h`; a test compares them.
"""

from __future__ import annotations

from drawing import INK, PALE, box, dot, element, picture, wire, words

BUTTON_PINS = ("A0", "A1", "A2", "A3", "A4", "A5")
"""The pin of each seat's button; a button connects it to ground."""
LAMP_PINS = ("D8", "D9", "D10", "D11", "D12", "D13")
"""The pin of each seat's lamp: the long leg is on its side, by way of the resistor."""
MASTER_PIN, PIXEL_PIN = "D2", "D6"

LEFT, RIGHT = (
    tuple(row.split())
    for row in (
        "D13 3V3 REF A0 A1 A2 A3 A4 A5 A6 A7 5V RST GND VIN",
        "D12 D11 D10 D9 D8 D7 D6 D5 D4 D3 D2 GND RST RX0 TX1",
    )
)
"""A Nano's pins from above, from the USB socket on."""

WIDTH, HEIGHT = 1040, 1010
NANO_X, NANO_Y, NANO_WIDTH, PITCH = 440, 170, 140, 38
PADS_LEFT, PADS_RIGHT = NANO_X, NANO_X + NANO_WIDTH
LEFT_RAIL, RIGHT_RAIL = 96, 930
PLUS_X, DATA_X = PADS_LEFT - 40, PADS_RIGHT + 42
"""Where the wires of the pixels go down."""
SEATS = ("#d64545", "#2f6fd0", "#2e9e5b", "#d9a400", "#9aa3b2", "#8a4fc0")
BOARD, PLUS, DATA = "#1d6a72", "#c2410c", "#7c3aed"


def y_of(pin: str) -> float:
    """The height of a pin."""
    return NANO_Y + 40 + PITCH * (LEFT if pin in LEFT else RIGHT).index(pin)


GROUNDS = tuple(NANO_Y + 40 + PITCH * side.index("GND") for side in (LEFT, RIGHT))
"""The heights of the pins of ground, left and right."""


def nano() -> list[str]:
    """The board, with the names of its pins."""
    bottom = NANO_Y + 80 + PITCH * (len(LEFT) - 1)
    middle = NANO_X + NANO_WIDTH / 2
    parts = [
        box(NANO_X, NANO_Y, NANO_WIDTH, bottom - NANO_Y, rx=8, fill=BOARD),
        box(middle - 26, NANO_Y - 20, 52, 44, rx=4, fill="#c9ced6", stroke=PALE),
        words(middle, NANO_Y + 2, "USB", size=13, text_anchor="middle", font_weight="bold"),
        box(middle - 26, NANO_Y + 250, 52, 52, rx=3, fill="#2b2f38"),
        words(middle, NANO_Y + 270, "ATmega", size=11, fill="#fff", text_anchor="middle"),
        words(middle, NANO_Y + 285, "328P", size=11, fill="#fff", text_anchor="middle"),
        words(middle, NANO_Y + 350, "Arduino", size=13, fill="#fff", text_anchor="middle"),
        words(middle, NANO_Y + 368, "Nano", size=13, fill="#fff", text_anchor="middle"),
    ]
    used = {*BUTTON_PINS, *LAMP_PINS, MASTER_PIN, PIXEL_PIN, "GND", "5V"}
    for x, names, inward, anchor in (
        (PADS_LEFT, LEFT, 12, "start"),
        (PADS_RIGHT, RIGHT, -12, "end"),
    ):
        for number, name in enumerate(names):
            y = NANO_Y + 40 + PITCH * number
            parts.append(dot(x, y, "#e5c46a" if name in used else "#8fa9ad", 5))
            weight = {"font_weight": "bold"} if name in used else {"opacity": 0.65}
            parts.append(
                words(x + inward, y, name, size=13, fill="#fff", text_anchor=anchor, **weight)
            )
    return parts


def button(pin: str, name: str, color: str) -> list[str]:
    """A button between a pin on the left and ground."""
    y, x = y_of(pin), 220
    return [
        wire((PADS_LEFT - 5, y), (x + 44, y)),
        wire((x, y), (LEFT_RAIL, y)),
        *switch(x, y),
        dot(LEFT_RAIL, y),
        box(x + 62, y - 11, 92, 22, rx=11, fill=color),
        words(x + 108, y, name, size=13, fill="#fff", text_anchor="middle", font_weight="bold"),
    ]


def switch(x: float, y: float) -> list[str]:
    """A push button that is open: two contacts, and a bar above them."""
    return [
        element("circle", cx=x + 4, cy=y, r=4, fill="#fff", stroke=INK, stroke_width=2),
        element("circle", cx=x + 40, cy=y, r=4, fill="#fff", stroke=INK, stroke_width=2),
        wire((x + 2, y - 10), (x + 42, y - 10), width=2.5),
        wire((x + 22, y - 10), (x + 22, y - 17), width=2.5),
    ]


def resistor(x: float, y: float, *, upright: bool = False) -> list[str]:
    """A resistor of 44 by 16 that begins at x; upright it begins at y."""
    if upright:
        return [
            box(x - 8, y, 16, 44, fill="#fff", stroke=INK, stroke_width=2),
            words(x + 15, y + 22, "330 Ω", size=11),
        ]
    return [
        box(x, y - 8, 44, 16, fill="#fff", stroke=INK, stroke_width=2),
        words(x + 22, y, "330 Ω", size=11, text_anchor="middle"),
    ]


def lamp(pin: str, name: str, color: str) -> list[str]:
    """A resistor and an LED between a pin and ground; the LED's anode is on the pin's side."""
    y = y_of(pin)
    start: list[tuple[float, float]] = [(PADS_RIGHT + 5, y)]
    if pin in LEFT:  # around the USB socket, above all others
        above = NANO_Y - 42
        start = [(PADS_LEFT - 5, y), (PADS_LEFT - 34, y), (PADS_LEFT - 34, above)]
        y = above
    x = 640
    arrows = [
        wire((x + 134 + shift, y - 14), (x + 140 + shift, y - 21), width=1.5) for shift in (0, 9)
    ]
    return [
        wire(*start, (x, y)),
        *resistor(x, y),
        wire((x + 44, y), (x + 118, y)),
        words(x + 106, y - 11, "+", size=17, text_anchor="middle", font_weight="bold"),
        element(
            "path",
            d=f"M {x + 118} {y - 12} L {x + 142} {y:g} L {x + 118} {y + 12} Z",
            fill=color,
            stroke=INK,
            stroke_width=2,
        ),
        wire((x + 142, y - 12), (x + 142, y + 12), width=3),
        *arrows,
        wire((x + 142, y), (RIGHT_RAIL, y)),
        dot(RIGHT_RAIL, y),
        box(x + 178, y - 11, 84, 22, rx=11, fill=color),
        words(x + 220, y, name, size=13, fill="#fff", text_anchor="middle", font_weight="bold"),
    ]


def over(
    start: tuple[float, float], end: tuple[float, float], *, at: float, color: str = INK
) -> list[str]:
    """A level wire with a small bow where it goes over another one without touching it."""
    y = start[1]
    near, far = (at - 8, at + 8) if start[0] < end[0] else (at + 8, at - 8)
    bow = f"M {near} {y} A 8 8 0 0 {int(near < far)} {far} {y}"
    return [
        wire(start, (near, y), color=color),
        element("path", d=bow, fill="none", stroke=color, stroke_width=2),
        wire((far, y), end, color=color),
    ]


def grounds() -> list[str]:
    """Both rails of ground, each with a pin of the board."""
    left, right = GROUNDS
    top = NANO_Y - 42
    x = RIGHT_RAIL
    return [
        wire((LEFT_RAIL, y_of("A0")), (LEFT_RAIL, left), width=4),
        *over((PADS_LEFT - 5, left), (LEFT_RAIL, left), at=PLUS_X),
        words(LEFT_RAIL, y_of("A0") - 20, "GND", text_anchor="middle", font_weight="bold"),
        wire((x, top), (x, right), width=4),
        *over((PADS_RIGHT + 5, right), (x, right), at=DATA_X),
        dot(x, right),
        words(x + 14, top, "GND", font_weight="bold"),
    ]


def master() -> list[str]:
    """The button that belongs to no seat."""
    y, x = y_of(MASTER_PIN), 700
    return [
        *over((PADS_RIGHT + 5, y), (x, y), at=DATA_X),
        *switch(x, y),
        wire((x + 44, y), (RIGHT_RAIL, y)),
        dot(RIGHT_RAIL, y),
        words(x + 54, y - 13, "master button (not needed)", size=12),
    ]


def pixels() -> list[str]:
    """Pixels instead of LEDs, or beside them."""
    y, five, top = y_of(PIXEL_PIN), y_of("5V"), 800
    first, pitch = 738, 44
    last = first + pitch * (len(SEATS) - 1) + 16
    ground, plus, data = top - 10, top + 72, top + 22
    left, buffer = DATA_X - 18, DATA_X + 66
    parts = [
        box(left, top - 46, 424, 178, rx=10, fill="none", stroke=PALE, stroke_dasharray="6 5"),
        words(left + 14, top + 96, "coloured lamps: WS2812, one for each seat", size=13),
        words(left + 14, top + 115, "(not needed)", size=12, fill=PALE),
        wire((PADS_RIGHT + 5, y), (DATA_X, y), (DATA_X, data), color=DATA),
        *resistor(DATA_X, data - 138, upright=True),
        *over((DATA_X, data), (first, data), at=buffer, color=DATA),
        words(first, top - 27, "data: from DOUT to the next DIN", size=11, fill=DATA),
        words(first - 7, data - 14, "DIN", size=10, text_anchor="end", fill=DATA),
        words(last + 20, data - 14, "DOUT", size=10, fill=DATA),
        wire((last + 16, data), (last + 30, data), color=DATA),
        wire((PADS_LEFT - 5, five), (PLUS_X, five), (PLUS_X, plus), (last, plus), color=PLUS),
        words(PADS_LEFT - 14, five - 11, "5 V", size=12, fill=PLUS, text_anchor="end"),
        wire((RIGHT_RAIL, GROUNDS[1]), (RIGHT_RAIL, ground), width=4),
        wire((buffer, ground), (last, ground)),
        dot(RIGHT_RAIL, ground),
        *capacitor(buffer, ground, plus),
    ]
    for number, color in enumerate(SEATS):
        at = first + pitch * number
        parts += [
            wire((at + 16, ground), (at + 16, top + 6)),
            wire((at + 16, top + 38), (at + 16, plus), color=PLUS),
            box(at, top + 6, 32, 32, rx=4, fill="#f4f4f6", stroke=INK, stroke_width=1.5),
            element("circle", cx=at + 16, cy=data, r=10, fill=color),
            dot(at + 16, ground, radius=3),
            dot(at + 16, plus, PLUS, 3),
            arrow(at, data),
        ]
        if number + 1 < len(SEATS):
            parts.append(wire((at + 32, data), (at + pitch, data), color=DATA))
    return parts


def arrow(x: float, y: float) -> str:
    """The end of a wire of data, where it goes into a pixel."""
    return element("path", d=f"M {x - 9} {y - 6} L {x} {y} L {x - 9} {y + 6} Z", fill=DATA)


def capacitor(x: float, ground: float, plus: float) -> list[str]:
    """An electrolytic capacitor between two levels: its hollow plate is the + one."""
    middle = plus - 24
    return [
        wire((x, ground), (x, middle - 6)),
        box(x - 15, middle - 10, 30, 5, fill=INK),
        box(x - 15, middle + 1, 30, 5, fill="#fff", stroke=INK, stroke_width=2),
        wire((x, middle + 7), (x, plus), color=PLUS),
        dot(x, plus, PLUS, 3),
        words(x + 26, middle + 10, "+", size=17, text_anchor="middle", font_weight="bold"),
        words(x - 22, middle - 2, "100 µF", size=11, text_anchor="end"),
    ]


def hints() -> list[str]:
    """What the parts look like, and which of their legs is which."""
    y = 890
    parts = [words(40, y - 46, "Which leg is which", size=16, font_weight="bold")]
    # An LED from the side: the long leg is the anode, the flat side marks the cathode.
    x = 62
    parts += [
        element("path", d=f"M {x} {y + 40} V {y + 12} A 18 18 0 0 1 {x + 36} {y + 12} V {y + 40} Z",
                fill="#f2b8b8", stroke=INK, stroke_width=2),
        box(x - 4, y + 40, 40, 6, fill="#f2b8b8", stroke=INK, stroke_width=2),
        wire((x + 10, y + 46), (x + 10, y + 98), width=3),
        wire((x + 26, y + 46), (x + 26, y + 76), width=3),
        words(x + 56, y + 20, "LED", font_weight="bold"),
        words(x + 56, y + 44, "long leg: +, to the resistor", size=13),
        words(x + 56, y + 66, "short leg, flat side: to GND", size=13),
    ]  # fmt: skip
    # A push button from above: legs on one side are joined, so diagonal ones are always right.
    x = 306
    parts += [
        box(x, y + 14, 60, 60, rx=5, fill="#d7dae0", stroke=INK, stroke_width=2),
        element("circle", cx=x + 30, cy=y + 44, r=15, fill="#3a3f4a"),
        *(wire((x + at, y + 14), (x + at, y - 2), width=4) for at in (10, 50)),
        *(wire((x + at, y + 74), (x + at, y + 90), width=4) for at in (10, 50)),
        wire((x + 10, y - 2), (x + 10, y - 12), color=PLUS, width=4),
        wire((x + 50, y + 90), (x + 50, y + 100), color=PLUS, width=4),
        words(x + 78, y + 20, "push button with four legs", font_weight="bold"),
        words(x + 78, y + 44, "take two that are diagonally", size=13),
        words(x + 78, y + 64, "opposite (marked here)", size=13),
    ]
    return parts


def draw() -> str:
    """The whole picture."""
    parts = [
        words(40, 34, "A panel for six seats", size=22, font_weight="bold"),
        words(40, 62, "For fewer, leave out the last ones: a panel for four has A0 to A3 and D8 to "
              "D11.", fill=PALE),
        words(40, 252, "Buttons: no resistor", size=15, font_weight="bold"),
        words(640, 88, "Lamps: a resistor of 330 Ω and an LED each", size=15, font_weight="bold"),
    ]  # fmt: skip
    for number, color in enumerate(SEATS):
        parts += button(BUTTON_PINS[number], f"button {number + 1}", color)
        parts += lamp(LAMP_PINS[number], f"lamp {number + 1}", color)
    parts += [*master(), *pixels(), *grounds(), *nano(), *hints()]
    return picture(WIDTH, HEIGHT, "How a panel is wired to an Arduino Nano", parts)
