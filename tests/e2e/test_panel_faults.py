"""A panel through everything that happens to panels, bridges and services.

The turn never advances twice or from a wrong seat, and every acknowledged press is in the log
once. All are processes of their own; the panel is the real firmware on an emulated chip, or its
model.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tableturn_bridge.emulated.budgets import STACK
from tableturn_client.messages import ChangeKind, LogEntry, TableStatus
from tests.e2e.panels import WITHIN, Evening, Kind, evening, until
from tests.e2e.processes import Service

pytestmark = pytest.mark.e2e

ROUNDS_OF_A_GAME = 2
AT_ONCE = 2.0
"""Seconds: a panel that dies knows at once what it has lost."""


class Trouble:
    """One kind of trouble a round, at a random moment around a press."""

    def __init__(self, at: Evening, service: Service, seed: int) -> None:
        self.at = at
        self.service = service
        self.random = random.Random(seed)
        self.kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "nothing": self.nothing,
            "a double press": self.double_press,
            "a press by the wrong seat": self.wrong_seat,
            "the bridge is killed": self.bridge_killed,
            "the bridge hangs": self.bridge_hangs,
            "the service is killed": self.service_killed,
            "the service is restarted": self.service_restarted,
            "the store is killed": self.store_killed,
            "the plug is pulled": self.plug_pulled,
            "the watchdog bites": lambda: self.panel_reset("watchdog"),
            "the supply dips": lambda: self.panel_reset("brown_out"),
            "the panel is reset by hand": lambda: self.panel_reset("external"),
            "noise on the line": self.noise,
        }
        if at.panel.emulated:
            self.kinds["the program hangs"] = self.program_hangs

    async def a_moment(self, most: float = 0.12) -> None:
        await asyncio.sleep(self.random.uniform(0, most))

    async def while_pressing(
        self, trouble: Callable[[], Awaitable[None]], within: float = WITHIN
    ) -> None:
        """The asked seat presses, and something happens meanwhile."""
        button = await self.at.asked()
        press = asyncio.create_task(self.at.press(button, within))
        await self.a_moment()
        await trouble()
        await press

    async def until_found_again(self, trouble: Callable[[], Awaitable[None]]) -> None:
        """Trouble after which the bridge has to find its panel again."""
        before = len(self.at.bridge.told("found"))
        await trouble()
        await until(lambda: len(self.at.bridge.told("found")) > before, "the panel is found again")

    async def nothing(self) -> None:
        press = await self.at.press(await self.at.asked())
        assert press.fate == "ACCEPTED"

    async def double_press(self) -> None:
        """The second one begins when the first was let go, and perhaps has its answer already.

        Both can't be begun by the clock: a busy machine would make one press of them.
        """
        button = await self.at.asked()
        before = await self.fates()
        await self.at.panel.press(button, 30)
        await asyncio.sleep(0.02)
        second = await self.at.press(button)
        assert second.fate != "ACCEPTED"
        end = time.monotonic() + WITHIN
        while (now := await self.fates())["ACCEPTED"] == before["ACCEPTED"]:
            assert time.monotonic() < end, "the first press is not answered"
            await asyncio.sleep(0.01)
        assert now - before == Counter(["ACCEPTED", second.fate])
        self.at.accepted += 1

    async def fates(self) -> Counter[str]:
        """How often what has become of gestures so far."""
        return Counter((await self.at.panel.log())["fates"])

    async def wrong_seat(self) -> None:
        asked = await self.at.asked()
        other = self.random.choice([button for button in (1, 2, 3) if button != asked])
        assert (await self.at.press(other)).fate == "NOT_ARMED"

    async def bridge_killed(self) -> None:
        async def trouble() -> None:
            self.at.bridge.kill()
            await self.a_moment()
            self.at.bridge.start()

        await self.until_found_again(lambda: self.while_pressing(trouble))

    async def bridge_hangs(self) -> None:
        async def trouble() -> None:
            with self.at.bridge.asleep():
                await self.a_moment(0.6)

        await self.while_pressing(trouble)

    async def service_killed(self) -> None:
        async def trouble() -> None:
            self.service.kill()
            await asyncio.to_thread(self.service.start)

        await self.while_pressing(trouble)

    async def service_restarted(self) -> None:
        await self.while_pressing(lambda: asyncio.to_thread(self.service.restart))

    async def store_killed(self) -> None:
        async def trouble() -> None:
            self.service.kill_valkey()

        await self.while_pressing(trouble)

    async def plug_pulled(self) -> None:
        async def trouble() -> None:
            await self.at.panel.unplug()
            await self.a_moment()
            await self.at.panel.plug()  # another terminal under the same lasting name

        await self.until_found_again(lambda: self.while_pressing(trouble, AT_ONCE))

    async def panel_reset(self, cause: str) -> None:
        await self.until_found_again(
            lambda: self.while_pressing(lambda: self.at.panel.reset(cause), AT_ONCE)
        )

    async def program_hangs(self) -> None:
        """Until the chip's own watchdog notices it, half a second later."""

        async def trouble() -> None:
            await self.at.panel.emulator("hang")

        await self.until_found_again(lambda: self.while_pressing(trouble, AT_ONCE))

    async def noise(self) -> None:
        await self.at.panel.noise(0.02)
        await self.while_pressing(lambda: asyncio.sleep(0.2))
        await self.at.panel.noise(0)


