"""Two runs are the same to the last byte; how much stack the heaviest one takes."""

from __future__ import annotations

import asyncio
import random

from tableturn_bridge.patterns import Pattern, lamp
from tableturn_bridge.protocol import NO_BUTTON, Ping, ResetCause, Result, State

from .bench import all_armed
from .benches import STACK, FirmwareBench, the_firmware
from .evening import Evening
from .test_line import garbage, presses_on_a_bad_line
from .test_rounds import play


def an_evening(seed: int) -> tuple[list[str], bytes]:
    """All that an emulator says in some rounds of trouble, and all that the board has sent."""
    with the_firmware() as bench, asyncio.Runner() as runner:
        bench.watch()
        at = Evening(bench, runner, seed)
        at.sits_down()
        play(at, 20)
        return bench.emulator.lines, bytes(bench.transcript)


def test_two_runs_are_byte_identical() -> None:
    first, said = an_evening(1)
    second, said_again = an_evening(1)
    _, otherwise = an_evening(2)
    assert len(first) > 4000
    assert first == second
    assert said == said_again
    assert said != otherwise


def everything(bench: FirmwareBench, seed: int) -> None:
    """All that a program can be asked to do, as much at once as the line allows."""
    draw = random.Random(seed)
    patterns = [pattern for pattern in Pattern if pattern < Pattern.LINK_LOST]
    bench.plays(all_armed)
    for burst in range(300):
        lamps = tuple(lamp(draw.choice(patterns), draw.randrange(9)) for _ in range(6))
        flags = draw.randrange(256)
        bench.shows(State(draw.randrange(65536), burst, 63, 0, lamps, flags, draw.randrange(256)))
        bench.tell(Ping(burst))
        if draw.random() < 0.3:
            bench.raw(garbage(draw))
        if draw.random() < 0.3:
            bench.greet()
        for _ in range(draw.randrange(4)):
            button = draw.choice([*range(bench.buttons), NO_BUTTON])
            if draw.random() < 0.3:
                bench.bounce(button, draw.random() < 0.5, 20, 0.3)
            else:
                bench.contact(button, draw.random() < 0.5)
        bench.wait(draw.uniform(5, 120))
        for event in bench.events():
            if draw.random() < 0.5:
                bench.ack(event.number, draw.choice(list(Result)))
    for button in (*range(bench.buttons), NO_BUTTON):
        bench.up(button)


def test_the_stack_never_outgrows_its_budget() -> None:
    """On the largest panel, with all that there is, over resets and a bad line."""
    with the_firmware(6, pixels=True, uid=0) as bench:
        for seed, cause in enumerate((ResetCause.WATCHDOG, ResetCause.POWER_ON)):
            everything(bench, seed)
            bench.reset(cause)
            bench.wait(30)
        presses_on_a_bad_line(bench, 0.01, 5, 20)
        print(f"{bench.stack} bytes of stack")
        assert 0 < bench.stack <= STACK
