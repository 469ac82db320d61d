"""Clocks, absence, stand-ins and votes as they are drawn: shown, and never decided (C2)."""

from datetime import timedelta

import pytest
from rich.text import Text

from tableturn.v1 import clock_pb2, company_pb2, table_pb2
from tableturn_client.drawing import ASCII, Eyes, Look, clocks, draw, lobby, log, people, talk
from tableturn_client.drawing.moment import AS_SEEN, Moment
from tableturn_client.drawing.seats import Seats
from tableturn_client.play import scene
from tableturn_client.play.pages import next_table
from tableturn_client.play.scene import Scene
from tests.client.evenings import after, at, away, minutes, timed
from tests.client.test_drawing import lines, table, widest, written

SMALL = Look(80, 24)


def drawn(view: table_pb2.TableView, moment: Moment = AS_SEEN, look: Look = SMALL) -> str:
    return people.lines(view, look, moment).plain


@pytest.mark.parametrize(
    ("seconds", "face"),
    [
        (0, "0:00"),
        (0.2, "0:01"),  # only nothing at all is zero
        (59, "0:59"),
        (754, "12:34"),
        (3_723, "1:02:03"),
        (86_399, "23:59:59"),
        (2 * 86_400 + 4 * 3_600, "2 d 4 h"),
        (-5, "0:00"),
    ],
)
def test_the_face_of_a_clock(seconds: float, face: str) -> None:
    assert clocks.shown(timedelta(seconds=seconds)) == face


@pytest.mark.parametrize(
    ("seconds", "span"),
    [(20, "20 s"), (180, "3 min"), (3_700, "61 min"), (7_300, "2 h"), (180_000, "2 days")],
)
def test_how_long_somebody_is_away(seconds: float, span: str) -> None:
    assert clocks.span(timedelta(seconds=seconds)) == span


@pytest.mark.case("C2")
def test_the_clock_that_runs_follows_the_services_time() -> None:
    view = timed()
    assert drawn(view).startswith("1 Anna 11:34   ▶ 2 Ben 0:42   3 Çağla 11:34")
    assert "▶ 2 Ben 0:35 " in drawn(view, at(7))
    assert "1 Anna 11:34" in drawn(view, at(7))


def test_little_time_is_said_in_words() -> None:
    view = timed()
    assert "low" not in drawn(view, at(11.5))
    assert "2 Ben 0:30 low" in drawn(view, at(12))


@pytest.mark.case("C2", "R9")
def test_a_clock_at_zero_has_not_run_out_before_the_service_says_so() -> None:
    view = timed()
    assert "2 Ben 0:00 low" in drawn(view, at(100))
    assert "ran out" not in drawn(view, at(100))
    view.seats[1].clock.ran_out = True
    view.seats[1].clock.ClearField("deadline")
    assert "2 Ben ran out" in drawn(view, at(100))


def test_a_seat_that_has_no_time_before_its_turn_shows_none() -> None:
    view = timed()
    view.seats[0].clock.left.Clear()
    view.seats[0].clock.left.SetInParent()
    assert "1 Anna 0:00" in drawn(view)  # an empty bank
    view.clock.kind = clock_pb2.CLOCK_KIND_PER_TURN
    assert "Anna" not in drawn(view)
    assert "▶ 2 Ben 0:42" in drawn(view)


def test_time_that_is_only_counted() -> None:
    view = timed()
    view.clock.kind = clock_pb2.CLOCK_KIND_COUNT_UP
    view.seats[1].clock.ClearField("deadline")
    assert "1 Anna 1:00 used" in drawn(view, at(2))
    assert "▶ 2 Ben 2:10 used" in drawn(view, at(2))  # two minutes, and ten seconds of this turn


def test_who_is_away_and_for_how_long() -> None:
    assert "1 Anna 11:34, away 3 min" in drawn(timed(), at(0, away(1)))
    assert "1 Anna away 4 min" in drawn(_untimed(), at(60, away(1)))


def _untimed() -> table_pb2.TableView:
    view = timed()
    view.ClearField("clock")
    for seat in view.seats:
        seat.ClearField("clock")
    return view


def test_without_anything_to_tell_nothing_is_drawn() -> None:
    assert drawn(_untimed(), at(0, away())) == ""
    assert drawn(timed("lobby")) == ""
    assert drawn(timed("result")) == ""


def test_a_bot_that_plays_for_somebody() -> None:
    view = timed()
    view.seats[0].stand_in = "greedy"
    assert "greedy plays for 1 Anna 11:34" in drawn(view)
    view.seats[0].stand_in = "\x1b[2Jbad\u202e"
    assert "\x1b" not in drawn(view)


def test_the_turn_of_a_bot_that_plays_for_me_is_not_mine() -> None:
    view = timed()
    view.seats[1].stand_in = "greedy"
    text = draw(view, SMALL, Eyes((2,), 2)).plain
    assert "YOUR TURN" not in text
    assert "greedy plays for 2 Ben (blue)" in text


