"""The bridge at one table, with a scripted service and a scripted panel: who says what when."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from tableturn.v1.actions_pb2 import Prompt, PromptKind
from tableturn.v1.company_pb2 import ChatLine
from tableturn.v1.company_pb2 import Presence as WhoIsThere
from tableturn.v1.table_pb2 import LogEntry, Occupant, PanelView, SeatView, TableStatus, TableView
from tableturn_bridge.bridge import Bridge, request_id
from tableturn_bridge.lamps import tag_of
from tableturn_bridge.lease import Held, holder_name
from tableturn_bridge.patterns import Pattern
from tableturn_bridge.protocol import NO_BUTTON, Event, Kind, Result, State
from tableturn_bridge.status import News
from tableturn_client import (
    Change,
    Disconnected,
    Fresh,
    Gesture,
    Presence,
    Pressed,
    Reconnected,
    Said,
    Snapshot,
    SnapshotReason,
    Stale,
)
from tableturn_client.errors import (
    BadToken,
    CannotConfirm,
    CannotConnect,
    ConnectionLost,
    PanelHeld,
    Refusal,
    Refused,
    ServiceFault,
    StaleRevision,
    StoreFull,
    StoreUnavailable,
    UnknownTable,
)
from tests.bridge.evening import until

UID = 7
TABLE = "harbour"
HERE = tag_of(TABLE)
ELSEWHERE = tag_of("another-table")
Answer = Pressed | Exception


def refusal(kind: type[Refused], sentence: str = "no", **details: Any) -> Refused:
    return kind(Refusal(reason=kind.__name__, sentence=sentence, **details))


def view(revision: int = 5, asked: int = 1, *, next_table: str = "", on: bool = True) -> TableView:
    """A running game of two; who is asked can confirm."""
    return TableView(
        table_id=TABLE,
        game="free-table",
        revision=revision,
        status=TableStatus.TABLE_STATUS_RUNNING,
        seats=[
            SeatView(seat=n, color=color, name=color, occupant=Occupant.OCCUPANT_PERSON)
            for n, color in ((1, "red"), (2, "blue"))
        ],
        prompts=[Prompt(seat=asked, kind=PromptKind.PROMPT_KIND_TURN, can_confirm=True)],
        panels=[PanelView(uid=UID, seats=[1, 2])] if on else [],
        next_table_id=next_table,
    )


def event(
    number: int = 1, button: int = 0, kind: Kind = Kind.PRESS, *, tag: int = HERE, revision: int = 5
) -> Event:
    return Event(99, number, button, kind, NO_BUTTON, tag, revision, 20, 0)


@dataclass
class Expected:
    call: str
    fields: dict[str, Any]
    answer: Answer | None
    wait: asyncio.Event | None


class Script:
    """What is expected comes in this order, or the test fails at `assert_done`.

    It is the service and the panel in one: `show` and `answer` go to the panel, `press` to the
    service. Calls of the lease are answered by `holds`, and are no part of the order.
    """

    table_id = TABLE
    uid = UID

    def __init__(self) -> None:
        self.holds: deque[Exception] = deque()
        self.slow_hold: asyncio.Event | None = None
        self.slow_release: asyncio.Event | None = None
        self.held = 0
        self.released = 0
        self.news: list[News] = []
        self._expected: deque[Expected] = deque()
        self._events: asyncio.Queue[object] = asyncio.Queue()
        self._faults: list[str] = []
        self._shown: State | None = None

    # ------------------------------------------------------------ the script

    def expect(
        self,
        call: str,
        answer: Answer | None = None,
        *,
        wait: asyncio.Event | None = None,
        **fields: Any,
    ) -> None:
        """The next call is this one with these fields; it is answered so, after waiting."""
        self._expected.append(Expected(call, fields, answer, wait))

    def shows(self, *patterns: Pattern, armed: int = 0, revision: int = 5) -> None:
        """The next call shows a picture."""
        lamps = (*patterns, *[Pattern.OFF] * (6 - len(patterns)))
        self.expect("show", patterns=lamps, armed=armed, revision=revision)

    def tells(self, *events: object) -> None:
        """The watch tells something; an error ends it."""
        for one in events:
            self._events.put_nowait(one)

    async def assert_done(self) -> None:
        """All that was expected has come, and nothing else."""
        try:
            await until(lambda: not self._expected or bool(self._faults))
        except AssertionError:
            pytest.fail(f"never came: {[(one.call, one.fields) for one in self._expected]}")
        assert self._faults == []

    def _came(self, call: str, **fields: Any) -> Expected:
        if not self._expected:
            self._faults.append(f"{call} {fields} was not expected")
            raise AssertionError(self._faults[-1])
        expected = self._expected.popleft()
        found = {name: fields.get(name) for name in expected.fields}
        if (call, found) != (expected.call, expected.fields):
            self._faults.append(
                f"{call} {fields} came instead of {expected.call} {expected.fields}"
            )
        return expected

    # ------------------------------------------------------------ the panel

    def show(self, state: State) -> None:
        if state == self._shown:
            return  # the same one again changes nothing
        self._shown = state
        patterns = tuple(Pattern(byte & 15) for byte in state.lamps)
        self._came("show", patterns=patterns, armed=state.armed, revision=state.revision)

    def answer(self, event: Event, result: Result) -> None:
        self._came("answer", number=event.number, result=result)

    # ------------------------------------------------------------ the service

    async def watch(self) -> AsyncIterator[object]:
        while True:
            told = await self._events.get()
            if isinstance(told, Exception):
                raise told
            yield told

    async def hold(self, report: object) -> float:
        self.held += 1
        if self.slow_hold is not None:
            await self.slow_hold.wait()
        if self.holds:
            raise self.holds.popleft()
        return 4.0

    async def release(self) -> None:
        self.released += 1
        if self.slow_release is not None:
            await self.slow_release.wait()

    async def press(
        self, button: int, gesture: Gesture, second: int, *, expected: int, request_id: str
    ) -> Pressed:
        step = self._came(
            "press",
            button=button,
            gesture=gesture,
            second=second,
            expected=expected,
            request_id=request_id,
        )
        if step.wait is not None:
            await step.wait.wait()
        if isinstance(step.answer, Exception):
            raise step.answer
        assert step.answer is not None
        return step.answer


@dataclass
class Timer:
    """Something that is to be done later."""

    seconds: float
    do: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class AtWork:
    """A bridge at work with a script."""

    def __init__(self, script: Script, patience: float) -> None:
        self.script = script
        self.time: datetime | None = None
        self.timers: list[Timer] = []
        self._patience = patience

    async def __aenter__(self) -> Bridge:
        panel: Any = self.script
        self.bridge = Bridge(
            panel,
            self.script,
            2,
            tell=self.script.news.append,
            patience=self._patience,
            sleep=self._sleep,
            later=self._later,
            time=lambda: self.time,
        )
        self.task = asyncio.create_task(self.bridge.run())
        return self.bridge

    async def __aexit__(self, *exc: object) -> None:
        await self.script.assert_done()
        self.task.cancel()
        await asyncio.wait([self.task])

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 50)

    def _later(self, seconds: float, do: Callable[[], None]) -> Timer:
        self.timers.append(Timer(seconds, do))
        return self.timers[-1]

    def passes(self, seconds: float) -> None:
        """So much time passes at the service, and what was to be done then is done."""
        assert self.time is not None
        self.time += timedelta(seconds=seconds)
        (timer,) = [timer for timer in self.timers if not timer.cancelled]
        assert timer.seconds <= seconds
        timer.do()


@pytest.fixture
def script() -> Script:
    return Script()


def at_work(script: Script, patience: float = 10.0) -> AtWork:
    return AtWork(script, patience)


async def held(bridge: Bridge, state: Held = Held.OURS) -> None:
    """Wait until it is clear whose the panel is, and that this was shown."""
    await until(lambda: bridge.lease.state is state)


TURN_1 = (Pattern.TURN, Pattern.OFF)
TURN_2 = (Pattern.OFF, Pattern.TURN)


def begins(script: Script) -> None:
    """The table is told and shown."""
    script.shows(*TURN_1, armed=1)
    script.tells(Snapshot(view()))


# ---------------------------------------------------------------- a press


async def test_the_picture_is_sent_with_each_change_at_once(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.shows(*TURN_2, armed=2, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, asked=2)))


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def timed(revision: int = 5, asked: int = 1) -> TableView:
    """The time of the seat that is asked is low from eight seconds past twelve on."""
    told = view(revision, asked)
    told.seats[asked - 1].clock.low_time.FromDatetime(NOON + timedelta(seconds=8))
    return told


LOW_1 = (Pattern.LOW, Pattern.OFF)


async def test_low_time_is_shown_at_its_moment_though_nothing_happens(script: Script) -> None:
    work = at_work(script)
    work.time = NOON
    script.shows(*TURN_1, armed=1)
    script.tells(Snapshot(timed()))
    async with work as bridge:
        await held(bridge)
        await script.assert_done()
        script.shows(*LOW_1, armed=1)
        work.passes(8)
        await script.assert_done()
        assert all(timer.cancelled or timer.seconds == 8 for timer in work.timers)
        script.shows(*TURN_2, armed=2, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, asked=2)))


async def test_low_time_and_time_that_is_up_are_told_in_words_once_each(script: Script) -> None:
    work = at_work(script)
    work.time = NOON
    script.shows(*TURN_1, armed=1)
    running = timed()
    running.seats[0].clock.running = True
    running.seats[0].clock.deadline.FromDatetime(NOON + timedelta(seconds=20))
    script.tells(Snapshot(running))
    async with work as bridge:
        await held(bridge)
        await script.assert_done()
        assert [one.line for one in script.news][-1] == "turn 1: seat 1 (red, red), its clock runs"
        script.shows(*LOW_1, armed=1)
        work.passes(8)
        await script.assert_done()
        assert [one.line for one in script.news if one.kind == "time"] == [
            "time is low: seat 1 (red, red), 0:12 left"
        ]
        up = timed(6)
        up.seats[0].clock.ran_out = True
        script.shows(*LOW_1, armed=1, revision=6)
        script.tells(Change(LogEntry(revision=6), up), Change(LogEntry(revision=6), up))
        await until(lambda: len([one for one in script.news if one.kind == "time"]) == 2)
        await script.assert_done()
        last = [one for one in script.news if one.kind == "time"][-1]
        assert last.line == "time is up: seat 1 (red, red); the turn goes on"
        assert (last.details["seat"], last.details["state"]) == (1, "up")


async def test_who_plays_for_somebody_is_told(script: Script) -> None:
    told = view()
    told.seats[0].stand_in = "greedy"
    script.expect("show")
    script.tells(Snapshot(told))
    async with at_work(script):
        await until(lambda: bool(script.news))
        assert script.news[-1].line == "turn 1: greedy plays for seat 1 (red, red)"


async def test_what_is_shown_by_the_clock_is_looked_at_again_in_between(script: Script) -> None:
    """What was known of the service's time was wrong by five seconds."""
    work = at_work(script)
    work.time = NOON - timedelta(minutes=1)
    script.shows(*TURN_1, armed=1)
    script.tells(Snapshot(timed()))
    async with work as bridge:
        await held(bridge)
        await script.assert_done()
        for seconds in (10, 10, 10, 10, 15):
            work.passes(seconds)
        script.shows(*LOW_1, armed=1)
        work.passes(13)


