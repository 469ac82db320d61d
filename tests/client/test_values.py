"""Whatever a caller gives, it is sent, or is BadValue with a sentence; nothing else comes out."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tableturn_client import (
    Absence,
    Client,
    Clock,
    ClockKind,
    Panel,
    Seat,
    connect,
    errors,
    new_token,
    sync,
)
from tableturn_client.errors import BadValue

TOKEN = "t" * 32
Call = Callable[[Any], Awaitable[object]]
HALF = "\ud800"
"""Half of a character, as JSON may leave one."""


def _new(**fields: Any) -> Call:
    return lambda client: client.new_table("free-table", **fields)


def _seat(verb: str, *args: Any, **fields: Any) -> Call:
    async def call(client: Client) -> object:
        seat = client.seat("t1", 1, token=TOKEN)
        seat.revision = 3
        return await getattr(seat, verb)(*args, **fields)

    return call


def _panel(verb: str, *args: Any, **fields: Any) -> Call:
    async def call(client: Client) -> object:
        panel = client.panel("t1", 7, token=TOKEN, holder="here")
        panel.revision = 3
        return await getattr(panel, verb)(*args, **fields)

    return call


async def _watch(client: Client, **fields: Any) -> object:
    return await anext(client.table("t1").watch(**fields))


async def _log(client: Client, after: Any) -> object:
    return [entry async for entry in client.table("t1").log(after)]


async def _tables(client: Client, page_size: Any) -> object:
    return [table async for table in client.tables(page_size=page_size)]


WRONG: dict[str, Call] = {
    "chat(-1)": _seat("chat", -1),
    "chat(text)": _seat("chat", "1"),
    "say(half)": _seat("say", HALF),
    "say(5)": _seat("say", 5),
    "say(seat)": _seat("say", "hi", seat="2"),
    "vote_drop(text)": _seat("vote_drop", "1"),
    "vote_drop(True)": _seat("vote_drop", True),
    "vote_drop(withdraw)": _seat("vote_drop", 2, withdraw="no"),
    "add_time(text)": _seat("add_time", "30"),
    "add_time(True)": _seat("add_time", True),
    "add_time(nan)": _seat("add_time", float("nan")),
    "add_time(-1)": _seat("add_time", -1),
    "add_time(1000 days)": _seat("add_time", 1000 * 86_400),
    "let_bot_play(5)": _seat("let_bot_play", 5),
    "pass_host(None)": _seat("pass_host", None),
    "set_chat(text)": _seat("set_chat", "off"),
    "set_chat(mute)": _seat("set_chat", mute=3),
    "set_chat(mute text)": _seat("set_chat", mute="3"),
    "act(5)": _seat("act", 5),
    "act(expected)": _seat("act", "pass", expected="3"),
    "act(confirm)": _seat("act", "pass", confirm="yes"),
    "act(id)": _seat("act", "pass", request_id=5),
    "undo(all)": _seat("undo", all=2),
    "take_back(True)": _seat("take_back", expected=True),
    "take_seat(5)": _seat("take_seat", 5),
    "take_seat(half)": _seat("take_seat", HALF),
    "take_seat(token)": _seat("take_seat", "Ann", token=5),
    "take_seat(confirmation)": _seat("take_seat", "Ann", confirmation="panel"),
    "take_seat(code)": _seat("take_seat", "Ann", code=1234),
    "set_confirmation": _seat("set_confirmation", "panel"),
    "rematch": _seat("rematch", order="sideways"),
    "attach_panel(uid)": _seat("attach_panel", "7", TOKEN, [1]),
    "attach_panel(seats)": _seat("attach_panel", 7, TOKEN, 1),
    "attach_panel(seat)": _seat("attach_panel", 7, TOKEN, ["1"]),
    "press(button)": _panel("press", "1"),
    "press(gesture)": _panel("press", 1, "long"),
    "hold(report)": _panel("hold", "fine"),
    "new_table(seats)": _new(seats="3"),
    "new_table(-1)": _new(seats=-1),
    "new_table(options)": _new(options=["points=on"]),
    "new_table(option)": _new(options={"points": True}),
    "new_table(title)": _new(title=HALF),
    "new_table(seed)": _new(seed="00"),
    "new_table(components)": _new(components="{}"),
    "new_table(takeback)": _new(takeback="host"),
    "new_table(clock)": _new(clock="15m + 10s"),
    "new_table(absence)": _new(absence="bot"),
    "new_table(delay)": _new(spectator_delay="10m"),
    "new_table(host token)": _new(host_token=5),
    "new_table(unlisted)": _new(unlisted="yes"),
    "time_up": _new(clock=Clock.per_turn(5, time_up="explode")),  # type: ignore[arg-type]
    "step text": _new(clock=Clock.per_turn("x")),  # type: ignore[arg-type]
    "step True": _new(clock=Clock.per_turn(True)),
    "start": _new(clock=Clock.count_up(start="5m")),  # type: ignore[arg-type]
    "kind": _new(clock=Clock("per turn")),  # type: ignore[arg-type]
    "if away": _new(absence=Absence("bot")),  # type: ignore[arg-type]
    "grace": _new(absence=Absence(grace=None)),  # type: ignore[arg-type]
    "rules(5)": lambda client: client.rules(5),
    "check_component_set": lambda client: client.check_component_set("spice-road", "{}"),
    "resolve_code(5)": lambda client: client.resolve_code(5),
    "import_table": lambda client: client.import_table("{}", token=TOKEN),
    "import_table(token)": lambda client: client.import_table(b"{}", token="short"),
    "table(5)": lambda client: client.table(5).view(),
    "token": lambda client: client.table("t1", token=b"t" * 32).view(),
    "log": lambda client: _log(client, -1),
    "tables": lambda client: _tables(client, "many"),
    "watch(resume)": lambda client: _watch(client, resume=5),
    "watch(silence)": lambda client: _watch(client, silence="long"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_value_that_cannot_be_sent_is_told_and_nothing_is_sent(
    name: str, client: Client
) -> None:
    """The scripted service expects no call at all."""
    with pytest.raises(BadValue) as raised:
        await WRONG[name](client)
    assert len(raised.value.sentence) > 10


@pytest.mark.parametrize(
    "made",
    [
        lambda: Clock.correspondence(days="3"),  # type: ignore[arg-type]
        lambda: Clock.correspondence(hours=True),
        lambda: connect(5),  # type: ignore[arg-type]
        lambda: connect(retry=5),  # type: ignore[arg-type]
        lambda: connect(root_certificates="PEM"),  # type: ignore[arg-type]
        lambda: Seat(None, "t1", "1", token=TOKEN),  # type: ignore[arg-type]
        lambda: Panel(None, "t1", "7", token=TOKEN, holder="here"),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_nothing_can_be_made_of(made: Callable[[], object]) -> None:
    with pytest.raises(errors.NotSent):
        made()


def test_the_sentence_says_what_is_wanted_and_what_was_given() -> None:
    with sync.connect("127.0.0.1:1") as client:
        seat = client.seat("t1", 1, token=new_token())
        for call, words in (
            (lambda: seat.say(5), "text is a text of whole characters, not 5"),  # type: ignore[arg-type]
            (lambda: seat.chat(-1), "after number is a whole number from 0 to"),
            (lambda: seat.add_time("x"), "a time is a number of seconds, not 'x'"),  # type: ignore[arg-type]
            (lambda: seat.rematch(order="up"), "RematchOrder.ROTATED"),  # type: ignore[arg-type]
        ):
            with pytest.raises(BadValue) as raised:
                call()
            assert words in raised.value.sentence


def test_every_clock_may_have_a_start_clock() -> None:
    clocks = (
        Clock.count_up(start=300),
        Clock.per_turn(90, start=300),
        Clock.increment(900, 10, start=300),
        Clock.delay(900, 5, start=300),
        Clock.correspondence(days=3, start=300),
    )
    assert {clock.kind for clock in clocks} == {*ClockKind} - {ClockKind.NONE}
    assert all(clock.message.start.seconds == 300 for clock in clocks)
