"""What stands in the way, by the light of the lamps alone: the board, the bridge, or the service.

The real firmware on an emulated chip, a real bridge, a real service. In each of the three cases all
lamps do the same, in each something else, and they find back by themselves: nobody does anything
but start again what has ended.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tableturn_bridge.patterns import SHAPES, STEPS, Pattern
from tableturn_client.messages import ChangeKind
from tests.e2e.light import STEP_US, Light, drawn, socket_of, watched
from tests.e2e.panels import Evening, Kind, evening
from tests.e2e.processes import Service

pytestmark = pytest.mark.e2e

TEST = "####"
"""The lamp test after a start: all lamps, in four steps."""
CAUSES = {"hang": "watchdog", "brown_out": "brown_out", "external": "external"}
"""What is done to the board, and what the chip then says why it was reset."""
BUTTONS = 3
AWAY = 3.0
"""Seconds for which the service is away, after the lamps have told it."""


class Table:
    """An evening whose lamps are looked at; the seats take turns from the first one on."""

    def __init__(self, at: Evening, light: Light) -> None:
        self.at = at
        self.light = light
        self.turns = 0

    @property
    def asked(self) -> int:
        """The button whose turn it is."""
        return self.turns % BUTTONS + 1

    async def shows_the_game(self) -> None:
        """One is asked, one is next, nothing is said to the third; the first has the mark."""
        patterns = [Pattern.OFF] * BUTTONS
        patterns[self.asked - 1] = Pattern.TURN
        patterns[self.asked % BUTTONS] = Pattern.NEXT
        runs = [drawn(one, marked=number == 0) for number, one in enumerate(patterns)]
        await self.light.shows(*runs)

    async def turn(self) -> None:
        """The lamps are right, and the press of the one who is asked counts."""
        await self.shows_the_game()
        assert (await self.at.press(self.asked)).fate == "ACCEPTED"
        self.turns += 1

    # ------------------------------------------------------------ three kinds of trouble

    async def board_starts_anew(self, cause: str) -> set[str]:
        """What all lamps do meanwhile: dark while it boots, then the lamp test.

        With `hang` the program stands still, until the chip's own watchdog starts it anew.
        """
        light = self.light
        starts, resets = len(light.starts), len(light.resets)
        if cause == "hang":
            light.tell("hang")
        else:
            await self.at.panel.reset(cause)
        time, word = await light.started(starts)
        reset, first = light.resets[resets]
        assert word == first == CAUSES[cause]
        if cause == "external":  # the boot loader comes first
            assert time - reset >= 3 * STEP_US
            for button in light.buttons:
                assert light.steps(button, time - 3 * STEP_US, 3) == "..."
        return {light.steps(button, time, len(TEST)) for button in light.buttons}

    async def bridge_ends(self) -> set[str]:
        """What all lamps do while there is no bridge; then it is started again."""
        self.at.bridge.kill()
        await self.light.shows(drawn(Pattern.LINK_LOST))
        seen = {self.light.run(button) for button in self.light.buttons}
        assert (await self.at.press(1)).fate == "NOT_ARMED"
        starts = len(self.light.starts)
        self.at.bridge.start()
        await self.light.started(starts)  # it opens the port, which resets the board
        return seen

    async def service_is_away(self, service: Service, seconds: float) -> set[str]:
        """What all lamps do while the service is away for so long; then it is started again."""
        starts = len(self.light.starts)
        service.kill()
        await self.light.shows(drawn(Pattern.SERVICE_LOST))
        seen = {self.light.run(button) for button in self.light.buttons}
        assert (await self.at.press(self.asked)).fate == "NOT_ARMED"
        await asyncio.sleep(seconds)
        await self.light.shows(drawn(Pattern.SERVICE_LOST))
        await asyncio.to_thread(service.start)
        await self.shows_the_game()
        assert len(self.light.starts) == starts, "the board has not noticed anything"
        return seen


@pytest.mark.case("H2", "H4", "R6")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", [AWAY, pytest.param(60.0, marks=pytest.mark.nightly)])
async def test_board_bridge_and_service_are_told_apart(
    own: Service, tmp_path: Path, seconds: float
) -> None:
    rules = ("rounds=20", "first_seat=1")
    async with (
        evening(tmp_path, own.address, *rules, kind=Kind.EMULATED, boot_ms=300) as at,
        watched(socket_of(at.panel), BUTTONS) as light,
    ):
        table = Table(at, light)
        await at.sit_down()
        await table.turn()
        seen = {}
        for cause in CAUSES:
            seen[cause] = await table.board_starts_anew(cause)
            await table.turn()
        seen["bridge"] = await table.bridge_ends()
        await table.turn()
        seen["service"] = await table.service_is_away(own, seconds)
        await table.turn()
        await table.shows_the_game()

        log = await at.log(at.tables[0])
        assert at.bridge.lives == 2
        assert at.bridge.end() == 130

    assert seen == {
        **{cause: {TEST} for cause in CAUSES},
        "bridge": {drawn(Pattern.LINK_LOST)},
        "service": {drawn(Pattern.SERVICE_LOST)},
    }
    turns = [entry.seat for entry in log if entry.kind == ChangeKind.CHANGE_KIND_CONFIRM]
    assert turns == [number % BUTTONS + 1 for number in range(table.turns)]


def test_the_drawings_differ() -> None:
    """What is compared above: one flash, two flashes, and lamps that are all lit at once."""
    assert drawn(Pattern.LINK_LOST) == "#".ljust(STEPS, ".")
    assert drawn(Pattern.SERVICE_LOST) == "#.#".ljust(STEPS, ".")
    drawings = {drawn(one): one for one in Pattern if not SHAPES[one].breathes}
    assert [one for shown, one in drawings.items() if shown.startswith(TEST)] == [
        Pattern.TURN,
        Pattern.STAGED,
        Pattern.FREE,
        Pattern.LOW,
    ]