async def test_nothing_is_shown_by_the_clock_once_the_turn_or_the_work_has_ended(
    script: Script,
) -> None:
    work = at_work(script)
    work.time = NOON
    script.shows(*TURN_1, armed=1)
    script.tells(Snapshot(timed()))
    async with work as bridge:
        await held(bridge)
        script.shows(*TURN_2, armed=2, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, asked=2)))
        await script.assert_done()
        assert all(timer.cancelled for timer in work.timers)
        script.shows(*TURN_1, armed=1, revision=7)
        script.tells(Change(LogEntry(revision=7), timed(7)))
        await script.assert_done()
        assert not work.timers[-1].cancelled
    assert all(timer.cancelled for timer in work.timers)


@pytest.mark.case("R12")
async def test_a_snapshot_after_compacted_changes_is_the_next_picture(script: Script) -> None:
    """What the bridge missed is not told any more; the panel shows the table as it is."""
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.shows(*TURN_2, armed=2, revision=57)
        script.tells(Snapshot(view(57, asked=2), SnapshotReason.COMPACTED))


async def test_who_comes_and_goes_and_what_is_said_changes_no_picture(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.tells(Presence(WhoIsThere()), Said(ChatLine(text="hello")))
        script.shows(*TURN_2, armed=2, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, asked=2)))


