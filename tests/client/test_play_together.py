"""What people do about each other while they play, and clocks that go on by themselves."""

import asyncio
import io
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from tableturn.v1 import clock_pb2, company_pb2, table_pb2
from tableturn_client import Chat, ChatMode, errors, events
from tableturn_client.errors import Refusal
from tableturn_client.handle import Done
from tableturn_client.play.seated import Seated
from tableturn_client.play.session import Session
from tests.client.evenings import NOON, away, timed
from tests.client.test_play_session import Evening, Lines, Place, asked, changed, eventually


class Friend(Place):
    """A seat that also tells what it was asked to do about others."""

    def __init__(self, number: int = 2) -> None:
        super().__init__(number)
        self.did: list[tuple[Any, ...]] = []
        self.refusal: errors.Refused | None = None
        self.waiting: tuple[int, ...] = ()

    async def view(self) -> table_pb2.TableView:
        raise errors.NotSent("there is no service")

    def _done(self, *what: Any) -> Done:
        self.did.append(what)
        if self.refusal is not None:
            raise self.refusal
        return Done(0, waiting_for=self.waiting)

    async def say(self, text: str, **_: Any) -> company_pb2.ChatLine:
        self._done("say", text)
        return company_pb2.ChatLine()

    async def chat(self, after: int = 0) -> Chat:
        line = company_pb2.ChatLine(seat=1, name="Anna", text="are you there?")
        return Chat((line,), ChatMode.SEATS)

    async def let_bot_play(self, bot: str = "", seat: int = 0, **_: Any) -> Done:
        return self._done("let bot play", bot)

    async def come_back(self, seat: int = 0, **_: Any) -> Done:
        return self._done("back")

    async def vote_drop(self, target: int, *, withdraw: bool = False, **_: Any) -> Done:
        return self._done("vote", target, withdraw)

    async def set_chat(self, mode: ChatMode | None = None, **muted: Any) -> Chat:
        self._done("chat", mode, muted)
        return Chat((), mode)

    async def pass_host(self, seat: int, **_: Any) -> Done:
        return self._done("host", seat)

    async def add_time(self, seconds: float, seat: int = 0, **_: Any) -> Done:
        return self._done("time", seconds, seat)


class Gathering(Evening):
    """A session of one seat or several, whose table the test tells about."""

    def __init__(self, *numbers: int, lines: Lines | None = None, sleep: Any = None) -> None:
        self.friends = {number: Friend(number) for number in numbers or (2,)}
        self.place = next(iter(self.friends.values()))
        self.lines = lines or Lines()
        seated = Seated([*self.friends.values()], self.place, server="localhost:7430")
        sleeping = {"sleep": sleep} if sleep else {}
        self.session = Session(seated, lambda _: self.lines, **sleeping)
        self.task = asyncio.create_task(self.session.run())

    def tell(self, event: events.Event) -> None:
        for friend in self.friends.values():
            friend.tells.put_nowait(event)

    @property
    def did(self) -> list[tuple[Any, ...]]:
        return [what for friend in self.friends.values() for what in friend.did]

    async def does(self, *what: tuple[Any, ...]) -> None:
        await eventually(lambda: len(self.did) >= len(what))
        assert self.did == list(what)


async def gathered(*numbers: int, mine: bool = True) -> Gathering:
    """A session that is shown its table."""
    evening = Gathering(*numbers)
    evening.tell(events.Snapshot(asked(8, mine=mine)))
    await evening.lines.until("Eastern Wonders")
    return evening


@pytest.mark.parametrize("mine", [True, False])
@pytest.mark.parametrize(
    ("line", "did"),
    [
        ("say hello, all!", ("say", "hello, all!")),
        ("SAY 2", ("say", "2")),
        ("let bot play", ("let bot play", "")),
        ("let bot play random", ("let bot play", "random")),
        ("back", ("back",)),
        ("time 30s", ("time", 30, 0)),
        ("time 2m 30s 1", ("time", 150, 1)),
        ("unvote 1", ("vote", 1, True)),
        ("mute 1", ("chat", None, {"mute": [1], "unmute": []})),
        ("unmute 1", ("chat", None, {"mute": [], "unmute": [1]})),
        ("chat off", ("chat", ChatMode.OFF, {})),
        ("Chat  ON", ("chat", ChatMode.SEATS, {})),
    ],
)
async def test_lines_about_people_can_be_typed_at_any_time(
    line: str, did: tuple[Any, ...], mine: bool
) -> None:
    evening = await gathered(mine=mine)
    evening.lines.type(line)
    await evening.does(did)
    assert evening.place.sent == []
    await evening.quits()


