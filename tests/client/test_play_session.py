"""A session against a service that says what the test wants it to say."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any

import pytest
from rich.console import Console, RenderableType

from tableturn.v1 import actions_pb2, table_pb2
from tableturn_client import errors, events
from tableturn_client.address import read_address
from tableturn_client.errors import Refusal
from tableturn_client.handle import Done
from tableturn_client.handles import Seat
from tableturn_client.play.hearing import LOST
from tableturn_client.play.seated import Seated
from tableturn_client.play.session import Session
from tableturn_client.play.terminal import Terminal, Wanted
from tableturn_client.wire import Wire
from tests.client.test_drawing import table


async def eventually(so: Callable[[], object]) -> None:
    """Let the session run until it is so."""
    async with asyncio.timeout(10):
        while not so():  # noqa: ASYNC110 - anything may make it so
            await asyncio.sleep(0)


class Lines(Terminal):
    """A terminal without a person: lines in a queue, everything written is kept."""

    live = False

    def __init__(self) -> None:
        self.file = io.StringIO()
        super().__init__(Console(file=self.file, width=80, color_system=None))
        self._lines: list[str | None] = []
        self._changed = asyncio.Event()

    def type(self, *lines: str | None) -> None:
        self._lines += lines
        self._changed.set()

    def wake(self) -> None:
        self._changed.set()

    async def read(self, wanted: Wanted) -> str | None:
        while True:
            self._changed.clear()
            if self._lines and (self._lines[0] is None or wanted(self._lines[0])):
                return self._lines.pop(0)
            await self._changed.wait()

    async def show(self, drawn: RenderableType, *, clear: bool = False) -> None:
        self._print(drawn)

    async def until(self, words: str) -> None:
        await eventually(lambda: words in self.file.getvalue())


class Told:
    """A watch that tells what the test puts in."""

    def __init__(self, queue: "asyncio.Queue[events.Event | Exception]") -> None:
        self._queue = queue

    async def __aenter__(self) -> "Told":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None
    ) -> None:
        return None

    def __aiter__(self) -> AsyncIterator[events.Event]:
        return self

    async def __anext__(self) -> events.Event:
        told = await self._queue.get()
        if isinstance(told, Exception):
            raise told
        return told


class Place(Seat):
    """A seat whose service is the test."""

    def __init__(self, number: int = 2) -> None:
        super().__init__(
            Wire(read_address("localhost")), "evening", number, token="t-0123456789abcdef"
        )
        self.tells: asyncio.Queue[events.Event | Exception] = asyncio.Queue()
        self.sent: list[tuple[str, int]] = []
        self.answer: Callable[[], Done] = lambda: Done(0)

    def watch(self, **_: Any) -> Any:
        return Told(self.tells)

    async def act(self, *actions: Any, expected: int | None = None, **_: Any) -> Done:
        self.sent.append(("; ".join(map(str, actions)), expected or 0))
        return self.answer()

    async def confirm(self, *, expected: int | None = None, request_id: str = "") -> Done:
        self.sent.append(("confirm", expected or 0))
        return self.answer()


def asked(revision: int, *, mine: bool = True) -> table_pb2.TableView:
    """The table of the tests, where seat 2 may harvest."""
    view = table("middle")
    view.revision = revision
    del view.choices[:], view.prompts[:], view.staged[:]
    view.prompts.add(
        seat=2 if mine else 1,
        kind=actions_pb2.PROMPT_KIND_TURN,
        can_confirm=True,
        label="confirm",
        asked_at=revision,
    )
    if mine:
        view.choices.add(kind="harvest", label="harvest YY")
    return view


def changed(view: table_pb2.TableView, line: str) -> events.Change:
    entry = table_pb2.LogEntry(revision=view.revision, lines=[line])
    return events.Change(entry, view)


class Evening:
    """A session that runs, its terminal and its seat."""

    def __init__(self) -> None:
        self.place = Place()
        self.lines = Lines()
        seated = Seated([self.place], self.place, server="localhost:7430")
        self.session = Session(seated, lambda _: self.lines)
        self.task = asyncio.create_task(self.session.run())

    @property
    def written(self) -> str:
        return self.lines.file.getvalue()

    async def quits(self) -> None:
        self.lines.type("q")
        await asyncio.wait_for(self.task, 10)


def stale() -> Done:
    raise errors.StaleRevision(Refusal("STALE_REVISION", "look again", revision=9, asked_at=9))


async def test_a_stale_answer_is_told_and_the_table_is_shown_as_it_is() -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(asked(8)))
    await evening.lines.until("1 harvest YY")
    evening.place.answer = stale
    evening.lines.type("1")
    await evening.lines.until("Not done: the table has changed meanwhile.")
    assert evening.place.sent == [("harvest", 8)]  # what the person had seen, no newer one
    evening.place.tells.put_nowait(changed(asked(9), "the host takes the last turn back"))
    await evening.lines.until("the host takes the last turn back")
    await evening.quits()


async def test_nothing_is_shown_that_the_service_did_not_send() -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(asked(8)))
    await evening.lines.until("1 harvest YY")
    evening.place.answer = lambda: Done(9)
    evening.lines.type("1", "1")  # the second waits for what the first has done
    await eventually(lambda: evening.place.sent)
    before = evening.written
    for _ in range(50):
        await asyncio.sleep(0)
    assert evening.place.sent == [("harvest", 8)]
    assert "staged" not in evening.written[len(before) :]
    evening.place.tells.put_nowait(changed(asked(9), "Ben harvests"))
    await evening.lines.until("Ben harvests")
    await eventually(lambda: len(evening.place.sent) == 2)
    assert evening.place.sent[1] == ("harvest", 9)
    evening.place.tells.put_nowait(changed(asked(10, mine=False), "Ben is done"))
    await evening.quits()


async def test_an_answer_waits_until_something_is_asked() -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(asked(8, mine=False)))
    evening.lines.type("1")
    await evening.lines.until("waiting for 1 Anna")
    for _ in range(50):
        await asyncio.sleep(0)
    assert not evening.place.sent
    evening.place.tells.put_nowait(changed(asked(9), "Anna confirms"))
    await eventually(lambda: evening.place.sent)
    assert evening.place.sent == [("harvest", 9)]
    await evening.quits()


async def test_a_lost_connection_is_a_banner_until_it_is_back() -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(asked(8)))
    await evening.lines.until("1 harvest YY")
    evening.place.tells.put_nowait(events.Disconnected(errors.ConnectionLost("lost")))
    await evening.lines.until(f"*** {LOST} ***")
    evening.place.tells.put_nowait(events.Reconnected())
    await evening.lines.until("*** back ***")
    await evening.quits()


async def test_a_skipped_part_and_a_fork_are_told() -> None:
    evening = Evening()
    for revision, reason, words in (
        (8, events.SnapshotReason.BEGIN, "1 harvest YY"),
        (12, events.SnapshotReason.SKIPPED, "too quick to be told one by one"),
        (11, events.SnapshotReason.FORKED, "The service lost its last changes"),
    ):
        evening.place.tells.put_nowait(events.Snapshot(asked(revision), reason))
        await evening.lines.until(words)
    await evening.quits()


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_a_turn_in_which_nothing_was_done_is_asked_for_twice(answer: str) -> None:
    view = asked(8)
    view.prompts[0].confirm_skips = True
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(view))
    await evening.lines.until("end the turn without doing anything")
    evening.lines.type("c")
    await evening.lines.until("End the turn without doing anything?")
    assert not evening.place.sent
    evening.lines.type(answer)
    if answer == "y":
        await eventually(lambda: evening.place.sent)
        assert evening.place.sent == [("confirm", 8)]
    else:
        await evening.lines.until("Nothing was done.")
        assert not evening.place.sent
    await evening.quits()


async def test_the_end_is_the_result_that_the_service_sent() -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(asked(8)))
    await evening.lines.until("1 harvest YY")
    over = table("result")
    over.revision = 9
    evening.place.tells.put_nowait(changed(over, "the game is over"))
    await asyncio.wait_for(evening.task, 10)
    assert "4 Dörte-Wilhelmina (yellow) wins." in evening.written
    assert "Another game: tableturn new eastern-wonders --seats 4" in evening.written


def acquiring(revision: int) -> table_pb2.TableView:
    """Seat 2 has begun to acquire the third card of the row."""
    view = asked(revision)
    view.prompts[0].can_confirm = False
    del view.choices[:]
    colors = [actions_pb2.CUBE_COLOR_YELLOW, actions_pb2.CUBE_COLOR_BROWN]
    view.choices.add(kind="put_cube", colors=colors, cards=["M03", "M07"], label="put a cube")
    return view


@pytest.mark.parametrize(
    ("lines", "sent"),
    [
        (["b"], "put brown on M03"),  # no command while a cube is asked for
        ([""], "put yellow on M03"),
        (["yb"], "put yellow on M03; put brown on M07"),
        (["b m07"], "put brown on M07"),
        (["put b m07"], "put brown on M07"),
        (["put y on m07; put b on m03"], "put y on m07; put b on m03"),
        (["x", "1 b m07"], "put brown on M07"),
        (["1 b m07"], "put brown on M07"),
        (["c", "x", "y"], "put yellow on M03"),
    ],
)
async def test_cubes_for_a_card_are_asked_for_at_once(lines: list[str], sent: str) -> None:
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(acquiring(8)))
    await evening.lines.until("put a cube - Which cube?  Enter: yellow")
    evening.lines.type(*lines)
    await eventually(lambda: evening.place.sent)
    assert evening.place.sent == [(sent, 8)]
    await evening.quits()


@pytest.mark.parametrize(
    ("kind", "line", "said"),
    [
        ("claim_card", "claim", "Which card?"),
        ("play_card", "play", "Which card?"),
        ("play_card", "", ""),
    ],
)
async def test_a_verb_alone_asks_for_the_rest(kind: str, line: str, said: str) -> None:
    view = asked(8)
    view.choices.add(kind=kind, cards=["P01", "P02"], label="choose one")
    evening = Evening()
    evening.place.tells.put_nowait(events.Snapshot(view))
    await evening.lines.until("2 choose one")
    evening.lines.type(line)
    await evening.lines.until(said)
    assert not evening.place.sent
    await evening.quits()