async def test_a_press_is_sent_with_what_the_panel_showed_and_answered(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect(
            "press",
            Pressed(6, seat=1, lines=("done",)),
            button=1,
            gesture=Gesture.PRESS,
            second=0,
            expected=5,
            request_id=f"panel:7:99:{HERE}:1",
        )
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(event())


async def test_the_next_lamp_does_not_wait_for_the_answer_to_the_press(script: Script) -> None:
    answered = asyncio.Event()
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), wait=answered, button=1)
        bridge.pressed(event())
        script.shows(*TURN_2, armed=2, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, asked=2)))
        await script.assert_done()
        script.expect("answer", number=1, result=Result.ACCEPTED)
        answered.set()


async def test_a_press_is_not_held_up_by_another_one(script: Script) -> None:
    first = asyncio.Event()
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), wait=first, button=1)
        script.expect("press", Pressed(7), button=2)
        script.expect("answer", number=2, result=Result.ACCEPTED)
        bridge.pressed(event(1, button=0))
        bridge.pressed(event(2, button=1))
        await script.assert_done()
        script.expect("answer", number=1, result=Result.ACCEPTED)
        first.set()


async def test_a_press_counts_for_what_was_shown_and_not_for_what_is_known_since(
    script: Script,
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", refusal(StaleRevision), button=1, expected=4)
        script.expect("answer", number=1, result=Result.STALE)
        bridge.pressed(event(revision=4))


@pytest.mark.parametrize(
    ("sent", "button", "gesture", "second"),
    [
        (event(kind=Kind.LONG, button=1), 2, Gesture.LONG, 0),
        (event(kind=Kind.MASTER, button=NO_BUTTON), 0, Gesture.MASTER, 0),
        (event(kind=Kind.MASTER_LONG, button=NO_BUTTON), 0, Gesture.MASTER_LONG, 0),
        (Event(99, 1, 1, Kind.CHORD, 0, HERE, 5, 20, 0), 2, Gesture.CHORD, 1),
    ],
)
async def test_buttons_and_gestures_are_told_as_the_service_counts_them(
    script: Script, sent: Event, button: int, gesture: Gesture, second: int
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), button=button, gesture=gesture, second=second)
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(sent)


