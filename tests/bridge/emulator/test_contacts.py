"""The buttons' contacts, as the firmware reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.emulator.client import Emulator

ALL_OPEN = bytes((0x3F, 0x04))
"""What the trial program reads of its buttons, and of the master button."""


def read(board: Emulator, letters: bytes = b"B") -> bytes:
    """The pins; a set bit is an open contact."""
    board.ask("watch all")
    board.events.clear()
    board.send(letters)
    board.run(ms=10)
    return board.sent()


@pytest.mark.parametrize("button", range(6))
def test_a_closed_contact_pulls_its_pin_down(trial: Path, button: int) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        assert read(board, b"UB") == ALL_OPEN
        board.ask(f"contact {button} closed")
        assert read(board) == bytes((0x3F ^ 1 << button, 0x04))
        board.ask(f"contact {button} open")
        assert read(board) == ALL_OPEN


def test_the_master_buttons_contact(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        board.ask("contact master closed")
        assert read(board, b"UB") == bytes((0x3F, 0))
        assert [event.words for event in board.told("contact")] == []
        board.ask("contact master open")
        assert [event.words for event in board.told("contact")] == [("master", "open")]


def test_without_a_pull_up_a_pin_reads_as_pressed(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        assert read(board) == bytes((0, 0))


def test_a_held_contact_survives_resets_and_power_cuts(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=10)
        board.ask("contact 3 closed")
        for commands in (["reset brown_out"], ["reset external"], ["unplug", "plug"]):
            for command in commands:
                board.ask(command)
            board.run(ms=100)
            assert read(board, b"UB")[-2:] == bytes((0x3F ^ 1 << 3, 0x04))


def test_bounces_come_at_their_times_and_end_in_the_wanted_state(trial: Path) -> None:
    with Emulator(trial) as board:
        board.ask("watch lamps")
        board.ask("contact 2 closed at=5000 bounces=4 every=400")
        board.run(ms=10)
        assert [(event.t, *event.words) for event in board.told("contact")] == [
            (5000, "2", "closed"),
            (5400, "2", "open"),
            (5800, "2", "closed"),
            (6200, "2", "open"),
            (6600, "2", "closed"),
        ]


def test_contacts_of_different_buttons_bounce_at_the_same_time(trial: Path) -> None:
    with Emulator(trial) as board:
        board.ask("watch lamps")
        for button in range(6):
            board.ask(f"contact {button} closed bounces=80 every=100")
        board.run(ms=10)
        assert len(board.told("contact")) == 6 * 81
        assert read(board, b"UB")[-2:] == bytes((0, 0x04))


def test_a_contact_that_is_closed_already_tells_nothing(trial: Path) -> None:
    with Emulator(trial) as board:
        board.ask("watch lamps")
        board.ask("contact 0 closed")
        board.ask("contact 0 closed")
        assert len(board.told("contact")) == 1


@pytest.mark.parametrize(
    "words",
    ["", "6 closed", "0", "0 shut", "master", "0 closed at=x", "0 closed bounces=-2", "0 open 5"],
)
def test_contacts_that_make_no_sense_are_refused(trial: Path, words: str) -> None:
    with Emulator(trial) as board:
        assert board.refused(f"contact {words}").startswith("say: contact")


def test_an_odd_number_of_bounces_and_a_time_that_has_passed_are_refused(trial: Path) -> None:
    with Emulator(trial) as board:
        board.run(ms=1)
        assert "odd number of bounces" in board.refused("contact 0 closed bounces=3")
        assert "has passed" in board.refused("contact 0 closed at=999")
        board.ask("contact 0 closed at=1000")


def test_so_many_edges_can_be_planned_and_no_more(trial: Path) -> None:
    with Emulator(trial) as board:
        for _ in range(9):
            board.ask("contact 0 closed bounces=10000 every=1")
        assert "too many edges" in board.refused("contact 0 closed bounces=10000 every=1")
        board.run(ms=11)
        board.ask("contact 0 closed bounces=10000 every=1")