async def rematch(at: Evening, trouble: Trouble) -> None:
    """The game is over. A press for the old table doesn't count at the new one; then they hold."""
    old = at.tables[-1]
    await at.shows(await at.view())
    await at.panel.wait_lamp(1, ["WINNER", "OFF", "READY", "TURN"], 30)
    if trouble.random.random() < 0.5:
        # Somebody asks for the rematch elsewhere while the panel still shows the old table.
        with at.bridge.asleep():
            await at.client.table(old, token=at.panel_token).rematch()
            press = asyncio.create_task(at.press(trouble.random.randint(1, 3)))
            await asyncio.sleep(0.3)
        assert (await press).fate != "ACCEPTED"
    else:
        while True:
            fate = (await at.panel.hold(trouble.random.randint(1, 3), wait=True, timeout=30))[
                "fate"
            ]
            if fate == "ACCEPTED":
                break
            assert fate != "NOT_ARMED"
    view = await at.view()
    assert view.next_table_id
    at.tables.append(view.next_table_id)


async def play(at: Evening, service: Service, rounds: int, seed: int) -> Counter[str]:
    """So many rounds of trouble; how many of each kind."""
    trouble = Trouble(at, service, seed)
    counted: Counter[str] = Counter()
    names = list(trouble.kinds)
    each_once = iter(names)
    while counted.total() < rounds:
        view = await at.view()
        if view.status == TableStatus.TABLE_STATUS_FINISHED:
            await rematch(at, trouble)
            counted["a press for the table before the rematch, or a rematch"] += 1
            continue
        name = next(each_once, "") or trouble.random.choice(names)
        before = (at.tables[-1], view.turns)
        await trouble.kinds[name]()
        counted[name] += 1
        after = await at.view()
        assert after.table_id == before[0]
        assert after.turns <= before[1] + 1, f"{name}: the turn advanced twice"
    return counted


def confirmed(log: list[LogEntry]) -> list[LogEntry]:
    return [entry for entry in log if entry.kind == ChangeKind.CHANGE_KIND_CONFIRM]


async def check(at: Evening) -> int:
    """Turns go round, each once; every acknowledged press is one of them. How many turns."""
    revisions: dict[tuple[str, int], tuple[int, int]] = {}
    turns = 0
    for table_id in at.tables:
        log = await at.log(table_id)
        entries = confirmed(log)
        turns += len(entries)
        first = entries[0].seat if entries else 0
        seats = [entry.seat for entry in entries]
        assert seats == [(first - 1 + number) % 3 + 1 for number in range(len(seats))]
        assert [entry.turn for entry in entries] == list(range(1, len(entries) + 1))
        revisions |= {(table_id, entry.revision): (entry.seat, entry.turn) for entry in entries}
    table_id = ""
    claimed: dict[tuple[str, int], tuple[int, int]] = {}
    for told in at.bridge.told():
        if told["event"] == "table":
            table_id = told["table_id"]
        elif told["event"] == "pressed" and (table_id, told["revision"]) in revisions:
            place = (table_id, told["revision"])
            assert revisions[place][0] == told["seat"] == told["button"]
            # Told twice only for the same press, which was sent again.
            assert claimed.setdefault(place, (told["button"], told["number"])) == (
                told["button"],
                told["number"],
            )
    assert at.accepted <= turns <= at.accepted + at.unknown
    return turns


SHORT = pytest.mark.timeout(300)
LONG = [pytest.mark.nightly, pytest.mark.timeout(3600)]


@pytest.mark.case("H8", "R6")
@pytest.mark.parametrize(
    ("kind", "rounds", "seed"),
    [
        pytest.param(Kind.VIRTUAL, 20, 1, marks=SHORT),
        pytest.param(Kind.EMULATED, 40, 3, marks=SHORT),
        pytest.param(Kind.VIRTUAL, 200, 2, marks=LONG),
        pytest.param(Kind.EMULATED, 1200, 4, marks=LONG),
    ],
)
async def test_trouble_of_every_kind(
    own: Service, tmp_path: Path, kind: Kind, rounds: int, seed: int
) -> None:
    rules = f"rounds={ROUNDS_OF_A_GAME}"
    async with evening(tmp_path, own.address, rules, kind=kind, seed=seed) as at:
        await at.sit_down()
        counted = await play(at, own, rounds, seed)
        assert len(counted) == len(Trouble(at, own, seed).kinds) + 1, "each kind, and a rematch"
        turns = await check(at)
        print(
            f"{rounds} rounds: {dict(counted)}; {turns} turns, {at.accepted} acknowledged, "
            f"{at.unknown} unknown, {at.bridge.lives} lives of the bridge"
        )
        assert turns > rounds // 3
        assert at.bridge.end() == 130
        if at.panel.emulated:
            assert (await at.panel.emulator("state"))["crashed"] == "-"
            assert int((await at.panel.emulator("stack"))["used"]) <= STACK