def test_the_host_votes_and_free_seats() -> None:
    view = _untimed()
    view.host_seat = 4
    view.seats[0].occupant = table_pb2.OCCUPANT_NOBODY
    view.drop_votes.add(seat=4, voters=[1, 2], waiting_for=[3])
    assert drawn(view) == "1 Anna left   4 Dörte-Wilhe~ host"
    text = draw(view, SMALL).plain
    assert "to leave the game: 4 Dörte-Wilhe~, wished by 12, still asked: 3" in text


def test_who_has_left_the_game_has_no_clock() -> None:
    view = timed()
    view.seats[2].dropped = True
    assert "Çağla" not in drawn(view)


# ---------------------------------------------------------------- time that is nobody's


def test_a_pause_is_counted() -> None:
    view = timed()
    view.paused = True
    view.standing_since.FromDatetime(after(-72))
    view.paused_time.FromTimedelta(minutes(4))
    assert clocks.standing(view, at(0)) == "paused for 1:12, 5:12 in all; no clock runs"
    text = draw(view, SMALL, Eyes(moment=at(0))).plain
    assert " PAUSED  no turns until it is resumed (paused for 1:12" in text


def test_time_between_rounds_is_counted() -> None:
    view = timed("free_turns")
    view.standing_since.FromDatetime(after(-20))
    assert clocks.standing(view, at(5)) == "between rounds for 0:25; no clock runs"
    assert clocks.standing(timed(), at(5)) == ""


# ---------------------------------------------------------------- what was agreed


@pytest.mark.parametrize(
    ("kind", "bank", "step", "told"),
    [
        (clock_pb2.CLOCK_KIND_COUNT_UP, 0, 0, "time is counted, and never runs out"),
        (clock_pb2.CLOCK_KIND_PER_TURN, 0, 90, "1:30 for each turn"),
        (
            clock_pb2.CLOCK_KIND_INCREMENT,
            900,
            10,
            "15:00 for the game, and 0:10 more with each turn",
        ),
        (clock_pb2.CLOCK_KIND_INCREMENT, 900, 0, "15:00 for the game"),
        (
            clock_pb2.CLOCK_KIND_DELAY,
            900,
            5,
            "15:00 for the game, which begins to run 0:05 into a turn",
        ),
        (
            clock_pb2.CLOCK_KIND_CORRESPONDENCE,
            0,
            259_200,
            "3 d 0 h for each turn, by correspondence",
        ),
    ],
)
def test_each_clock_is_told_before_the_start(
    kind: clock_pb2.ClockKind.ValueType, bank: int, step: int, told: str
) -> None:
    view = table("lobby")
    view.clock.kind = kind
    view.clock.bank.seconds, view.clock.step.seconds = bank, step
    assert clocks.terms(view) == [f"Clock: {told}."]
    assert f"Clock: {told}." in " ".join(lobby.draw(view, SMALL).plain.split())


def test_what_happens_then_and_who_may_see_it() -> None:
    view = timed("lobby")
    view.clock.timeout = clock_pb2.TIMEOUT_POLICY_BOT
    view.clock.start.FromTimedelta(minutes(5))
    view.absence.policy = clock_pb2.ABSENCE_POLICY_DROP
    view.private = True
    view.spectator_delay.FromTimedelta(minutes(10))
    text = " ".join(lobby.draw(view, SMALL).plain.split())
    assert "; then a bot plays on." in text
    assert "For who is late: 5:00 more at a seat's first turn." in text
    assert "After 2 min, who is away leaves the game." in text
    assert "Private: others join with the code only." in text
    assert "Spectators see it 10 min later." in text
    assert clocks.terms(table("lobby")) == []


def test_whoever_sees_it_later_is_told_so_and_sees_the_clocks_of_that_time() -> None:
    view = timed()
    view.behind.FromTimedelta(minutes(10))
    late = Moment(after(600 + 2))
    text = draw(view, SMALL, Eyes(moment=late)).plain
    assert "10 min behind" in text.splitlines()[0]
    assert "▶ 2 Ben 0:40" in text


# ---------------------------------------------------------------- log and talk


@pytest.mark.parametrize(
    "kind",
    [
        table_pb2.CHANGE_KIND_ADD_TIME,
        table_pb2.CHANGE_KIND_TIME_OUT,
        table_pb2.CHANGE_KIND_STAND_IN,
        table_pb2.CHANGE_KIND_COME_BACK,
        table_pb2.CHANGE_KIND_VOTE_DROP,
        table_pb2.CHANGE_KIND_PASS_HOST,
        table_pb2.CHANGE_KIND_OUTAGE,
        table_pb2.CHANGE_KIND_RESEAT,
    ],
)
def test_the_log_tells_of_time_and_people(kind: table_pb2.ChangeKind.ValueType) -> None:
    entry = table_pb2.LogEntry(kind=kind, lines=["the time of Ben is up"])
    [line] = log.entry(entry, Seats())
    assert "the time of Ben is up" in line.plain
    assert line.spans


def test_what_is_said_is_harmless() -> None:
    line = company_pb2.ChatLine(seat=2, name="Ben", text="hi\x1b[2J \u202eall\n!")
    assert talk.line(line).plain == "2 Ben: hi[2J all !"
    assert talk.line(company_pb2.ChatLine(text="welcome")).plain == "the host: welcome"


