"""Panels at real tables: what stands in the way is told apart, and what people do there counts.

Everything is a process of its own: the service, bridges on one machine and on several, boards.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tableturn_bridge.patterns import SHAPES, Pattern
from tableturn_bridge.protocol import VERSION
from tableturn_bridge.virtual.remote import PanelProcess
from tableturn_client.messages import ChangeKind, TableStatus
from tests.e2e import processes
from tests.e2e.panels import WITHIN, BridgeProcess, bridge, evening, no_panel, until
from tests.e2e.processes import CommandLine, Ran, Service
from tests.e2e.test_bots import workers_of

pytestmark = pytest.mark.e2e


# ---------------------------------------------------------------- what is told


def words(sentence: str) -> str:
    """A sentence without names and numbers: it shall be no name that makes a difference."""
    return re.sub(r"/\S*\w|\d+|\bapart-\w+", "_", sentence)


@dataclass(frozen=True)
class Trouble:
    """What a bridge tells of something in its way, and what else is seen of it.

    `lamp` is what the board shows, empty where there is no panel to show it; `found` is what
    the doctor calls it, empty where it can't look while another one uses the port.
    """

    event: str
    sentence: str
    found: str = ""
    lamp: str = ""

    @property
    def words(self) -> str:
        return words(self.sentence)


async def at_port(working: BridgeProcess, port: Path) -> Trouble:
    """The bridge can't use its port or what is there; the doctor says the same of it."""
    told = await working.first("lost")
    assert not working.told("table")
    assert working.end() == 130
    finding = await working.doctor(port)
    assert not finding["ok"]
    assert words(told["sentence"]).startswith(words(finding["sentence"]) + ".")
    assert finding["cure"]
    assert told["cause"] == finding["cause"]
    return Trouble("lost", told["sentence"], finding["cause"])


async def at_table(
    working: BridgeProcess, board: PanelProcess, event: str = "elsewhere", lamp: str = "ELSEWHERE"
) -> Trouble:
    """The panel is well, and can't be used at the table; the doctor finds nothing wrong with it."""
    told = await working.first(event)
    if event == "elsewhere":
        assert set(told) == {"event", "held", "cause", "sentence"}
    for button in (1, 2):
        await board.wait_lamp(button, [lamp], WITHIN)
    assert (await board.press(1, wait=True))["fate"] == "NOT_ARMED"
    assert not working.told("pressed")
    assert working.end() == 130
    assert (await working.doctor(board.link))["ok"]
    return Trouble(event, told["sentence"], "works", lamp)


async def ends(working: BridgeProcess, board: PanelProcess, kind: str) -> Trouble:
    """The bridge ends and says why: only a person can change that."""
    error = await working.failed()
    assert error["kind"] == kind
    await board.wait_lamp(1, ["LINK_LOST"], WITHIN)
    return Trouble("error", error["sentence"], lamp="LINK_LOST")


@asynccontextmanager
async def board(folder: Path, **options: Any) -> AsyncIterator[PanelProcess]:
    """A board with two buttons."""
    await asyncio.to_thread(folder.mkdir, parents=True)
    async with PanelProcess(folder, buttons=2, boot_ms=30, **options) as made:
        yield made


# ---------------------------------------------------------------- ports