async def test_a_gesture_of_a_later_firmware_is_refused(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("answer", number=1, result=Result.REJECTED)
        bridge.pressed(event(kind=9))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (refusal(StaleRevision, "look again"), Result.STALE),
        (refusal(CannotConfirm, "look again"), Result.REJECTED),
        (refusal(BadToken, "look again"), Result.REJECTED),
        (refusal(StoreFull, "look again"), Result.REJECTED),
        (ServiceFault("look again"), Result.REJECTED),
    ],
)
async def test_a_refusal_is_shown_and_its_sentence_told(
    script: Script, error: Exception, result: Result
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", error)
        script.expect("answer", number=1, result=result)
        bridge.pressed(event())
    assert script.news[-1].kind == "refused"
    assert script.news[-1].line == "button 1 pressed: look again"


@pytest.mark.case("H8")
async def test_a_press_for_another_table_is_stale_and_is_not_sent(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("answer", number=1, result=Result.STALE)
        bridge.pressed(event(tag=ELSEWHERE))


def test_the_same_gesture_has_the_same_request_id_and_no_other_has_it() -> None:
    one = event(4)
    again = Event(99, 4, 0, Kind.PRESS, NO_BUTTON, HERE, 5, 900, 3)
    assert request_id(UID, one) == request_id(UID, again)
    others = [event(5), event(4, tag=ELSEWHERE), Event(98, 4, 0, 1, NO_BUTTON, HERE, 5, 20, 0)]
    assert len({request_id(UID, one), *(request_id(UID, other) for other in others)}) == 4
    assert request_id(UID, one) != request_id(8, one)
    assert len(request_id(2**32 - 1, Event(2**32 - 1, 65535, 0, 1, 0, 65535, 5, 0, 0))) <= 64


async def test_a_fault_of_ours_ends_the_bridge_instead_of_leaving_the_player_waiting(
    script: Script,
) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", ZeroDivisionError("a fault"))
        script.expect("answer", number=1, result=Result.REJECTED)
        bridge.pressed(event())
        await until(work.task.done)
        with pytest.raises(ExceptionGroup) as raised:
            work.task.result()
        assert raised.group_contains(ZeroDivisionError, match="a fault")


# ---------------------------------------------------------------- no answer


@pytest.mark.case("H8")
async def test_a_press_without_an_answer_is_repeated_as_it_was(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        same: dict[str, Any] = {"button": 1, "expected": 5, "request_id": f"panel:7:99:{HERE}:1"}
        script.expect("press", ConnectionLost("gone"), **same)
        script.expect("press", CannotConnect("gone"), **same)
        script.expect("press", refusal(StoreUnavailable, "gone"), **same)
        script.expect("press", Pressed(6, replayed=True), **same)
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(event())


async def test_a_press_that_gets_no_answer_is_given_up_in_the_end(script: Script) -> None:
    begins(script)
    async with at_work(script, patience=0.1) as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), wait=asyncio.Event())
        script.expect("answer", number=1, result=Result.REJECTED)
        bridge.pressed(event())
    assert "no answer came" in script.news[-1].line


async def test_while_the_service_is_away_all_lamps_say_so_and_none_is_armed(
    script: Script,
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.shows(Pattern.SERVICE_LOST, Pattern.SERVICE_LOST)
        script.tells(Disconnected(ConnectionLost("the cable")))
        await script.assert_done()
        script.shows(*TURN_1, armed=1)
        script.tells(Reconnected())
    assert [one.kind for one in script.news][-2:] == ["service_lost", "service_found"]
    assert "the cable" in script.news[-2].line


async def test_a_service_without_its_store_counts_as_away(script: Script) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.shows(Pattern.SERVICE_LOST, Pattern.SERVICE_LOST)
        script.tells(Stale(datetime(2026, 1, 1, tzinfo=UTC)))
        await script.assert_done()
        script.shows(*TURN_1, armed=1)
        script.tells(Fresh())


@pytest.mark.parametrize("error", [CannotConnect("nobody"), refusal(StoreUnavailable, "nobody")])
async def test_a_service_that_is_not_there_at_the_beginning_is_waited_for(
    script: Script, error: Exception
) -> None:
    script.shows(Pattern.SERVICE_LOST, Pattern.SERVICE_LOST, revision=0)
    script.tells(error, error)
    begins(script)
    async with at_work(script):
        await script.assert_done()
    assert [one.kind for one in script.news][:1] == ["service_lost"]
    assert len([one for one in script.news if one.kind == "service_lost"]) == 1


async def test_a_table_that_is_gone_ends_the_bridge(script: Script) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.tells(refusal(UnknownTable, "no such table"))
        await until(work.task.done)
        with pytest.raises(UnknownTable, match="no such table"):
            work.task.result()
    assert script.released == 1


# ---------------------------------------------------------------- whose the panel is


async def test_a_panel_that_another_bridge_holds_shows_it_and_says_whose_it_is(
    script: Script,
) -> None:
    script.holds.extend([refusal(PanelHeld, "held by kitchen:7", holder="kitchen")] * 1000)
    async with at_work(script) as bridge:
        await held(bridge, Held.OTHERS)
        script.shows(Pattern.ELSEWHERE, Pattern.ELSEWHERE)
        script.tells(Snapshot(view()))
        await script.assert_done()
        script.shows(*TURN_1, armed=1)
        script.holds.clear()  # the other one has let it go
    elsewhere = [one for one in script.news if one.kind == "elsewhere"]
    assert [one.line for one in elsewhere] == ["held by kitchen:7"]


async def test_nothing_is_shown_before_it_is_clear_whose_the_panel_is(script: Script) -> None:
    script.slow_hold = asyncio.Event()
    script.tells(Snapshot(view()))
    async with at_work(script) as bridge:
        await until(lambda: bridge.view is not None)
        await script.assert_done()
        script.shows(*TURN_1, armed=1)
        script.slow_hold.set()


async def test_a_panel_whose_token_the_table_does_not_know_shows_it(script: Script) -> None:
    script.holds.extend([refusal(BadToken, "the table doesn't know it")] * 1000)
    script.shows(Pattern.ELSEWHERE, Pattern.ELSEWHERE)
    script.tells(Snapshot(view()))
    async with at_work(script) as bridge:
        await held(bridge, Held.OFF)
    assert [one.line for one in script.news if one.kind == "elsewhere"] == [
        "the table doesn't know it"
    ]


async def test_a_bridge_that_never_held_its_panel_does_not_let_it_go(script: Script) -> None:
    script.holds.extend([refusal(PanelHeld, "held by kitchen")] * 1000)
    work = at_work(script)
    async with work as bridge:
        await held(bridge, Held.OTHERS)
        work.task.cancel()
        await until(work.task.done)
    assert script.released == 0


async def test_a_panel_that_is_not_on_the_table_shows_it(script: Script) -> None:
    async with at_work(script) as bridge:
        await held(bridge)
        script.shows(Pattern.ELSEWHERE, Pattern.ELSEWHERE)
        script.tells(Snapshot(view(on=False)))
        await script.assert_done()
        script.shows(*TURN_1, armed=1, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6)))


