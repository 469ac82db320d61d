"""Draws what lamps do: each pattern over two runs, with a lamp that does it."""

from __future__ import annotations

from drawing import INK, PALE, box, element, picture, words

from tableturn_bridge.patterns import BRIGHTEST, STEP, STEPS, Pattern
from tableturn_bridge.virtual.lights import (
    ONCE,
    WAITING,
    Sign,
    held_chord,
    held_long,
    light,
    of_lamp,
    with_mark,
)

TOP, ROW = 70, 30
LAMP_X, WORDS_X, BARS_X = 34, 62, 440
CELL, HIGH = 13, 18
WIDTH = BARS_X + 2 * STEPS * CELL + 24
LIT, UNLIT = "#e8a200", "#ece7da"

TABLE = (
    (Pattern.TURN, "it is your turn"),
    (Pattern.STAGED, "a turn is staged: press to confirm it"),
    (Pattern.NEXT, "you are next"),
    (Pattern.READY, "you have confirmed, others still have to"),
    (Pattern.LOW, "your turn, and time runs out"),
    (Pattern.FREE, "press to play here"),
    (Pattern.SEATED, "this seat is taken; hold to begin"),
    (Pattern.PAUSED, "the game is paused"),
    (Pattern.BETWEEN, "between two rounds"),
    (Pattern.WINNER, "this seat has won"),
)
PANEL = (
    (Pattern.SERVICE_LOST, "the service can't be reached"),
    (Pattern.ELSEWHERE, "this panel can't be used here"),
    (Pattern.LINK_LOST, "the panel doesn't hear the bridge"),
    (Pattern.VERSION, "bridge and firmware don't fit"),
)
PRESS = (
    ("PENDING", "the press waits for its answer"),
    ("NO_ANSWER", "it has waited for long"),
    ("NOT_ARMED", "this button has nothing to say now"),
    ("STALE", "too late"),
    ("REFUSED", "refused"),
)


# While a button is held, from 0.8 s on; what it is the opposite of.
HELD = (
    (held_long(of_lamp(Pattern.TURN)), "... in your turn, with nothing staged"),
    (held_long(of_lamp(Pattern.STAGED)), "... with a turn staged"),
    (held_long(of_lamp(Pattern.SEATED)), "... on a seat that is taken: let go to begin"),
    (held_long(of_lamp(Pattern.OFF)), "... on a lamp that is off"),
    (held_chord(of_lamp(Pattern.TURN)), "another one is pressed too: both lamps"),
)


def levels(sign: Sign) -> list[int]:
    """How bright a lamp is in each step of two runs, 0 to 255."""
    runs = [light(sign, BRIGHTEST, 0, step * STEP) for step in range(2 * STEPS)]
    # What runs once is dark afterwards.
    return runs[:STEPS] + [0] * STEPS if sign.name in ONCE else runs


def row(y: float, sign: Sign, said: str) -> list[str]:
    """A pattern: a lamp that does it, what it says, and its steps as bars."""
    steps = levels(sign)
    shares = [level / BRIGHTEST for level in steps]
    lamp = element(
        "circle",
        element(
            "animate",
            attributeName="fill-opacity",
            values=";".join(f"{share:.2f}" for share in shares),
            dur=f"{2 * STEPS * STEP}ms",
            calcMode="discrete",
            repeatCount="indefinite",
        ),
        cx=LAMP_X,
        cy=y,
        r=9,
        fill=LIT,
        fill_opacity=f"{max(shares):.2f}",
    )
    ring = element("circle", cx=LAMP_X, cy=y, r=9, fill=UNLIT, stroke=PALE)
    bars = [box(BARS_X, y - HIGH / 2, 2 * STEPS * CELL, HIGH, fill=UNLIT)]
    at = 0
    while at < len(steps):
        end = at
        while end < len(steps) and steps[end] == steps[at]:
            end += 1
        if steps[at]:
            tall = HIGH * shares[at]
            x, width = BARS_X + at * CELL, (end - at) * CELL
            bars.append(box(x, y + HIGH / 2 - tall, width, round(tall, 2), fill=LIT))
        at = end
    return [ring, lamp, words(WORDS_X, y, said), *bars]


def heading(y: float, said: str) -> str:
    """The name of a group of patterns."""
    return words(24, y, said, size=13, fill=PALE, font_weight="bold")


def draw() -> str:
    """The whole picture."""
    marked = with_mark(of_lamp(Pattern.TURN)), with_mark(of_lamp(Pattern.OFF))
    by_press = {**WAITING, **ONCE}
    groups = (
        ("AT THE TABLE", [(of_lamp(pattern), said) for pattern, said in TABLE]),
        (
            "THE ROUND BEGINS WITH YOU: TWO TINY GAPS",
            [(marked[0], "... in your turn"), (marked[1], "... on a lamp that is off")],
        ),
        ("HELD FOR 0.8 S: THE OPPOSITE OF WHAT IT WAS", HELD),
        ("AFTER A PRESS", [(Sign(name, by_press[name]), said) for name, said in PRESS]),
        ("ALL LAMPS: ABOUT THE PANEL", [(of_lamp(pattern), said) for pattern, said in PANEL]),
    )
    second = STEPS * STEP / 1000
    scale = f"two runs of {second:g} seconds; a bar's height is the brightness"
    parts = [
        words(24, 28, "What a lamp says", size=19, font_weight="bold"),
        words(BARS_X, 28, scale, size=12, fill=PALE),
    ]
    y = float(TOP)
    for name, rows in groups:
        parts.append(heading(y, name))
        y += ROW * 0.9
        for sign, said in rows:
            parts += row(y, sign, said)
            y += ROW
        y += 8
    middle = BARS_X + STEPS * CELL
    parts.append(
        element("line", x1=middle, y1=48, x2=middle, y2=y - 24, stroke=INK, stroke_width=0.6,
                stroke_dasharray="3 4")
    )  # fmt: skip
    return picture(WIDTH, round(y), "The patterns of the lamps", parts)