@dataclass(frozen=True)
class Room:
    """Where things are tried, each in a folder of its own, at one service."""

    folder: Path
    server: str

    async def trouble_at(self, name: str, port: Path, before: tuple[str, ...] = ()) -> Trouble:
        async with bridge(self.folder / name, self.server, port, before=before) as working:
            return await at_port(working, port)

    async def missing(self) -> Trouble:
        return await self.trouble_at("missing", self.folder / "nowhere")

    async def file(self) -> Trouble:
        file = self.folder / "note.txt"
        await asyncio.to_thread(file.touch)
        async with bridge(self.folder / "file", self.server, file) as working:
            error = await working.failed()
            finding = await working.doctor(file)
        assert error["kind"] == "usage"
        assert error["sentence"] == f"{finding['sentence']}. {finding['cure']}"
        return Trouble("error", error["sentence"], finding["cause"])

    async def forbidden(self) -> Trouble:
        async with no_panel() as port:
            await asyncio.to_thread(port.chmod, 0)
            return await self.trouble_at("forbidden", port, as_anybody())

    async def busy(self) -> Trouble:
        async with no_panel() as port:
            other = os.open(port, os.O_RDWR | os.O_NOCTTY)
            try:
                fcntl.flock(other, fcntl.LOCK_EX)
                trouble = await self.trouble_at("busy", port)
            finally:
                os.close(other)
        assert f"(process {os.getpid()})" in trouble.sentence
        return trouble

    async def silent(self) -> Trouble:
        async with no_panel(lambda heard: b"") as port:
            return await self.trouble_at("silent", port)

    async def garbage(self) -> Trouble:
        """As a panel sounds at another speed, or another device at all."""
        babble = random.Random(5).randbytes(200)
        async with no_panel(lambda heard: b"", babble) as port:
            return await self.trouble_at("garbage", port)

    async def echo(self) -> Trouble:
        async with no_panel() as port:
            return await self.trouble_at("echo", port)

    async def version(self, name: str, protocol: int) -> Trouble:
        async with (
            board(self.folder / name / "board", protocol=protocol, uid=40 + protocol) as other,
            bridge(self.folder / name, self.server, other.link) as working,
        ):
            for button in (1, 2):
                await other.wait_lamp(button, ["VERSION"], WITHIN)
            trouble = await at_port(working, other.link)
        assert f"speaks protocol version {protocol}, this program speaks version {VERSION}" in (
            trouble.sentence
        )
        return Trouble(trouble.event, trouble.sentence, trouble.found, "VERSION")

    async def no_service(self) -> Trouble:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        async with (
            board(self.folder / "no-service" / "board", uid=50) as made,
            bridge(self.folder / "no-service", f"127.0.0.1:{port}", made.link) as working,
        ):
            return await at_table(working, made, "service_lost", "SERVICE_LOST")

    # ------------------------------------------------------------ bridges and tables

    async def around_a_table(self) -> dict[str, Trouble]:
        """One panel works at a table, and others come."""
        place = self.folder / "around"
        here, there = place / "here", place / "there"
        host = CommandLine(here, self.server)
        await asyncio.to_thread(host.json, "new", "free-table", "--seats", "2", "--id", "apart-one")
        (token,) = host.tokens()
        table = ("--table", "apart-one")
        found = {}
        async with AsyncExitStack() as stack:
            first, twin, other = [
                await stack.enter_async_context(board(place / name, uid=uid))
                for name, uid in (("first", 7), ("twin", 7), ("other", 8))
            ]
            works = await stack.enter_async_context(
                bridge(place / "works", self.server, first.link, *table, machine=here)
            )
            await first.wait_lamp(1, ["FREE"], WITHIN)

            def another(name: str, at: PanelProcess, machine: Path, *more: str) -> Any:
                return bridge(place / name, self.server, at.link, *more, machine=machine)

            async with another("same-port", first, here, *table) as second:
                found["a second bridge at the port"] = await at_port(second, first.link)
                assert works.process is not None
                assert f"(process {works.process.pid})" in second.told("lost")[0]["sentence"]
            async with another("same-machine", twin, here, *table) as second:
                trouble = await at_port(second, twin.link)
                assert f"(process {works.process.pid})" in trouble.sentence
                await twin.wait_lamp(1, ["LINK_LOST"], WITHIN)
                found["a second bridge on the machine"] = Trouble(
                    trouble.event, trouble.sentence, trouble.found, "LINK_LOST"
                )
            async with another("elsewhere", twin, there, *table, "--token", token) as second:
                found["a second bridge elsewhere"] = await at_table(second, twin)
            copy = place / "copy"  # of what the first machine keeps, but not of its name
            await asyncio.to_thread(copy.mkdir)
            await asyncio.to_thread(shutil.copy, here / "tokens.json", copy)
            async with another("copy", twin, copy, *table) as second:
                found["a second bridge with the panel's token"] = await at_table(second, twin)
                assert second.told("elsewhere")[0]["held"] == "others"
            async with another("taken", other, here, *table, "--seats", "1,2") as second:
                found["the seats of another panel"] = await at_table(second, other)
                assert "panel 7" in second.told("elsewhere")[0]["sentence"]
            async with another("full", other, here, *table) as second:
                found["no seat left"] = await at_table(second, other)
            async with another("guest", other, there, *table) as second:
                found["no host's token"] = await ends(second, other, "not-permitted")
            async with another("lost", other, here, "--table", "apart-two") as second:
                found["no such table"] = await ends(second, other, "not-found")

            # All that did the first one no harm.
            assert (await first.press(1, wait=True))["fate"] == "ACCEPTED"
            await first.wait_lamp(1, ["SEATED"], WITHIN)
            await asyncio.to_thread(host.json, "panel", "off", "apart-one", "7")
            await first.wait_lamp(1, ["ELSEWHERE"], WITHIN)
            told = await works.first("elsewhere")
            assert told["held"] == "off"
            found["taken off"] = Trouble("elsewhere", told["sentence"], lamp="ELSEWHERE")
            assert not works.told("lost")
        return found