async def test_after_a_lapse_the_panel_is_held_again_before_the_press_is_repeated(
    script: Script,
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", refusal(PanelHeld, "no bridge holds it"), button=1)
        script.expect("press", Pressed(6), button=1)
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(event())


async def test_a_press_on_a_panel_that_another_bridge_holds_is_refused(script: Script) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.holds.extend([refusal(PanelHeld, "held by kitchen")] * 1000)
        script.shows(Pattern.ELSEWHERE, Pattern.ELSEWHERE)
        await script.assert_done()
        script.expect("press", refusal(PanelHeld, "held by kitchen"))
        script.expect("answer", number=1, result=Result.REJECTED)
        bridge.pressed(event())


async def test_a_press_is_held_back_until_it_is_clear_whose_the_panel_is(script: Script) -> None:
    script.slow_hold = asyncio.Event()
    script.tells(Snapshot(view()))
    async with at_work(script) as bridge:
        await until(lambda: bridge.view is not None)
        bridge.pressed(event())
        script.tells(Change(LogEntry(revision=6), view(6)))
        await until(lambda: bridge.view is not None and bridge.view.revision == 6)
        await script.assert_done()  # a press that was sent would be a fault
        script.shows(*TURN_1, armed=1, revision=6)
        script.expect("press", Pressed(7), button=1)
        script.expect("answer", number=1, result=Result.ACCEPTED)
        script.slow_hold.set()


# ---------------------------------------------------------------- the end of a table


GONE = "no such table"


async def test_presses_on_the_way_are_refused_when_the_table_is_gone(script: Script) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        for number, button in ((1, 0), (2, 1)):
            script.expect("press", Pressed(6), wait=asyncio.Event(), button=button + 1)
            bridge.pressed(event(number, button))
        await script.assert_done()
        for number in (1, 2):
            script.expect("answer", number=number, result=Result.REJECTED)
        script.tells(refusal(UnknownTable, GONE))
        await until(work.task.done)
        with pytest.raises(UnknownTable):
            work.task.result()
    assert bridge.counts.rejected == bridge.counts.gestures == 2
    assert [one.line for one in script.news if one.kind == "refused"] == [
        f"button 1 pressed: {GONE}",
        f"button 2 pressed: {GONE}",
    ]


async def test_a_press_that_comes_while_the_panel_is_let_go_is_refused(script: Script) -> None:
    begins(script)
    script.slow_release = asyncio.Event()
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.tells(refusal(UnknownTable, GONE))
        await until(lambda: script.released == 1)
        asked = script.held
        script.expect("answer", number=1, result=Result.REJECTED)
        bridge.pressed(event(1))
        script.expect("answer", number=2, result=Result.STALE)
        bridge.pressed(event(2, tag=ELSEWHERE))
        await script.assert_done()
        assert not work.task.done()
        script.slow_release.set()
        await until(work.task.done)
    assert script.held == asked, "the panel is not held again"
    with pytest.raises(UnknownTable):
        work.task.result()


async def test_a_press_that_waits_for_the_lease_never_takes_back_what_was_let_go(
    script: Script,
) -> None:
    """The service says that nobody holds the panel, just when the bridge leaves the table."""
    begins(script)
    lapsed = asyncio.Event()
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", refusal(PanelHeld, "no bridge holds it"), wait=lapsed)
        bridge.pressed(event())
        await script.assert_done()
        script.expect("answer", number=1, result=Result.REJECTED)
        script.tells(refusal(UnknownTable, GONE))
        await until(lambda: script.released == 1)
        asked = script.held
        lapsed.set()
        await until(work.task.done)
        assert await bridge.lease.renew() is Held.UNKNOWN
    assert script.held == asked


async def test_a_press_after_the_next_table_is_known_is_refused_and_delays_nobody(
    script: Script,
) -> None:
    begins(script)
    answered = asyncio.Event()
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", Pressed(7, next_table_id="next-one"), wait=answered)
        bridge.pressed(event(1, kind=Kind.LONG))
        script.shows(*TURN_1, armed=1, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, next_table="next-one")))
        await script.assert_done()
        script.expect("answer", number=2, result=Result.REJECTED)
        bridge.pressed(event(2, button=1))
        script.expect("answer", number=1, result=Result.ACCEPTED)
        answered.set()
        await until(work.task.done)
        assert work.task.result() == "next-one"


