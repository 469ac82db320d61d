"""A bridge from table to table, with a scripted service and panel: what becomes of each gesture."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tableturn.v1.actions_pb2 import Prompt, PromptKind
from tableturn.v1.table_pb2 import Occupant, PanelView, SeatView, TableStatus, TableView
from tableturn_bridge import reasons
from tableturn_bridge.connection import Happened, Lost, Ready, Stats
from tableturn_bridge.errors import NotASerialPort, PanelHeldHere, PanelSilent, PortBusy
from tableturn_bridge.lamps import tag_of
from tableturn_bridge.link import Pressed as Told
from tableturn_bridge.protocol import NO_BUTTON, Event, Hello, Kind, Result, State
from tableturn_bridge.sitting import Place, UsedElsewhere
from tableturn_bridge.status import News
from tableturn_bridge.telling import MOMENT, InOrder
from tableturn_bridge.working import OTHER_PANEL, Work
from tableturn_client import Gesture, Pressed, Snapshot, Timekeeping
from tableturn_client.errors import BadToken, NoCredentials, PanelHeld, Refusal, UnknownTable
from tests.bridge.evening import until

REJECTED, STALE, ACCEPTED = Result.REJECTED, Result.STALE, Result.ACCEPTED
PATIENCE = 10.0


def hello(uid: int = 7) -> Ready:
    return Ready(Hello(1, 1, 0, uid, 99, 1, 2, 0, 0), "/dev/panel")


def press(number: int, table: str = "harbour", button: int = 0) -> Told:
    tag = tag_of(table)
    return Told(Event(99, number, button, Kind.PRESS, NO_BUTTON, tag, 5, 20, 0))


class AtTable:
    """The service at one table: each press is answered when `answers` is set."""

    def __init__(self, table_id: str, uid: int) -> None:
        self.table_id = table_id
        self.uid = uid
        self.presses: list[int] = []
        self.answers = asyncio.Event()
        self.released = 0
        self.seats: tuple[int, ...] = (1, 2)
        self.status: TableStatus.ValueType = TableStatus.TABLE_STATUS_RUNNING
        self.turns: asyncio.Queue[int | None] = asyncio.Queue()
        """Turns that are played; None: the table is gone."""
        self.refusal: Exception | None = None

    async def watch(self) -> AsyncIterator[object]:
        yield self._snapshot(0)
        while (turns := await self.turns.get()) is not None:
            yield self._snapshot(turns)
        raise UnknownTable(Refusal(reason="UNKNOWN_TABLE", sentence="no such table"))

    def _snapshot(self, turns: int) -> Snapshot:
        return Snapshot(
            TableView(
                table_id=self.table_id,
                revision=5 + turns,
                turns=turns,
                status=self.status,
                seats=[SeatView(seat=n, occupant=Occupant.OCCUPANT_PERSON) for n in (1, 2)],
                prompts=[Prompt(seat=1, kind=PromptKind.PROMPT_KIND_TURN, can_confirm=True)],
                panels=[PanelView(uid=self.uid, seats=self.seats)],
            )
        )

    async def hold(self, report: object) -> float:
        if self.refusal is not None:
            raise self.refusal
        return 4.0

    async def release(self) -> None:
        self.released += 1

    async def press(
        self, button: int, gesture: Gesture, second: int, *, expected: int, request_id: str
    ) -> Pressed:
        self.presses.append(int(request_id.rpartition(":")[2]))
        await self.answers.wait()
        return Pressed(expected + 1)


@dataclass
class Timer:
    """Time passes when the test says so."""

    do: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Room:
    """Panel, service and machine in one. `sits` is what sitting down comes to, one by one."""

    def __init__(self) -> None:
        self.happens: asyncio.Queue[Happened] = asyncio.Queue()
        self.sits: asyncio.Queue[Place | Exception] = asyncio.Queue()
        self.tables: list[AtTable] = []
        self.answered: list[tuple[int, Result]] = []
        self.news: list[News] = []
        self.stats = Stats()
        self.patience_ends = asyncio.Event()
        self.timers: list[Timer] = []
        self.time = Timekeeping()
        """Nobody says what time it is."""

    def later(self, seconds: float, do: Callable[[], None]) -> Timer:
        assert seconds == MOMENT
        self.timers.append(Timer(do))
        return self.timers[-1]

    # ------------------------------------------------------------ the panel

    async def events(self) -> AsyncIterator[Happened]:
        while True:
            yield await self.happens.get()

    def show(self, state: State) -> None:
        pass

    def answer(self, event: Event, result: Result) -> None:
        self.answered.append((event.number, result))

    def does(self, *happened: Happened) -> None:
        for one in happened:
            self.happens.put_nowait(one)

    async def are_taken(self) -> None:
        """Wait until all that happened at the panel has been heard."""
        await until(self.happens.empty)
        for _ in range(3):
            await asyncio.sleep(0)

    async def gets(self, *answers: tuple[int, Result]) -> None:
        await until(lambda: len(self.answered) >= len(answers), f"{answers}")
        assert self.answered == list(answers)

    # ------------------------------------------------------------ tables

    async def sit_down(self, uid: int, buttons: int) -> Place:
        came = await self.sits.get()
        if isinstance(came, Exception):
            raise came
        return came

    def panel(self, table_id: str, uid: int, **_: str) -> AtTable:
        table = AtTable(table_id, uid)
        self.prepare(table)
        self.tables.append(table)
        return table

    def prepare(self, table: AtTable) -> None:
        """What is otherwise at the next table."""

    async def told(self, kind: str) -> News:
        """Wait until something of this kind is told; the last one."""
        await until(lambda: kind in [one.kind for one in self.news], f"{kind} of {self.news}")
        return [one for one in self.news if one.kind == kind][-1]

    def finds(self, table_id: str) -> None:
        self.sits.put_nowait(Place(table_id, "a-token"))

    async def table(self, number: int = 1) -> AtTable:
        await until(lambda: len(self.tables) >= number, f"table {number}")
        return self.tables[number - 1]

    async def sleep(self, seconds: float) -> None:
        if seconds == PATIENCE:
            await self.patience_ends.wait()
        else:
            await asyncio.sleep(seconds / 50)


@contextlib.asynccontextmanager
async def at_work(room: Room) -> AsyncIterator[asyncio.Task[None]]:
    parts: Any = room
    work = Work(
        parts,
        parts,
        parts,
        machine="kitchen",
        tell=room.news.append,
        patience=PATIENCE,
        sleep=room.sleep,
        later=room.later,
    )
    task = asyncio.create_task(work.run())
    try:
        yield task
        assert work.counts.gestures == len(room.answered), "each gesture has one final answer"
    finally:
        task.cancel()
        await asyncio.wait([task])


# ---------------------------------------------------------------- before there is a table


@pytest.mark.case("H8")
async def test_gestures_that_come_before_the_table_is_reached_are_asked_there() -> None:
    room = Room()
    async with at_work(room):
        room.does(hello(), press(1), press(2, "another-table"), press(3, button=1))
        await room.are_taken()
        assert room.answered == []
        room.finds("harbour")
        table = await room.table()
        await until(lambda: len(table.presses) == 2)
        table.answers.set()
        await room.gets((2, STALE), (1, ACCEPTED), (3, ACCEPTED))
        assert table.presses == [1, 3]
        room.patience_ends.set()  # and nobody gives up what has its answer
        room.does(press(4))
        await room.gets((2, STALE), (1, ACCEPTED), (3, ACCEPTED), (4, ACCEPTED))


async def test_gestures_that_find_no_table_are_refused_in_the_end_and_never_asked() -> None:
    room = Room()
    async with at_work(room):
        room.does(hello(), press(1), press(2))
        await room.are_taken()
        room.patience_ends.set()
        await room.gets((1, REJECTED), (2, REJECTED))
        room.finds("harbour")
        table = await room.table()
        table.answers.set()
        room.does(press(3))
        await room.gets((1, REJECTED), (2, REJECTED), (3, ACCEPTED))
        assert table.presses == [3]


async def test_gestures_that_wait_for_a_table_are_refused_when_another_panel_appears() -> None:
    room = Room()
    async with at_work(room):
        room.does(hello(7), press(1), press(2), hello(8))
        await room.gets((1, REJECTED), (2, REJECTED))
        assert [one.details["sentence"] for one in room.news if one.kind == "refused"] == [
            OTHER_PANEL,
            OTHER_PANEL,
        ]
        room.finds("harbour")
        table = await room.table()
        assert table.uid == 8
        room.patience_ends.set()
        table.answers.set()
        room.does(press(3))
        await room.gets((1, REJECTED), (2, REJECTED), (3, ACCEPTED))


async def test_gestures_that_wait_are_refused_when_there_is_no_place_at_all() -> None:
    room = Room()
    async with at_work(room) as task:
        room.does(hello(), press(1))
        await room.are_taken()
        room.sits.put_nowait(NoCredentials("give a token with --token"))
        await until(task.done)
        with pytest.raises(NoCredentials):
            task.result()
        assert room.answered == [(1, REJECTED)]


# ---------------------------------------------------------------- a table that ends


async def test_gestures_on_their_way_are_refused_when_another_panel_appears() -> None:
    room = Room()
    room.finds("harbour")
    async with at_work(room):
        room.does(hello(7), press(1), press(2, button=1))
        table = await room.table()
        await until(lambda: len(table.presses) == 2)
        room.does(hello(8))
        await room.gets((1, REJECTED), (2, REJECTED))
        await until(lambda: table.released == 1)


async def test_gestures_on_their_way_are_refused_when_the_table_is_gone_and_others_count() -> None:
    room = Room()
    room.finds("harbour")
    async with at_work(room):
        room.does(hello(), press(1))
        first = await room.table()
        await until(lambda: first.presses == [1])
        first.turns.put_nowait(None)
        await room.gets((1, REJECTED))
        room.does(press(2))  # the lamps still show the table that is gone
        await room.are_taken()
        room.finds("the-next-one")
        second = await room.table(2)
        second.answers.set()
        await until(lambda: len(room.answered) == 2)
        assert room.answered[1][0] == 2
        assert room.answered[1][1] in (REJECTED, STALE), "before or after the panel was let go"
        room.does(press(3, "the-next-one"))
        await until(lambda: len(room.answered) == 3)
        assert room.answered[2] == (3, ACCEPTED)
        assert (first.presses, second.presses) == ([1], [3])


# ---------------------------------------------------------------- what is told of troubles


NO_PORT = NotASerialPort("/tmp is no serial port", "Name the panel's port.")


async def test_a_port_that_never_was_one_ends_the_bridge() -> None:
    room = Room()
    async with at_work(room) as task:
        room.does(Lost(NO_PORT))
        await until(task.done)
        with pytest.raises(NotASerialPort, match="is no serial port"):
            task.result()
        assert room.news == [], "the command tells it"


async def test_a_panel_that_was_there_is_waited_for_whatever_its_port_becomes() -> None:
    room = Room()
    async with at_work(room) as task:
        room.does(hello(), Lost(NO_PORT))
        assert (await room.told("lost")).details["cause"] == "not-serial"
        assert not task.done()


async def test_each_loss_of_the_panel_has_the_doctors_word_for_it() -> None:
    room = Room()
    async with at_work(room) as task:
        room.does(Lost(PanelSilent("nothing answers at /dev/panel", "Look at it.")))
        told = await room.told("lost")
        assert told.details == {
            "cause": "silent",
            "sentence": "nothing answers at /dev/panel. Look at it.",
        }
        assert not task.done()


BUSY = PortBusy(
    "/dev/panel is used by python (process 11) and tableturn (process 12)",
    "Close that program first.",
    ["python (process 11)", "tableturn (process 12)"],
)


@pytest.mark.parametrize(
    "words",
    [
        ["python", "/usr/bin/tableturn", "panel", "--port", "/dev/panel"],
        ["/usr/bin/tableturn", "--json", "panel"],
        ["python", "-m", "tableturn_client.cli", "panel"],
    ],
)
def test_a_port_that_another_bridge_works_is_told_as_such(words: list[str]) -> None:
    told = reasons.known_here(BUSY, {11: ["python", "panel"], 12: words}.__getitem__)
    assert isinstance(told, PanelHeldHere)
    assert told.cause == "held-here"
    assert told.problem == (
        "the panel at /dev/panel is worked by another bridge on this machine (process 12)"
    )
    assert "Close that program" not in told.sentence


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["screen", "/dev/panel"],
        ["/usr/bin/tableturn", "serve"],
        ["/usr/bin/tableturn", "panel", "doctor"],
        ["less", "panel", "tableturn"],
    ],
)
def test_any_other_program_at_the_port_is_named(words: list[str]) -> None:
    assert reasons.known_here(BUSY, lambda process: words) is BUSY
    silent = PanelSilent("nothing answers", "Look at it.")
    assert reasons.known_here(silent, lambda process: ["tableturn", "panel"]) is silent


def test_this_machine_tells_the_words_of_a_process() -> None:
    assert any("python" in word for word in reasons.words_of(os.getpid()))
    assert reasons.words_of(0) == []


@pytest.mark.parametrize(
    ("refusal", "held", "cause", "cure"),
    [
        (PanelHeld(Refusal("PANEL_HELD", "another one has it")), "others", "held", "End that"),
        (
            BadToken(Refusal("BAD_TOKEN", "this table doesn't know the one sent")),
            "off",
            "off",
            "`tableturn panel off harbour 7`",
        ),
    ],
)
async def test_a_panel_that_cannot_be_used_at_its_table_is_told_with_what_helps(
    refusal: Exception, held: str, cause: str, cure: str
) -> None:
    room = Room()
    room.prepare = lambda table: setattr(table, "refusal", refusal)  # type: ignore[method-assign]
    room.finds("harbour")
    async with at_work(room):
        room.does(hello())
        told = await room.told("elsewhere")
        assert set(told.details) == {"held", "cause", "sentence"}
        assert (told.details["held"], told.details["cause"]) == (held, cause)
        assert told.line == told.details["sentence"]
        assert cure in told.line


async def test_a_panel_that_finds_no_seat_is_told_in_the_same_shape_and_once() -> None:
    room = Room()
    for _ in range(2):
        room.sits.put_nowait(UsedElsewhere(reasons.no_seat_left("harbour")))
    room.finds("harbour")
    async with at_work(room):
        room.does(hello())
        await room.table()
        (told,) = [one for one in room.news if one.kind == "elsewhere"]
        assert set(told.details) == {"held", "cause", "sentence"}
        assert (told.details["held"], told.details["cause"]) == ("off", "no-seat-left")
        assert "tableturn panel off harbour NUMBER" in told.line


@pytest.mark.parametrize(
    ("seats", "status", "seatless"),
    [
        ((0, 0), TableStatus.TABLE_STATUS_RUNNING, 1),
        ((0, 0), TableStatus.TABLE_STATUS_FINISHED, 1),
        ((0, 0), TableStatus.TABLE_STATUS_OPEN, 0),
        ((0, 2), TableStatus.TABLE_STATUS_RUNNING, 0),
    ],
)
async def test_buttons_that_can_get_no_seat_any_more_are_told_of_once(
    seats: tuple[int, ...], status: TableStatus.ValueType, seatless: int
) -> None:
    room = Room()

    def prepare(table: AtTable) -> None:
        table.seats = seats
        table.status = status

    room.prepare = prepare  # type: ignore[method-assign]
    room.finds("harbour")
    async with at_work(room):
        room.does(hello())
        table = await room.table()
        table.turns.put_nowait(1)
        await until(lambda: [one.kind for one in room.news].count("turn") == 2)
        told = [one for one in room.news if one.kind == "seatless"]
        assert len(told) == seatless
        assert all("--seats" in one.line and "harbour" in one.line for one in told)


# ---------------------------------------------------------------- the order of what is told


def kinds(room: Room) -> list[str]:
    return [one.kind for one in room.news if one.kind in ("turn", "pressed")]


async def test_what_a_gesture_did_is_told_before_what_the_table_waits_for_then() -> None:
    """Also where the change is seen before the answer comes, as it is mostly."""
    room = Room()
    room.finds("harbour")
    async with at_work(room):
        room.does(hello())
        table = await room.table()
        await room.told("turn")
        room.does(press(1))
        await until(lambda: table.presses == [1])
        table.turns.put_nowait(1)
        await until(lambda: len(room.timers) == 1, "the line is kept")
        assert kinds(room) == ["turn"]
        table.answers.set()
        await room.gets((1, ACCEPTED))
        await until(lambda: len(kinds(room)) == 3)
        assert kinds(room) == ["turn", "pressed", "turn"]
        assert room.timers[0].cancelled
        table.turns.put_nowait(2)
        await until(lambda: len(kinds(room)) == 4, "nothing is kept without a gesture")


async def test_a_line_waits_for_an_answer_for_a_moment_only() -> None:
    room = Room()
    room.finds("harbour")
    async with at_work(room):
        room.does(hello())
        table = await room.table()
        await room.told("turn")
        room.does(press(1))
        await until(lambda: table.presses == [1])
        table.turns.put_nowait(1)
        await until(lambda: len(room.timers) == 1)
        room.timers[0].do()
        assert kinds(room) == ["turn", "turn"]
        table.answers.set()
        await room.gets((1, ACCEPTED))


def test_of_two_gestures_the_later_answer_lets_the_lines_go_and_the_end_does_too() -> None:
    told: list[News] = []
    room = Room()
    order = InOrder(told.append, room.later)

    def news(kind: str, number: int = 0) -> News:
        return News(kind, f"{kind} {number}", {"number": number})

    for number in (1, 2):
        order.waits_for(press(number).event)
    order(news("turn", 1))
    order(news("pressed", 1))
    order(news("service_lost"))
    order(news("turn", 2))
    assert [one.line for one in told] == ["pressed 1", "service_lost 0"]
    order(news("refused", 2))
    assert [one.line for one in told[2:]] == ["refused 2", "turn 1", "turn 2"]
    assert len(room.timers) == 1, "all lines wait from the first one on"
    order.waits_for(press(3).event)
    order(news("turn", 3))
    order.all()
    assert told[-1].line == "turn 3"
    order(news("turn", 4))
    assert told[-1].line == "turn 4", "nobody waits any more"