def as_anybody() -> tuple[str, ...]:
    """Words before a command that make permissions of files count, also where we are root.

    Raises NotImplementedError where nothing takes root's rights away.
    """
    if os.geteuid() != 0:
        return ()
    words = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    if not shutil.which(words[0]) or subprocess.run([*words, "true"], check=False).returncode:
        raise NotImplementedError("root may use every port, and nothing takes that right away")
    return words


FOUND = {
    "a port that is missing": "missing",
    "a file": "not-serial",
    "a port without permission": "forbidden",
    "another program at the port": "busy",
    "silence": "silent",
    "garbage": "not-a-panel",
    "an echo": "not-a-panel",
    "a newer panel": "version",
    "an older panel": "version",
    "no service": "works",
    "a second bridge at the port": "held-here",
    "a second bridge on the machine": "held-here",
    "a second bridge elsewhere": "works",
    "a second bridge with the panel's token": "works",
    "the seats of another panel": "works",
    "no seat left": "works",
    "no host's token": "",
    "no such table": "",
    "taken off": "",
}
"""All troubles, and what the doctor calls them; where it finds none, it isn't the port's."""

LAMPS = {
    "VERSION": {"a newer panel", "an older panel"},
    "SERVICE_LOST": {"no service"},
    "LINK_LOST": {"a second bridge on the machine", "no host's token", "no such table"},
    "ELSEWHERE": {
        "a second bridge elsewhere",
        "a second bridge with the panel's token",
        "the seats of another panel",
        "no seat left",
        "taken off",
    },
}
"""What the lamps say, where there are any: whose fault it is, and so where to look for words."""


@pytest.mark.case("H5")
@pytest.mark.timeout(300)
async def test_each_trouble_is_told_apart(service: Service, tmp_path: Path) -> None:
    room = Room(tmp_path, service.address)
    tries = {
        "a port that is missing": room.missing,
        "a file": room.file,
        "another program at the port": room.busy,
        "silence": room.silent,
        "garbage": room.garbage,
        "an echo": room.echo,
        "a newer panel": lambda: room.version("newer", VERSION + 1),
        "an older panel": lambda: room.version("older", VERSION - 1),
        "no service": room.no_service,
    }
    expected = dict(FOUND)
    try:
        as_anybody()
    except NotImplementedError:
        del expected["a port without permission"]  # another test is skipped for that, visibly
    else:
        tries["a port without permission"] = room.forbidden
    few = asyncio.Semaphore(3)

    async def one(name: str, attempt: Callable[[], Awaitable[Trouble]]) -> tuple[str, Trouble]:
        async with few:
            return name, await attempt()

    async with asyncio.TaskGroup() as tasks:
        tables = tasks.create_task(room.around_a_table())
        ports = [tasks.create_task(one(name, attempt)) for name, attempt in tries.items()]
    found = dict(port.result() for port in ports) | tables.result()
    assert {name: trouble.found for name, trouble in found.items()} == expected

    for (name, here), (other, there) in combinations(found.items(), 2):
        assert here.words != there.words, (name, other)
    shown = {
        sign: {name for name, trouble in found.items() if trouble.lamp == sign} for sign in LAMPS
    }
    assert shown == LAMPS
    assert {trouble.lamp for trouble in found.values()} == {"", *LAMPS}
    for first, second in combinations(Pattern, 2):
        assert SHAPES[first] != SHAPES[second]