async def test_a_press_that_was_answered_just_before_the_end_gets_no_second_answer(
    script: Script,
) -> None:
    begins(script)
    async with at_work(script) as bridge:
        await held(bridge)
        script.expect("press", Pressed(6))
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(event())
        await script.assert_done()
        bridge.end("another panel is there now")


class Stubborn(asyncio.Event):
    """A call that can't be stopped any more: what would cancel it lets it come to its end."""

    async def wait(self) -> Literal[True]:
        with contextlib.suppress(asyncio.CancelledError):
            await super().wait()
        return True


async def test_a_press_that_was_refused_at_the_end_gets_no_second_answer(script: Script) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), wait=Stubborn())
        bridge.pressed(event())
        await script.assert_done()
        script.expect("answer", number=1, result=Result.REJECTED)
        script.tells(refusal(UnknownTable, GONE))
        await until(work.task.done)
        assert (bridge.counts.accepted, bridge.counts.rejected) == (0, 1)
    assert [one.kind for one in script.news if one.kind in ("pressed", "refused")] == ["refused"]


@pytest.mark.case("H8")
async def test_an_interrupted_bridge_leaves_its_presses_to_the_next_one(script: Script) -> None:
    """The service may have carried it out: only its own answer will do."""
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", Pressed(6), wait=asyncio.Event())
        bridge.pressed(event())
        await script.assert_done()
        work.task.cancel()
        await until(work.task.done)
    assert bridge.counts.rejected == 0
    assert script.released == 1


