"""The panel's own firmware on the emulated board: its number, and that two runs are the same."""

from __future__ import annotations

import random

from tableturn_bridge.frames import Decoder, encode
from tableturn_bridge.protocol import Hello, HelloRequest, Ping, Pong, SetUid, State
from tests.bridge.emulator.client import Emulator
from tests.support import boards

UID = 0x1234ABCD


def hello(board: Emulator) -> Hello:
    """The last greeting of the firmware."""
    messages = Decoder().feed(board.sent())
    return [message for message in messages if isinstance(message, Hello)][-1]


def greeted(board: Emulator) -> Hello:
    """What it says to a host."""
    board.events.clear()
    board.send(encode(HelloRequest(1, 1, 7), 1))
    board.run(ms=30)
    return hello(board)


def test_a_number_that_is_put_into_the_eeprom_is_the_firmwares() -> None:
    with Emulator(boards.firmware(4), uid=UID) as board:
        board.ask("watch line")
        board.run(ms=300)
        assert hello(board).uid == UID
        assert board.ask("state")["uid"] == str(UID)


def test_a_number_that_the_firmware_keeps_is_read_from_the_eeprom() -> None:
    with Emulator(boards.firmware(4)) as board:
        board.ask("watch line")
        board.run(ms=300)
        assert greeted(board).uid == 0
        assert board.ask("state")["uid"] == "0"
        board.send(encode(SetUid(UID), 2))
        board.run(ms=100)
        assert board.ask("state")["uid"] == str(UID)
        board.ask("unplug")
        board.ask("plug")
        board.run(ms=500)
        assert greeted(board).uid == UID


def evening(seed: int) -> list[str]:
    """Every line that the emulator says in some seconds of everything at the same time."""
    chance = random.Random(seed)
    with Emulator(boards.firmware(6, pixels=True), noise=0.02, seed=seed) as board:
        for topic in ("all", "host"):
            board.ask(f"watch {topic}")
        for number in range(60):
            lamps = tuple(chance.randrange(12) | chance.randrange(9) << 4 for _ in range(6))
            board.send(encode(HelloRequest(1, 1, number + 1), number))
            board.send(encode(State(1, number, 0x3F, 0, lamps, 0, 128), number))
            board.send(encode(Ping(number), number))
            button, edges = chance.randrange(6), 2 * chance.randrange(20)
            closed = chance.choice(("closed", "open"))
            board.ask(
                f"contact {button} {closed} bounces={edges} every={chance.randrange(50, 900)}"
            )
            if number % 10 == 9:
                board.ask(chance.choice(("hang", "reset external", "reset brown_out")))
            board.run(us=chance.randrange(1, 120_000))
            for question in ("state", "lamps", "stack", "clock"):
                board.ask(question)
        return board.lines


def test_two_runs_are_the_same_byte_by_byte_and_another_seed_is_not() -> None:
    first = evening(1)
    assert len(first) > 1000
    assert evening(1) == first
    assert evening(2) != first


def test_full_traffic_with_pixels_on_loses_no_byte() -> None:
    with Emulator(boards.firmware(6, pixels=True)) as board:
        board.ask("watch line")
        board.run(ms=300)
        greeted(board)
        board.events.clear()
        lamps = (0x11, 0x22, 0x33, 0x44, 0x55, 0x66)
        frame = encode(State(1, 1, 0x3F, 0, lamps, 0, 90), 2)
        for number in range(40):
            board.send(20 * frame + encode(Ping(number), 3))
            board.run(ms=100)  # 40 of them are bytes without a gap
        state = board.ask("state")
        assert (state["overruns"], state["pixel_faults"]) == ("0", "0")
        pongs = [m for m in Decoder().feed(board.sent()) if isinstance(m, Pong)]
        assert [pong.token for pong in pongs] == list(range(40))
        assert (pongs[-1].overruns, pongs[-1].crc_errors) == (0, 0)
