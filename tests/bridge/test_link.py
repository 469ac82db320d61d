"""The conversation with a panel, in virtual time: asking, pictures, pings, gestures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableturn_bridge import protocol
from tableturn_bridge.errors import (
    LinkTrouble,
    NotAPanel,
    PanelLost,
    PanelSilent,
    VersionRefused,
)
from tableturn_bridge.frames import Decoder, enclose, encode
from tableturn_bridge.gestures import REMEMBERED, Gestures
from tableturn_bridge.link import ANSWER_AGAIN, NOTHING_SHOWN, Failed, Happening, Link, Pressed, Up
from tableturn_bridge.protocol import (
    EventAck,
    HelloRequest,
    Message,
    Ping,
    Pong,
    Result,
    SetUid,
    State,
)
from tests.bridge.fake import FakePanel, hello, press

PICTURE = State(0x1234, 57, 1, 1, (0x11, 0x23, 0, 0, 0, 0), 0, 255)
LATER = State(0x1234, 58, 2, 0, (0x13, 0x21, 0, 0, 0, 0), 0, 255)


def counting(start: int = 100) -> Callable[[], int]:
    """Draws 101, 102, ..."""
    number = start

    def draw() -> int:
        nonlocal number
        number += 1
        return number

    return draw


class Host:
    """A link, what has happened there, and what it has written, in virtual time."""

    def __init__(self, panel: FakePanel | None = None, gestures: Gestures | None = None) -> None:
        self.now = 1_000
        self.panel = panel
        self.link = Link(
            port="/dev/panel", session=counting(), uid=counting(500), gestures=gestures
        )
        self.happened: list[Happening] = []
        self.sent: list[tuple[int, Message]] = []
        self._decoder = Decoder()
        self.link.show(PICTURE, self.now)

    def opens(self) -> Host:
        self.link.opened(self.now)
        self._exchange()
        return self

    def hears(self, data: bytes) -> None:
        self.happened += self.link.received(data, self.now)
        self._exchange()

    def waits(self, milliseconds: int) -> None:
        end = self.now + milliseconds
        while (due := self.link.next_at) is not None and due <= end:
            self.now = max(due, self.now)
            self.happened += self.link.tick(self.now)
            self._exchange()
        self.now = end

    def shows(self, picture: State) -> None:
        self.link.show(picture, self.now)
        self._exchange()

    def answers(self, pressed: Pressed, result: Result) -> None:
        self.link.answer(pressed.event, result, self.now)
        self._exchange()

    def _exchange(self) -> None:
        """Give what is written to the panel, and its answers back, until nobody says more."""
        while data := self.link.take():
            self.sent += [(self.now, message) for message in self._decoder.feed(data)]
            if self.panel is not None and (answer := self.panel.feed(data)):
                self.happened += self.link.received(answer, self.now)

    def times(self, kind: type[Message]) -> list[int]:
        return [now - 1_000 for now, message in self.sent if isinstance(message, kind)]

    def all(self, kind: type[Message]) -> list[Message]:
        return [message for _, message in self.sent if isinstance(message, kind)]

    @property
    def ups(self) -> list[Up]:
        return [each for each in self.happened if isinstance(each, Up)]

    @property
    def pressed(self) -> list[Pressed]:
        return [each for each in self.happened if isinstance(each, Pressed)]

    @property
    def failure(self) -> LinkTrouble:
        (failed,) = [each for each in self.happened if isinstance(each, Failed)]
        assert failed is self.happened[-1]
        assert failed.error is self.link.failed
        return failed.error


# ---------------------------------------------------------------- asking


@pytest.mark.case("H4")
def test_it_asks_each_250_ms_for_5_s() -> None:
    host = Host().opens()
    host.waits(20_000)
    assert host.times(HelloRequest) == list(range(0, 5_000, 250))
    assert isinstance(host.failure, PanelSilent)
    assert host.link.next_at is None


@pytest.mark.case("H4")
def test_a_board_that_boots_is_asked_until_it_answers_and_shown_the_picture_at_once() -> None:
    panel = FakePanel()
    host = Host().opens()
    host.waits(300)
    host.hears(b"\xf0\x0d boot\x14\x10")  # a boot loader
    host.hears(encode(press(1), 0)[3:])  # the rest of something earlier
    host.waits(1_300)
    host.panel = panel
    host.hears(panel.reset())
    assert [up.again for up in host.ups] == [False]
    assert host.link.is_up
    assert panel.shown == PICTURE
    assert host.times(State) == [1_600]
    assert host.link.hello is not None
    assert host.link.hello.session == panel.session != 0


def test_every_request_proposes_another_session() -> None:
    host = Host().opens()
    host.waits(4_000)
    sessions = [
        message.session for message in host.all(HelloRequest) if isinstance(message, HelloRequest)
    ]
    assert len(sessions) == 17
    assert len(set(sessions)) == 17


def test_a_panel_that_kept_its_session_goes_on_with_it() -> None:
    panel = FakePanel()
    panel.session = 7
    host = Host(panel).opens()
    assert host.ups == [Up(hello(session=7), again=False)]


def test_nothing_counts_before_the_first_hello() -> None:
    host = Host().opens()
    host.hears(encode(press(1), 0))
    host.hears(encode(Pong(1, 0, 0, 7, 0, 0, 0, 0), 0))
    assert host.happened == []
    assert host.all(EventAck) == []


def test_a_panel_without_a_number_gets_one_and_is_asked_again() -> None:
    panel = FakePanel(uid=0)
    host = Host(panel).opens()
    assert panel.uid == 501
    assert host.all(SetUid) == [SetUid(501)]
    assert [up.hello.uid for up in host.ups] == [501]


def test_a_panel_that_keeps_no_number_fails_after_a_while() -> None:
    host = Host().opens()
    for _ in range(30):
        host.hears(encode(hello(uid=0), 0))
        host.waits(200)
    assert isinstance(host.failure, NotAPanel)
    assert set(host.all(SetUid)) == {SetUid(501)}
    assert "keeps neither number nor session" in host.failure.problem


@pytest.mark.parametrize("buttons", [0, 1, 7, 255])
def test_a_panel_with_an_impossible_number_of_buttons_is_none(buttons: int) -> None:
    host = Host().opens()
    host.hears(encode(hello(buttons=buttons), 0))
    assert isinstance(host.failure, NotAPanel)
    assert f"{buttons} buttons" in host.failure.problem


# ---------------------------------------------------------------- why there is no answer


@pytest.mark.parametrize(
    ("heard", "kind", "words"),
    [
        (b"", PanelSilent, "nothing answers at /dev/panel"),
        (b"ok T:21.3\r\n", NotAPanel, "11 bytes that no panel sends"),
        (b"\xff\x00" * 40, NotAPanel, "80 bytes that no panel sends"),
        (encode(Pong(1, 0, 0, 7, 0, 0, 0, 0), 0), NotAPanel, "doesn't say hello"),
        (enclose(0x7E, 0, b""), NotAPanel, "doesn't say hello"),
        (encode(HelloRequest(1, 1, 9), 0), NotAPanel, "gives back what is written"),
    ],
    ids=["silence", "other", "wrong-baud", "no-hello", "unknown", "echo"],
)
def test_the_causes_are_told_apart(heard: bytes, kind: type[LinkTrouble], words: str) -> None:
    host = Host().opens()
    host.hears(heard)
    host.waits(5_000)
    assert type(host.failure) is kind
    assert words in host.failure.problem
    assert host.failure.cure.endswith(".")


@pytest.mark.case("H5")
@pytest.mark.parametrize(
    ("version", "cure"),
    [(2, "Update Tableturn"), (0, "Flash the firmware")],
    ids=["newer", "older"],
)
def test_another_version_is_refused_with_both_versions_and_the_cure(
    version: int, cure: str
) -> None:
    host = Host().opens()
    host.hears(encode(hello(protocol=version), 0))
    error = host.failure
    assert isinstance(error, VersionRefused)
    assert f"firmware 1.2) speaks protocol version {version}" in error.problem
    assert f"this program speaks version {protocol.VERSION}" in error.problem
    assert error.cure.startswith(cure)
    assert error.sentence == f"{error.problem}. {error.cure}"


@pytest.mark.case("H5")
def test_a_hello_at_boot_does_not_yet_refuse() -> None:
    # It came before the panel knew what we speak; only its answer counts.
    host = Host().opens()
    host.hears(encode(hello(protocol=2, session=0), 0))
    assert host.happened == []
    host.hears(encode(hello(protocol=1), 1))
    assert len(host.ups) == 1

    host = Host().opens()
    for number in range(2):
        host.hears(encode(hello(protocol=2, session=0), number))
    assert isinstance(host.failure, VersionRefused)


# ---------------------------------------------------------------- up


def test_the_picture_is_sent_on_a_change_soon_again_and_each_half_second() -> None:
    host = Host(FakePanel()).opens()
    host.waits(1_200)
    host.shows(LATER)
    host.shows(LATER)
    host.waits(1_000)
    assert host.times(State) == [0, 60, 180, 680, 1_180, 1_200, 1_260, 1_380, 1_880]
    assert host.panel is not None
    assert host.panel.shown == LATER


def test_before_it_is_told_anything_a_panel_shows_that_the_service_is_not_there() -> None:
    panel = FakePanel()
    link = Link(port="x", session=counting(), uid=counting())
    link.opened(0)
    link.received(panel.feed(link.take()), 0)
    panel.feed(link.take())
    assert panel.shown == NOTHING_SHOWN
    assert panel.shown.armed == 0


def test_a_picture_that_does_not_fit_is_refused_where_it_is_made() -> None:
    host = Host(FakePanel()).opens()
    with pytest.raises(ValueError, match="can't be sent"):
        host.shows(State(70_000, 0, 0, 0, (0,) * 6, 0, 0))
    host.waits(600)
    assert host.panel is not None
    assert host.panel.shown == PICTURE


def test_it_pings_each_second_and_knows_how_the_panel_is() -> None:
    host = Host(FakePanel()).opens()
    host.waits(3_500)
    assert host.times(Ping) == [0, 1_000, 2_000, 3_000]
    assert host.link.pong == Pong(4, 0, 1_000, 101, 3, 2, 1, 0)


def test_three_pings_without_an_answer_mean_that_it_is_lost() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    host.waits(2_500)
    panel.mute = True
    host.waits(3_400)  # pings at 3, 4 and 5 s; a fourth would be due at 6 s
    assert host.link.is_up
    host.waits(200)
    assert isinstance(host.failure, PanelLost)
    assert not host.link.is_up


def test_two_unanswered_pings_are_forgiven() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    for _ in range(5):
        panel.mute = True
        host.waits(2_000)
        panel.mute = False
        host.waits(1_000)
    assert host.link.is_up


def test_after_a_reset_pings_are_counted_anew() -> None:
    host = Host().opens()
    host.hears(encode(hello(session=7), 0))
    host.waits(2_500)
    host.hears(encode(hello(session=0), 1))
    host.hears(encode(hello(session=8), 2))
    host.waits(2_900)
    assert host.link.is_up
    host.waits(200)
    assert isinstance(host.failure, PanelLost)


def test_a_machine_that_slept_does_not_take_its_own_sleep_for_the_panels() -> None:
    host = Host(FakePanel()).opens()
    host.now += 600_000
    host.happened += host.link.tick(host.now)
    host._exchange()
    host.waits(1_000)
    assert host.link.is_up
    assert len(host.times(Ping)) == 3


# ---------------------------------------------------------------- resets


@pytest.mark.case("H4", "H6")
def test_a_hello_in_the_middle_means_a_reset_and_takes_the_way_of_the_first() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    host.waits(700)
    first = panel.session
    panel.heard.clear()
    host.hears(panel.reset())
    assert [up.again for up in host.ups] == [False, True]
    assert panel.session != first
    assert [type(each) for each in panel.heard] == [HelloRequest, State, Ping]
    assert panel.shown == PICTURE
    assert host.link.counts.resets == 1


@pytest.mark.case("H6")
def test_a_reset_whose_hello_got_lost_shows_in_the_next_pong() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    panel.reset()  # nobody hears it
    host.waits(1_100)
    assert [up.again for up in host.ups] == [False, True]
    assert panel.shown == PICTURE
    assert panel.session == host.ups[1].hello.session


@pytest.mark.case("H4")
def test_a_reset_panel_that_boots_slowly_is_waited_for_and_lost_after_that() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    host.panel = None  # it boots, and hears nothing
    host.hears(panel.reset())
    host.waits(2_600)
    host.panel = panel
    host.waits(300)
    assert [up.again for up in host.ups] == [False, True]

    host.panel = None
    host.hears(panel.reset())
    host.waits(5_100)
    assert isinstance(host.failure, PanelLost)


def test_a_late_answer_to_an_earlier_request_is_no_reset() -> None:
    panel = FakePanel()
    host = Host(panel).opens()
    host.waits(300)
    host.shows(LATER)
    shown = len(host.times(State))
    host.hears(panel.hello())
    assert len(host.ups) == 1
    assert len(host.times(HelloRequest)) == 1
    # It may have been dark until now: the picture comes at once.
    assert len(host.times(State)) == shown + 1
    assert host.all(State)[-1] == LATER


# ---------------------------------------------------------------- gestures


@pytest.fixture
def host() -> Host:
    panel = FakePanel()
    panel.session = 7
    return Host(panel).opens()


def acks(host: Host) -> list[Message]:
    return host.all(EventAck)


def test_a_gesture_is_told_once_seen_at_once_and_answered(host: Host) -> None:
    host.hears(encode(press(1), 0))
    assert host.pressed == [Pressed(press(1))]
    assert acks(host) == [EventAck(1, Result.SEEN, 7)]
    host.hears(encode(press(1, tries=1), 1))
    assert len(host.pressed) == 1
    assert acks(host)[1:] == [EventAck(1, Result.SEEN, 7)]
    host.answers(host.pressed[0], Result.STALE)
    assert acks(host)[2:] == [EventAck(1, Result.STALE, 7)]
    host.hears(encode(press(1, tries=2), 2))
    assert len(host.pressed) == 1
    assert acks(host)[3:] == [EventAck(1, Result.STALE, 7)]


def test_an_answer_is_said_again_as_the_first_may_get_lost(host: Host) -> None:
    host.hears(encode(press(1), 0))
    host.waits(100)
    host.answers(host.pressed[0], Result.ACCEPTED)
    host.hears(encode(press(2), 1))
    host.answers(host.pressed[1], Result.STALE)
    host.waits(5_000)
    said = [(now - 1_100, each) for now, each in host.sent if isinstance(each, EventAck)]
    first, second = EventAck(1, Result.ACCEPTED, 7), EventAck(2, Result.STALE, 7)
    assert [now for now, each in said if each == first] == [0, *ANSWER_AGAIN]
    assert [now for now, each in said if each == second] == [0, *ANSWER_AGAIN]


def test_an_answer_is_not_said_again_after_a_reset(host: Host) -> None:
    assert host.panel is not None
    host.hears(encode(press(1), 0))
    host.answers(host.pressed[0], Result.ACCEPTED)
    host.hears(host.panel.reset())
    host.waits(1_000)
    assert len(acks(host)) == 2


def test_a_gesture_never_gets_two_different_answers(host: Host) -> None:
    host.hears(encode(press(1), 0))
    host.answers(host.pressed[0], Result.ACCEPTED)
    host.answers(host.pressed[0], Result.REJECTED)
    assert acks(host)[1:] == [EventAck(1, Result.ACCEPTED, 7)]
    with pytest.raises(ValueError, match="SEEN"):
        host.answers(host.pressed[0], Result.SEEN)


def test_gestures_of_another_session_are_ignored(host: Host) -> None:
    host.hears(encode(press(1, session=8), 0))
    assert host.pressed == []
    assert acks(host) == []
    assert host.link.counts.strays == 1


def test_after_a_reset_the_same_number_is_another_gesture(host: Host) -> None:
    assert host.panel is not None
    host.hears(encode(press(1), 0))
    before = host.pressed[0]
    host.hears(host.panel.reset())
    session = host.panel.session
    host.hears(encode(press(1, session=session), 0))
    assert len(host.pressed) == 2
    host.answers(before, Result.ACCEPTED)  # the one before the reset: nobody waits for it
    assert acks(host)[-1] == EventAck(1, Result.SEEN, session)
    host.answers(host.pressed[1], Result.REJECTED)
    assert acks(host)[-1] == EventAck(1, Result.REJECTED, session)


def test_a_gesture_that_is_sent_again_over_a_new_link_is_not_told_twice() -> None:
    gestures = Gestures()
    panel = FakePanel()
    panel.session = 7
    first = Host(panel, gestures).opens()
    first.hears(encode(press(1), 0))
    first.hears(encode(press(2), 1))
    first.answers(first.pressed[0], Result.ACCEPTED)
    second = Host(panel, gestures).opens()
    second.hears(encode(press(1, tries=1), 2))
    second.hears(encode(press(2, tries=1), 3))
    assert second.pressed == []
    assert acks(second) == [EventAck(1, Result.ACCEPTED, 7), EventAck(2, Result.SEEN, 7)]
    # It was pressed before the break and answered after it.
    second.answers(first.pressed[1], Result.STALE)
    assert acks(second)[-1] == EventAck(2, Result.STALE, 7)


def test_of_gestures_a_bounded_number_is_remembered(host: Host) -> None:
    numbers = [*range(65_400, 65_536), *range(200)]
    for number in numbers:
        host.hears(encode(press(number), 0))
        host.answers(Pressed(press(number)), Result.ACCEPTED)
    assert len(host.link.gestures._results) == REMEMBERED
    # Numbers begin anew after 65535: those are other gestures than the ones long ago.
    host.hears(encode(press(65_400), 0))
    assert [pressed.event.number for pressed in host.pressed] == [*numbers, 65_400]


def test_all_gestures_that_a_panel_can_keep_are_remembered(host: Host) -> None:
    numbers = range(1, protocol.QUEUE + 1)
    for tries in range(3):
        for number in numbers:
            host.hears(encode(press(number, tries=tries), 0))
    assert [pressed.event.number for pressed in host.pressed] == [*numbers]
    # One that waits for long stays known, however many others come and go meanwhile.
    for number in range(10, 10 + 8 * protocol.QUEUE):
        host.hears(encode(press(number), 0))
        host.answers(Pressed(press(number)), Result.ACCEPTED)
    before = len(host.pressed)
    host.hears(encode(press(1, tries=3), 0))
    assert len(host.pressed) == before


def test_gestures_of_another_panel_are_other_ones_also_in_a_session_of_the_same_number() -> None:
    gestures = Gestures()
    gestures.begin(5, 7)
    assert gestures.heard(press(1)) == (True, Result.SEEN)
    assert gestures.answer(press(1), Result.ACCEPTED)
    gestures.begin(5, 7)  # the same one, back after a break
    assert gestures.heard(press(1)) == (False, Result.ACCEPTED)
    gestures.begin(6, 7)
    assert gestures.heard(press(1)) == (True, Result.SEEN)


@given(st.lists(st.binary(max_size=60), max_size=20), st.lists(st.integers(0, 3_000), max_size=20))
def test_nothing_that_comes_breaks_it(pieces: list[bytes], pauses: list[int]) -> None:
    host = Host(FakePanel()).opens()
    for piece, pause in zip(pieces, pauses, strict=False):
        host.hears(piece)
        host.waits(pause)
    assert host.link.is_up


@given(st.data())
def test_no_valid_messages_in_any_order_break_it(data: st.DataObject) -> None:
    host = Host().opens()
    for number in range(data.draw(st.integers(1, 25))):
        kind = data.draw(st.sampled_from(list(protocol.MESSAGES.values())))
        body = data.draw(st.binary(min_size=kind.FORM.size, max_size=kind.FORM.size))
        host.hears(enclose(kind.CODE, number, body))
        host.waits(data.draw(st.sampled_from([0, 100, 1_000])))
    host.waits(10_000)
    assert isinstance(host.failure, LinkTrouble)