async def test_a_port_without_permission(service: Service, tmp_path: Path) -> None:
    try:
        as_anybody()
    except NotImplementedError as why:
        pytest.skip(str(why))
    trouble = await Room(tmp_path, service.address).forbidden()
    assert trouble.found == "forbidden"
    assert "sudo usermod -aG" in trouble.sentence


# ---------------------------------------------------------------- what people do


async def test_two_panels_play_one_game_and_a_third_one_waits(
    service: Service, tmp_path: Path
) -> None:
    """Of two machines: the other one was given the host's token once."""
    host = CommandLine(tmp_path / "here", service.address)
    made = host.json("new", "free-table", "--seats", "4", "--option", "first_seat=1",
                     "--option", "rounds=2", "--start-when-full")  # fmt: skip
    table = ("--table", made["table_id"])
    (token,) = host.tokens()
    async with AsyncExitStack() as stack:
        left, right, third = [
            await stack.enter_async_context(board(tmp_path / name, uid=uid))
            for name, uid in (("l", 7), ("r", 8), ("t", 9))
        ]

        def work(at: PanelProcess, machine: str, *more: str) -> Any:
            home = at.link.parent / "bridge"
            return bridge(home, service.address, at.link, *table, *more, machine=tmp_path / machine)

        await stack.enter_async_context(work(left, "here"))
        await left.wait_lamp(1, ["FREE"], WITHIN)
        await stack.enter_async_context(work(right, "there", "--token", token))
        await right.wait_lamp(1, ["FREE"], WITHIN)
        waits = await stack.enter_async_context(work(third, "here", "--seats", "2,3"))
        await third.wait_lamp(1, ["ELSEWHERE"], WITHIN)
        assert "panel 7" in (await waits.first("elsewhere"))["sentence"]

        chairs = [(left, 1), (left, 2), (right, 1), (right, 2)]
        for at, button in chairs:
            await at.wait_lamp(button, ["FREE"], WITHIN)
            assert (await at.press(button, wait=True))["fate"] == "ACCEPTED"
        for at, button in chairs * 2:
            await at.wait_lamp(button, ["TURN"], WITHIN)
            assert (await third.press(1, wait=True))["fate"] == "NOT_ARMED"
            assert (await at.press(button, wait=True))["fate"] == "ACCEPTED"
        assert len(waits.told("elsewhere")) == 1
    view = host.json("show", made["table_id"])["table"]
    assert (view["status"], view["turns"]) == ("finished", 8)
    entries = host.json("log", made["table_id"])["entries"]
    assert [one["seat"] for one in entries if one["kind"] == "confirm"] == [1, 2, 3, 4] * 2


@pytest.mark.case("R1", "R6")
async def test_an_evening_that_needs_no_screen(own: Service, tmp_path: Path) -> None:
    """All by pressing; everything is killed in between, and started by the same commands."""
    async with evening(tmp_path, own.address, "rounds=2", buttons=4) as at:

        async def turns(number: int) -> None:
            for _ in range(number):
                assert (await at.press(await at.asked())).fate == "ACCEPTED"

        async def a_bad_moment() -> None:
            before = len(at.bridge.told("table"))
            at.bridge.kill()
            own.kill()
            own.kill_valkey()
            own.start()
            at.bridge.start()
            tables = await until(lambda: at.bridge.told("table")[before:], "it is at a table")
            assert [table["table_id"] for table in tables] == at.tables[-1:]

        await at.sit_down((3, 1, 4))
        view = await at.view()
        assert len(view.seats) == 3
        assert list(view.panels[0].seats) == [2, 0, 1, 3]
        await turns(2)
        await a_bad_moment()
        await turns(4)

        view = await at.view()
        assert view.status == TableStatus.TABLE_STATUS_FINISHED
        await at.shows(view)
        assert (await at.panel.hold(4, wait=True))["fate"] == "ACCEPTED"
        (rematch,) = [one for one in at.bridge.told("pressed") if one["next_table_id"]]
        at.tables.append(rematch["next_table_id"])
        await turns(1)
        await a_bad_moment()
        await turns(5)
        assert (await at.view()).status == TableStatus.TABLE_STATUS_FINISHED

        for table in at.tables:
            log = await at.log(table)
            seats = [one.seat for one in log if one.kind == ChangeKind.CHANGE_KIND_CONFIRM]
            assert seats == [(seats[0] - 1 + number) % 3 + 1 for number in range(6)]
        assert at.bridge.lives == 3
        assert at.bridge.end() == 130