@pytest.mark.parametrize(
    ("line", "question", "did"),
    [
        ("vote 1", "Want 1 Anna (red) to leave the game for good?", ("vote", 1, False)),
        ("host 1", "Make 1 Anna (red) the host?", ("host", 1)),
    ],
)
@pytest.mark.parametrize("answer", ["y", "n"])
async def test_what_cannot_be_undone_is_asked_for_twice(
    line: str, question: str, did: tuple[Any, ...], answer: str
) -> None:
    evening = await gathered()
    evening.lines.type(line)
    await evening.lines.until(question)
    assert evening.did == []
    evening.lines.type("say one moment", answer)
    await evening.lines.until("Nothing was done." if answer == "n" else ">")
    await evening.does(("say", "one moment"), *([did] if answer == "y" else []))
    await evening.quits()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("say", "Say what?"),
        ("vote", "Which seat? Type vote and its number: vote 2"),
        ("vote them", "Which seat?"),
        ("host", "Which seat?"),
        ("time", "is no time; times are such as"),
        ("time lots", "'lots' is no time"),
        ("back 4", "Seat 4 is not yours."),
        ("vote 9", "There is no seat 9 at this table."),
        ("vote 2", "Nobody votes against their own seat; concede gives up for good."),
        ("host 9", "There is no seat 9 at this table."),
        ("mute 9", "There is no seat 9 at this table."),
    ],
)
async def test_what_is_unclear_is_told(line: str, told: str) -> None:
    evening = await gathered()
    evening.lines.type(line)
    await evening.lines.until(told)
    assert evening.did == []
    await evening.quits()


async def test_who_has_a_seat_and_is_the_host_speaks_from_the_seat() -> None:
    evening = await gathered(mine=False)
    evening.session.seated.host = Friend(0)
    evening.lines.type("say hello")
    await evening.does(("say", "hello"))
    await evening.quits()


async def test_a_refusal_is_a_line() -> None:
    evening = await gathered()
    evening.friends[2].refusal = errors.NotAllowed(Refusal("NOT_ALLOWED", "the chat is off"))
    evening.lines.type("say hello")
    await evening.lines.until("Not possible: the chat is off")
    await evening.quits()


async def test_all_seats_at_a_device_vote_and_those_who_are_still_asked_are_told() -> None:
    evening = await gathered(1, 2)
    for friend in evening.friends.values():
        friend.waiting = (3,)
    evening.lines.type("vote 4", "y")
    await evening.lines.until("Still asked, with `vote 4`: 3 Çağla (green)")
    await evening.does(("vote", 4, False), ("vote", 4, False))
    await evening.quits()


async def test_of_several_seats_the_one_is_back_for_which_a_bot_plays() -> None:
    evening = Gathering(1, 2)
    view = asked(8)
    view.seats[0].stand_in = "greedy"
    evening.tell(events.Snapshot(view))
    await evening.lines.until("greedy plays for 1 Anna")
    evening.lines.type("back", "let bot play")
    await eventually(lambda: len(evening.did) == 2)
    assert evening.friends[1].did == [("back",)]
    assert evening.friends[2].did == [("let bot play", "")]
    await evening.quits()


async def test_while_a_bot_plays_for_me_nothing_is_asked_of_me() -> None:
    evening = Gathering()
    view = asked(8)
    view.seats[1].stand_in = "greedy"
    evening.tell(events.Snapshot(view))
    await evening.lines.until("greedy plays for 2 Ben (blue): type back to play on")
    assert "1 harvest" not in evening.written
    evening.tell(changed(asked(9), "Ben is back"))
    await evening.lines.until("1 harvest YY")
    await evening.quits()


async def test_what_is_said_is_shown_where_the_log_is() -> None:
    evening = await gathered()
    line = company_pb2.ChatLine(number=1, seat=1, name="Anna", text="good luck\x1b[2J")
    evening.tell(events.Said(line))
    await evening.lines.until("1 Anna: good luck[2J")
    evening.lines.type("chat")
    await evening.lines.until("1 Anna: are you there?")
    await evening.quits()


