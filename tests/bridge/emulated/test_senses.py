"""What the emulator tells, line by line, and what is known by that."""

from tableturn_bridge import frames
from tableturn_bridge.emulated.process import Happening
from tableturn_bridge.emulated.senses import Senses
from tableturn_bridge.protocol import Event, Hello, HelloRequest

from .room import nothing


def sensing(*lines: str) -> Senses:
    senses = Senses(2, 0)
    assert (senses.is_open, senses.crashed) == (False, "")
    told(senses, *lines)
    return senses


def told(senses: Senses, *lines: str) -> None:
    for line in lines:
        senses.take_in(Happening.read(line))


def on_the_line(way: str, at: int, *messages: object) -> list[str]:
    sent = [frames.encode(message, 0) for message in messages]  # type: ignore[arg-type]
    return [f"! {way} {data.hex()} t={at}" for data in sent]


def test_a_start_a_greeting_and_a_press() -> None:
    senses = sensing(
        "! start power_on t=1000",
        "! opened t=2000",
        "! lamp 0 255 t=2500",
        "! lamp 5 255 t=2500",
        *on_the_line("rx", 300_000, HelloRequest(1, 1, 5)),
        *on_the_line("tx", 303_000, Hello(1, 1, 0, 44, 5, 1, 2, 1, 0)),
        *on_the_line("rx", 310_000, nothing),
        "! contact 1 closed t=320000",
        "! contact 1 open t=380000",
        *on_the_line("tx", 391_000, Event(5, 1, 1, 1, 255, 0x1234, 57, 61, 0)),
    )
    assert senses.is_open
    assert senses.now == 391.0
    board = senses.board
    assert (board.uid, board.session, board.waiting) == (44, 5, 1)
    assert board.picture == nothing
    assert board.resets == {"POWER_ON": 1}
    assert senses.seen(1e6)[0].level == 255
    told(senses, "! closed t=400000", "! off t=400000")
    assert (senses.is_open, board.session) == (False, 0)
    assert board.waiting == 0
    assert [outcome.fate for outcome in board.take_outcomes()] == ["LOST"]
    assert [lamp.sign for lamp in senses.seen(0)] == ["DARK"] * 2
    assert senses.seen(1e6)[0].since == 1e6 + 400


def test_pixels_the_master_button_and_a_crash() -> None:
    senses = sensing(
        "! start watchdog t=1000",
        "! pixels FF0000,00FF00 t=2000",
        "! contact master closed t=3000",
        "! something new t=4000",
    )
    assert [lamp.pixel for lamp in senses.seen(0)] == ["FF0000", "00FF00"]
    senses.pass_time(20)
    assert senses.board.down_since(255) == 11
    told(senses, "! crash stack t=30000")
    assert senses.crashed == "stack"
    assert senses.board.life is None