def refused(ran: Ran, reason: str) -> str:
    """The sentence of a command that the service has refused."""
    assert ran.out == ""
    error = json.loads(ran.err)["error"]
    assert (ran.code, error["reason"]) == (4, reason), error
    return str(error["sentence"])


async def test_a_phone_stages_and_the_panel_confirms(service: Service, tmp_path: Path) -> None:
    """Ann's phone leaves the last word to the panel; the second seat has no phone at all."""
    host, ann, bob, guest = (
        CommandLine(tmp_path / name, service.address) for name in ("host", "ann", "bob", "guest")
    )
    made = host.json("new", "free-table", "--seats", "3", "--option", "points=on",
                     "--option", "first_seat=1", "--start-when-full")  # fmt: skip
    table = made["table_id"]
    ann.json("join", table, "Ann", "--seat", "1")
    ann.json("confirms", table, "panel")
    bob.json("join", table, "Bob", "--seat", "3")
    async with (
        board(tmp_path / "board", uid=7) as panel,
        bridge(tmp_path / "bridge", service.address, panel.link, "--table", table,
               "--seats", "1,0", machine=host.home) as working,
    ):  # fmt: skip
        await panel.wait_lamp(2, ["FREE"], WITHIN)
        assert (await panel.press(2, wait=True))["fate"] == "ACCEPTED"

        # Her phone stages, and can't confirm in any way.
        await panel.wait_lamp(1, ["TURN"], WITHIN)
        ann.json("act", table, "score 5 for seat 1")
        await panel.wait_lamp(1, ["STAGED"], WITHIN)
        for words in (("confirm", table), ("act", table, "score 1 for seat 1", "--confirm")):
            sentence = refused(ann(*words, "--json"), "NOT_ALLOWED")
            assert "confirmed by a button of panel 7; press it" in sentence
        assert (await panel.press(1, wait=True))["fate"] == "ACCEPTED"

        # Whoever plays here may stage for the seat without a phone, and undo; its button confirms.
        await panel.wait_lamp(2, ["TURN"], WITHIN)
        second = ("--seat", "2")
        ann.json("act", table, "score 9 for seat 2", *second)
        await panel.wait_lamp(2, ["STAGED"], WITHIN)
        bob.json("undo", table, *second)
        await panel.wait_lamp(2, ["TURN"], WITHIN)
        bob.json("act", table, "score 4 for seat 2", *second)
        await panel.wait_lamp(2, ["STAGED"], WITHIN)
        for person in (ann, bob):
            sentence = refused(person("confirm", table, *second, "--json"), "NOT_ALLOWED")
            assert "you may stage for it, and its button confirms" in sentence
        assert guest("act", table, "score 9 for seat 2", *second).code == 4
        assert (await panel.press(2, wait=True))["fate"] == "ACCEPTED"

        # Bob has a device of his own: nobody else stages for him, and no button is his.
        (token,) = ann.tokens()
        third = ("act", table, "score 1 for seat 1", "--seat", "3")
        assert ann(*third).code == 4
        refused(guest(*third, "--token", token, "--json"), "NOT_ALLOWED")
        for button in (1, 2):
            assert (await panel.press(button, wait=True))["fate"] == "NOT_ARMED"
        bob.json("act", table, "score 2 for seat 3", "--confirm")
        await panel.wait_lamp(1, ["TURN"], WITHIN)
        told = [(one["button"], one["seat"]) for one in working.told("pressed")]
        assert told == [(2, 2), (1, 1), (2, 2)]
        assert not working.told("refused")
    entries = host.json("log", table)["entries"]
    assert [one["seat"] for one in entries if one["kind"] == "confirm"] == [1, 2, 3]
    seats = host.json("show", table)["table"]["seats"]
    assert [seat["from_panel"] for seat in seats] == [False, True, False]


