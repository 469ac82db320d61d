"""Rounds of trouble with a real table authority: never twice, never from a wrong seat."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from tableturn_bridge.protocol import NO_BUTTON, ResetCause

from .benches import STACK, FirmwareBench, Kind, on_the_bench
from .evening import SEATS, Evening

NOISE = 0.01
WRONG_SEAT = "a press by a wrong seat"
EVERYBODY = "everybody presses"


class Trouble:
    """One kind of trouble a round, at a random moment around a press of the asked seat.

    Each says how many of that press may count: `True` that it must.
    """

    def __init__(self, at: Evening) -> None:
        self.at = at
        self.kinds: dict[str, Callable[[], bool]] = {
            "nothing": self.nothing,
            "a double press": self.double_press,
            "a turn is taken back": self.taken_back,
            WRONG_SEAT: self.wrong_seat,
            EVERYBODY: self.everybody,
            "a pause": self.pause,
            "noise": self.noise,
            "the program hangs": self.hangs,
            "the supply drops": lambda: self.reset(ResetCause.BROWN_OUT),
            "somebody presses reset": lambda: self.reset(ResetCause.EXTERNAL),
            "the plug is pulled": self.unplugged,
            "the bridge is killed": self.bridge_killed,
            "the bridge is killed, and the board reset by its port": self.bridge_killed_with_dtr,
            "the service is restarted": self.service_restarted,
            "the service and the bridge are killed": self.both_killed,
            "nobody is at the other end for long": self.silence,
        }

    def moment(self, most: float = 130) -> float:
        return self.at.draw.uniform(0, most)

    def nothing(self) -> bool:
        self.at.does(*self.at.press(self.at.asked()))
        return True

    def double_press(self) -> bool:
        button = self.at.asked()
        again = 30 + self.at.draw.uniform(20, 150)
        self.at.does(*self.at.press(button, ms=30), *self.at.press(button, at=again))
        return True

    def taken_back(self) -> bool:
        """A double press: the first one counts and is taken back, the second one is too old."""
        button = self.at.asked()
        self.at.takes_back = True
        again = 24 + self.at.draw.uniform(10, 40)
        self.at.does(*self.at.press(button, ms=24), *self.at.press(button, at=again, ms=16))
        self.at.settles()
        self.at.takes_back = False
        return False

    def wrong_seat(self) -> bool:
        asked = self.at.asked()
        others = [button for button in range(SEATS) if button != asked]
        self.at.does(*self.at.press(self.at.draw.choice(others)))
        self.at.settles()
        return False

    def everybody(self) -> bool:
        for_all = [self.at.press(button, at=self.moment(40)) for button in range(SEATS)]
        self.at.does(*(thing for things in for_all for thing in things))
        return False  # how many turns are over by that is up to them

    def pause(self) -> bool:
        asked = self.at.asked()
        self.at.does(*self.at.press(NO_BUTTON), *self.at.press(asked, at=self.moment()))
        self.at.settles()
        if self.at.service.table.paused:
            self.at.does(*self.at.press(NO_BUTTON))
            self.at.settles()
        return False

    def noise(self) -> bool:
        self.at.bench.noise(NOISE, self.at.draw.randrange(1 << 30))
        self.at.does(*self.at.press(self.at.asked()))
        self.at.run(self.at.draw.uniform(0, 1500))
        return True

    def reset(self, cause: ResetCause) -> bool:
        reset = (self.moment(), lambda: self.at.bench.reset(cause))
        self.at.does(*self.at.press(self.at.asked()), reset)
        return False

    def hangs(self) -> bool:
        self.at.does(*self.at.press(self.at.asked()), (self.moment(), self.at.bench.hang))
        return False

    def unplugged(self) -> bool:
        self.at.does(*self.at.press(self.at.asked()), (self.moment(), self.at.unplug))
        self.at.run(self.moment(300))
        self.at.plug()
        return False

    def bridge_killed(self, reset: bool = False, patience: float = 900) -> bool:
        self.at.does(*self.at.press(self.at.asked()), (self.moment(), self.at.bridge_dies))
        self.at.run(self.moment(patience))
        if reset:
            self.at.bench.reset(ResetCause.EXTERNAL)
        self.at.bridge_starts()
        return not reset

    def bridge_killed_with_dtr(self) -> bool:
        return self.bridge_killed(reset=True)

    def service_restarted(self) -> bool:
        self.at.does(*self.at.press(self.at.asked()), (self.moment(), self.at.service_restarts))
        return True

    def both_killed(self) -> bool:
        self.at.does(
            *self.at.press(self.at.asked()),
            (self.moment(), self.at.service_restarts),
            (self.moment(), self.at.bridge_dies),
        )
        self.at.run(self.moment(900))
        self.at.bridge_starts()
        return True

    def silence(self) -> bool:
        """Longer than the panel believes in a host: what waits by then is given up."""
        self.at.does(*self.at.press(self.at.asked()), (self.moment(), self.at.bridge_dies))
        self.at.run(2100 + self.moment(300))
        self.at.does(*self.at.press(self.at.draw.randrange(SEATS)))
        self.at.bridge_starts()
        return False


def play(at: Evening, rounds: int) -> Counter[str]:
    """So many rounds; how many of each kind."""
    trouble = Trouble(at)
    names = list(trouble.kinds)
    counted: Counter[str] = Counter()
    for number in range(rounds):
        name = names[number] if number < len(names) else at.draw.choice(names)
        at.settles()
        before = at.turns
        must = trouble.kinds[name]()
        at.bench.noise(0)
        at.settles()
        most = SEATS if name == EVERYBODY else 1
        assert before <= at.turns <= before + most, f"{name}: {at.turns - before} turns"
        assert at.turns > before or not must, f"{name}: the press is lost"
        if name == WRONG_SEAT:
            assert at.turns == before, name
        elif name != EVERYBODY:
            at.until_confirmed(before + 1)
        counted[name] += 1
    return counted


@pytest.mark.case("H4", "H6", "H8", "R6")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("kind", "rounds", "seed"),
    [
        ("virtual", 300, 1),
        ("firmware", 1200, 1),
        *(pytest.param("firmware", 5000, seed, marks=pytest.mark.nightly) for seed in (2, 3)),
    ],
)
def test_rounds_of_trouble(kind: Kind, rounds: int, seed: int) -> None:
    with on_the_bench(kind) as bench, asyncio.Runner() as runner:
        at = Evening(bench, runner, seed)
        at.sits_down()
        counted = play(at, rounds)
        at.check()
        print(
            f"{rounds} rounds in {bench.now / 1000:.0f} s: {dict(counted)}; {at.turns} turns, "
            f"{len(at.made)} gestures, {at.bridges} bridges, {at.services} services"
        )
        assert len(counted) == len(Trouble(at).kinds)
        assert at.turns >= rounds - counted[WRONG_SEAT] - counted[EVERYBODY]
        if isinstance(bench, FirmwareBench):
            assert set(bench.started_by) >= {"external", "brown_out", "watchdog"}
            assert bench.stack <= STACK