# ---------------------------------------------------------------- the next table


async def test_the_bridge_ends_here_when_the_people_go_on_at_another_table(script: Script) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.shows(*TURN_1, armed=1, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, next_table="next-one")))
        await until(work.task.done)
        assert work.task.result() == "next-one"
    assert script.released == 1


async def test_a_press_that_asked_for_the_rematch_is_answered_before_the_bridge_ends(
    script: Script,
) -> None:
    begins(script)
    answered = asyncio.Event()
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", Pressed(7, next_table_id="next-one"), wait=answered)
        bridge.pressed(event(kind=Kind.LONG))
        script.shows(*TURN_1, armed=1, revision=6)
        script.tells(Change(LogEntry(revision=6), view(6, next_table="next-one")))
        await script.assert_done()
        assert not work.task.done()
        script.expect("answer", number=1, result=Result.ACCEPTED)
        answered.set()
        await until(work.task.done)
        assert work.task.result() == "next-one"


async def test_the_answer_to_the_press_is_enough_to_go_on_at_the_next_table(
    script: Script,
) -> None:
    begins(script)
    work = at_work(script)
    async with work as bridge:
        await held(bridge)
        script.expect("press", Pressed(7, next_table_id="next-one"))
        script.expect("answer", number=1, result=Result.ACCEPTED)
        bridge.pressed(event(kind=Kind.LONG))
        await until(work.task.done)
        assert work.task.result() == "next-one"


# ---------------------------------------------------------------- names


def test_the_name_of_a_bridge_is_short_and_ends_with_what_is_its_own() -> None:
    assert holder_name("kitchen-0123456789abcdef", 7) == "kitchen-0123456789abcdef:7"
    long = holder_name("k" * 40 + "-0123456789abcdef", 2**32 - 1)
    assert len(long) == 64
    assert long.endswith("-0123456789abcdef:4294967295")
    assert holder_name("a\nb", 7) == "a?b:7"