async def test_who_goes_away_is_shown_with_the_next_table() -> None:
    evening = await gathered(mine=False)
    evening.tell(events.Presence(away(1)))
    view = asked(9)
    view.update_time.FromDatetime(NOON)
    evening.tell(changed(view, "Ben is asked"))
    await evening.lines.until("1 Anna away 3 min")
    await evening.quits()


# ---------------------------------------------------------------- a screen, and its clocks


class Screen(Lines):
    """A screen without a person: whole screens are kept, and how often the clock was drawn."""

    live = True

    def __init__(self) -> None:
        super().__init__()
        self.console = Console(file=io.StringIO(), width=80, height=24, color_system=None)
        self.file = self.console.file  # type: ignore[assignment]
        self.ticks = 0
        self.screens = 0

    async def show(self, drawn: Any, *, clear: bool = False) -> None:
        self.screens += clear
        await super().show(drawn, clear=clear)

    def tick(self) -> None:
        self.ticks += 1


class Seconds:
    """A second passes when the test lets it."""

    def __init__(self) -> None:
        self.passing = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        assert seconds == 1
        await self.passing.wait()
        self.passing.clear()

    async def passes(self) -> None:
        self.passing.set()
        await eventually(lambda: not self.passing.is_set())
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.mark.case("C2")
async def test_the_clock_goes_on_without_the_screen_being_drawn_anew() -> None:
    seconds, screen = Seconds(), Screen()
    evening = Gathering(lines=screen, sleep=seconds.sleep)
    evening.place.time.told(timed().update_time)
    evening.tell(events.Snapshot(timed()))
    await screen.until("YOUR TURN")
    before = screen.screens
    assert "▶ 2 Ben 0:42" in evening.session.message().plain
    for _ in range(3):
        await seconds.passes()
    assert (screen.ticks, screen.screens) == (3, before)
    assert "0:42" not in evening.written  # above the input line, it would stand still
    await evening.quits()


async def test_without_a_clock_nothing_is_drawn_by_itself() -> None:
    seconds, screen = Seconds(), Screen()
    evening = Gathering(lines=screen, sleep=seconds.sleep)
    evening.tell(events.Snapshot(asked(8)))
    await screen.until("YOUR TURN")
    before = screen.screens
    for _ in range(3):
        await seconds.passes()
    assert (screen.ticks, screen.screens) == (0, before)
    await evening.quits()


async def test_where_the_clocks_need_another_line_the_screen_is_drawn_anew() -> None:
    seconds, screen = Seconds(), Screen()
    evening = Gathering(lines=screen, sleep=seconds.sleep)
    view = timed()
    evening.place.time.told(view.update_time)
    evening.tell(events.Snapshot(view))
    await screen.until("YOUR TURN")
    before = screen.screens
    # As if time had passed: what is drawn has another height now.
    view.host_seat = 1
    view.seats[2].stand_in = "greedy"
    await seconds.passes()
    await eventually(lambda: screen.screens > before)
    await evening.quits()


async def test_a_page_that_is_read_has_no_clock_above_the_input() -> None:
    screen = Screen()
    evening = Gathering(lines=screen, sleep=Seconds().sleep)
    evening.tell(events.Snapshot(timed()))
    await screen.until("YOUR TURN")
    screen.type("?")
    await screen.until("What you can type")
    assert evening.session.message().plain == "> "
    screen.type("")
    await evening.quits()


@pytest.mark.parametrize("late", [False, True])
async def test_a_spectator_is_told_how_late_it_is_as_the_service_says_so(late: bool) -> None:
    lines, friend = Lines(), Friend(0)
    session = Session(Seated([], friend), lambda _: lines)
    task = asyncio.create_task(session.run())
    view = timed()
    view.spectator_delay.FromTimedelta(timedelta(minutes=10))
    if late:
        view.behind.FromTimedelta(timedelta(minutes=10))
    friend.tells.put_nowait(events.Snapshot(view))
    await lines.until("Eastern Wonders")
    assert ("10 min behind" in lines.file.getvalue()) is late
    lines.type("q")
    await asyncio.wait_for(task, 10)


# ---------------------------------------------------------------- what is over