# ---------------------------------------------------------------- bots


class Person(CommandLine):
    """Somebody who plays Eastern Wonders against bots, by typing."""

    table = ""

    def view(self) -> Any:
        return self.json("show", self.table)["table"]

    def is_asked(self) -> bool:
        return [one["seat"] for one in self.view()["prompts"]] == [1]

    def asked(self) -> None:
        processes.until(self.is_asked, WITHIN, "the bots have played")

    def choice(self, kind: str) -> str:
        """The first action of this kind that may be done now."""
        choices = self.json("actions", self.table)["choices"]
        return str(next(one["texts"][0] for one in choices if one["kind"] == kind))

    def begins(self) -> None:
        """The cubes and the place of the boat."""
        self.asked()
        self.json("act", self.table, self.choice("take_pile"))
        self.json("act", self.table, self.choice("place_boat"), "--confirm")

    def harvests(self) -> None:
        """A whole turn, when it is asked for; after five or so the cargo hold is full."""
        self.asked()
        self.json("act", self.table, "harvest", "--confirm")

    def confirmed(self) -> list[int]:
        """The seats of all confirmed turns that were not taken back, in order: each turn once."""
        kept: list[int] = []
        for one in self.json("log", self.table)["entries"]:
            if one["kind"] == "confirm":
                assert 0 < one["turn"] <= len(kept) + 1
                kept[one["turn"] - 1 :] = [one["seat"]]
        return kept[: self.view()["turns"]]


@pytest.mark.case("D5")
def test_a_person_and_two_bots(own: Service, tmp_path: Path) -> None:
    ann = Person(tmp_path / "ann", own.address)
    made = ann.json("new", "eastern-wonders", "--bot", "greedy", "--bot", "greedy",
                    "--option", "first_seat=1", "--option", "max_rounds=3",
                    "--seed", "07" * 16, "--start-when-full")  # fmt: skip
    ann.table = made["table_id"]
    ann.json("join", ann.table, "Ann")
    ann.begins()
    assert ann.confirmed() == [3, 2, 1]

    # A takeback goes through the bots' turns to that of a person.
    ann.harvests()
    ann.asked()
    assert ann.confirmed() == [3, 2, 1, 1, 2, 3]
    ann.json("takeback", ann.table)
    assert ann.is_asked()
    assert ann.confirmed() == [3, 2, 1]
    assert ann.view()["turns"] == 3
    ann.harvests()
    ann.asked()
    assert ann.confirmed() == [3, 2, 1, 1, 2, 3]

    # The service dies while a bot thinks: its worker stands still until then.
    (worker,) = workers_of(own)
    os.kill(worker, signal.SIGSTOP)
    try:
        ann.harvests()
        own.kill()
    finally:
        with suppress(ProcessLookupError):  # where that took long it has been replaced already
            os.kill(worker, signal.SIGCONT)
    processes.until(lambda: not processes.alive(worker), why="the worker has ended")
    own.start()
    ann.asked()
    assert ann.confirmed() == [3, 2, 1, *(1, 2, 3) * 2]

    # The next table of the same begins by itself, with bots that play.
    ann.harvests()
    processes.until(lambda: ann.view()["status"] == "finished", WITHIN, "the last round is over")
    assert ann.confirmed() == [3, 2, 1, *(1, 2, 3) * 3]
    ann.table = ann.json("rematch", ann.table)["table_id"]
    ann.begins()
    assert ann.view()["status"] == "running"
    assert [seat["bot"] for seat in ann.view()["seats"]] == ["", "greedy", "greedy"]
    ann.harvests()
    ann.asked()
    assert ann.confirmed() == [3, 2, 1, 1, 2, 3]