@pytest.mark.parametrize(
    ("who", "told"),
    [
        (away(), "here: seats 1, 2, 3 and 4; 2 look on"),
        (away(2), "here: seats 1, 3 and 4; away: seat 2; 2 look on"),
        (company_pb2.Presence(spectators=1), "1 looks on"),
        (company_pb2.Presence(), "nobody is seen here"),
    ],
)
def test_who_is_there_in_a_sentence(who: company_pb2.Presence, told: str) -> None:
    assert people.who_is_there(who) == told


# ---------------------------------------------------------------- room

NAMES = ("start", "middle", "free_turns", "spice_turn", "spice_acquire", "sea_turn", "sea_acquire")


def busy(name: str) -> table_pb2.TableView:
    """A table at which everything goes on at once."""
    view = timed(name)
    view.seats[0].stand_in = "greedy"
    view.host_seat = 2
    view.drop_votes.add(seat=1, voters=[2])
    return view


@pytest.mark.parametrize("name", NAMES)
def test_nothing_breaks_on_a_small_screen(name: str) -> None:
    console = Look(80, 24)
    log_ = [Text(f"line {number}") for number in range(50)]
    for who in (None, away(1, 2, 3, 4)):
        now = Scene(busy(name), (2,), 2, log_, moment=at(20, who))
        ticking = scene.ticking(now, console)
        assert ticking.plain.count("\n") < 2
        room = Look(80, 24 - 2 - lines(ticking.plain))
        whole = scene.whole(now, room)
        assert whole.plain.count("\n") < room.height
        assert widest(written(whole, 80)) <= 80
        assert widest(written(ticking, 80)) <= 80
        assert "▶ 2 " in ticking.plain
        assert "0:22 low" in ticking.plain
        assert "0:22" not in whole.plain  # it would stand still there


@pytest.mark.parametrize("width", [20, 40, 50, 80, 132])
def test_the_lines_fit_any_width(width: int) -> None:
    for who in (None, away(1, 2, 3, 4)):
        for most in (0, 1, 2):
            text = people.lines(busy("spice_turn"), Look(width, 24), at(20, who), most)
            assert widest(text.plain) <= width
            assert not most or lines(text.plain) <= most


def test_plain_ascii_where_nothing_else_can_be_written() -> None:
    text = drawn(busy("free_turns"), at(20), Look(80, 24, ASCII))
    assert text.replace("Ç", "C").replace("ğ", "g").replace("ö", "o").isascii()
    assert "> 2 Ben 0:22 low" in text


def test_the_start_clock_is_shown_apart_from_a_seats_own_time() -> None:
    view = timed()
    first = view.seats[0].clock
    first.left.FromTimedelta(minutes(20))
    first.start_left.FromTimedelta(minutes(5))
    assert drawn(view).startswith("1 Anna 15:00 +5:00 start")
    running = view.seats[1].clock
    running.start_left.FromTimedelta(timedelta(seconds=20))  # since eight seconds before
    assert "2 Ben 0:30 +0:12 start" in drawn(view, at(0))
    assert "2 Ben 0:30 +0:05 start" in drawn(view, at(7))
    view.clock.kind = clock_pb2.CLOCK_KIND_COUNT_UP
    assert "1 Anna 1:00 used +5:00 start" in drawn(view)


def test_whether_a_clock_runs_is_said_in_words() -> None:
    view = timed()
    first, second = view.seats[:2]
    assert [clocks.state(view, seat) for seat in (first, second)] == ["", "runs"]
    second.clock.ran_out = True
    assert clocks.state(view, second) == "time is up; the turn goes on"
    second.stand_in = "greedy"
    assert clocks.state(view, second) == "greedy plays on for them"
    first.occupant = table_pb2.OCCUPANT_NOBODY
    assert clocks.state(view, first) == "nobody sits there"


def test_what_happens_to_whoever_goes_away() -> None:
    view = timed()
    assert clocks.leaving(view) == ""
    view.clock.timeout = clock_pb2.TIMEOUT_POLICY_DROP
    assert clocks.leaving(view) == "before your time is up, or the seat leaves the game"
    view.absence.policy = clock_pb2.ABSENCE_POLICY_BOT
    view.absence.grace.FromTimedelta(minutes(10))
    assert clocks.leaving(view) == "within 10 min, or a bot plays on"
    view.clock.kind = clock_pb2.CLOCK_KIND_CORRESPONDENCE  # nobody is ever away
    assert clocks.leaving(view) == "before your time is up, or the seat leaves the game"
    view.status = table_pb2.TABLE_STATUS_OPEN
    assert clocks.leaving(view) == ""


def test_another_game_is_made_with_the_same_clock_and_absence() -> None:
    view = timed("result")
    view.clock.timeout = clock_pb2.TIMEOUT_POLICY_BOT
    view.absence.policy = clock_pb2.ABSENCE_POLICY_DROP
    told = next_table(view, "").plain
    assert '--clock "15m + 10s" --time-up bot --absence drop' in told