async def test_a_refusal_is_gone_from_the_screen_when_the_table_goes_on() -> None:
    screen = Screen()
    evening = Gathering(lines=screen)
    evening.tell(events.Snapshot(asked(8)))
    await screen.until("YOUR TURN")
    evening.friends[2].refusal = errors.NotAllowed(
        Refusal("NOT_ALLOWED", "the chat is off", revision=8)
    )
    screen.type("say hello")
    await screen.until("Not possible: the chat is off")
    told = len(evening.written)
    evening.tell(events.Presence(away(1)))  # nothing that the refusal was about
    await eventually(lambda: "Not possible" in evening.written[told:])
    told = len(evening.written)
    evening.tell(changed(asked(9), "Anna is back"))
    await eventually(lambda: "Anna is back" in evening.written[told:])
    assert "Not possible" not in evening.written[told:]
    await evening.quits()


async def test_a_stale_answer_is_told_also_beside_the_change_that_made_it_stale() -> None:
    screen = Screen()
    evening = Gathering(lines=screen)
    evening.tell(events.Snapshot(asked(8)))
    await screen.until("YOUR TURN")
    evening.friends[2].refusal = errors.StaleRevision(
        Refusal("STALE_REVISION", "look again", revision=9)
    )
    screen.type("say hello")
    await screen.until("Not done: the table has changed meanwhile.")
    told = len(evening.written)
    evening.tell(changed(asked(9), "the host takes the last turn back"))
    await eventually(lambda: "takes the last turn back" in evening.written[told:])
    assert "Not done" in evening.written[told:]
    await evening.quits()


class Spectator(Friend):
    """Whoever holds no seat; `sees` is what there is to be seen, None for nothing."""

    def __init__(self, sees: table_pb2.TableView | None) -> None:
        super().__init__(0)
        self.sees = sees

    async def view(self) -> table_pb2.TableView:
        if self.sees is None:
            raise errors.BadToken(Refusal("BAD_TOKEN", "this table is private"))
        return self.sees


def seat_at(friend: Friend, sees: table_pb2.TableView | None) -> tuple[Session, Lines, list[int]]:
    """A session of one seat at a table that others may see or not; and what it forgets."""
    lines, forgotten = Lines(), list[int]()
    seated = Seated([friend], Spectator(sees), forget=forgotten.append)
    return Session(seated, lambda _: lines), lines, forgotten


DEAD = errors.NotAllowed(Refusal("NOT_ALLOWED", "it needs the token of seat 2"))


@pytest.mark.case("S15")
async def test_whoever_plays_on_at_another_device_looks_on_at_this_one() -> None:
    friend = Friend(2)
    session, lines, forgotten = seat_at(friend, asked(9))
    task = asyncio.create_task(session.run())
    friend.tells.put_nowait(events.Snapshot(asked(8)))
    await lines.until("YOUR TURN")
    friend.tells.put_nowait(DEAD)
    await eventually(lambda: forgotten == [2])
    spectator = session.seated.table
    assert isinstance(spectator, Spectator)
    spectator.tells.put_nowait(events.Snapshot(asked(9)))
    await lines.until("Seat 2 is played from another device now. You look on.")
    spectator.tells.put_nowait(changed(asked(10, mine=False), "Ben harvests"))
    await lines.until("Ben harvests")
    lines.type("q")
    await asyncio.wait_for(task, 10)


async def test_where_nobody_may_look_on_it_ends_with_what_became_of_the_seat() -> None:
    friend = Friend(2)
    session, lines, forgotten = seat_at(friend, None)
    task = asyncio.create_task(session.run())
    friend.tells.put_nowait(events.Snapshot(asked(8)))
    await lines.until("YOUR TURN")
    friend.tells.put_nowait(DEAD)
    with pytest.raises(errors.NotAllowed, match="left, or is played from another device now"):
        await asyncio.wait_for(task, 10)
    assert forgotten == [2]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (clock_pb2.ABSENCE_POLICY_UNSPECIFIED, "Your seat stays yours: 2 Ben (blue)."),
        (clock_pb2.ABSENCE_POLICY_BOT, "be back within 2 min, or a bot plays on."),
        (clock_pb2.ABSENCE_POLICY_DROP, "be back within 2 min, or the seat leaves the game."),
    ],
)
async def test_who_quits_is_told_what_happens_to_the_seat(policy: Any, told: str) -> None:
    evening = Gathering()
    view = asked(8)
    view.absence.policy = policy
    evening.tell(events.Snapshot(view))
    await evening.lines.until("YOUR TURN")
    evening.lines.type("?")
    await evening.lines.until("quit; ")
    assert ("your seat stays yours" in evening.written) is told.startswith("Your")
    await evening.quits()
    assert told in evening.written
