"""Fingers that wait to see what becomes of their gestures, and a line that does harm."""

import random

import pytest

from tableturn_bridge.protocol import NO_BUTTON, Kind
from tableturn_bridge.virtual.board import Board, Fate, Outcome
from tableturn_bridge.virtual.contacts import Gesture, Sight
from tableturn_bridge.virtual.fingers import Fingers
from tableturn_bridge.virtual.noise import Noise


def outcome(button: int, pressed_at: int, fate: Fate = Fate.ACCEPTED) -> Outcome:
    gesture = Gesture(Kind.PRESS, button, NO_BUTTON, Sight(), pressed_at, pressed_at + 60)
    return Outcome(gesture, fate, pressed_at + 100)


async def test_each_finger_hears_of_its_own_gesture_in_whatever_order() -> None:
    fingers = Fingers(Board())
    with fingers.finger(1, 1000.4) as first, fingers.finger(1, 1200.4) as second:
        fingers.tell(outcome(0, 1208, Fate.STALE), 1300)
        assert (first.acked_at, second.acked_at) == (0, 1300)
        fingers.tell(outcome(1, 1000), 1310)  # another button
        assert first.acked_at == 0
        fingers.tell(outcome(0, 1000, Fate.ACCEPTED), 1320)
        assert first.outcome is not None
        assert second.outcome is not None
        assert (first.outcome.fate, second.outcome.fate) == (Fate.ACCEPTED, Fate.STALE)


async def test_a_finger_hears_of_the_first_gesture_only() -> None:
    """One that bounces so badly that it makes two is told of the one that it meant."""
    fingers = Fingers(Board())
    with fingers.finger(1, 1000) as finger:
        fingers.tell(outcome(0, 1008, Fate.ACCEPTED), 1100)
        fingers.tell(outcome(0, 1080, Fate.STALE), 1200)
        assert finger.outcome is not None
        assert finger.outcome.fate == Fate.ACCEPTED
    fingers.tell(outcome(0, 2000), 2100)  # nobody waits any more


def test_moves_happen_in_the_order_of_time_and_at_their_own_times() -> None:
    edges: list[tuple[int, bool, float]] = []

    class Noted(Board):
        def edge(self, button: int, pressed: bool, now: float) -> None:
            edges.append((button, pressed, now))

    fingers = Fingers(Noted())
    assert fingers.plan(1, False, 70.0) == 70.0
    assert fingers.plan(1, True, 10.0) == 10.0
    fingers.plan(0, True, 500.0)
    fingers.move(9.9)
    assert edges == []
    assert fingers.next_time() == 10.0
    fingers.move(300.0)
    assert edges == [(0, True, 10.0), (0, False, 70.0)]
    fingers.move(500.0)
    assert edges[-1] == (NO_BUTTON, True, 500.0)
    assert fingers.next_time() is None


def test_noise_does_as_much_harm_as_was_asked_for() -> None:
    data = bytes(range(256)) * 40
    assert Noise.harming(0, random.Random(1)).through(data) == data
    dropped = Noise(0, 0.1, random.Random(1)).through(data)
    assert 0.08 * len(data) < len(data) - len(dropped) < 0.12 * len(data)
    flipped = Noise(0.1, 0, random.Random(1)).through(data)
    wrong = [before ^ after for before, after in zip(data, flipped, strict=True) if before != after]
    assert 0.08 * len(data) < len(wrong) < 0.12 * len(data)
    assert {change.bit_count() for change in wrong} == {1}
    assert len(set(wrong)) == 8
    assert Noise(0.1, 0, random.Random(1)).through(data) == flipped


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_noise_that_can_not_be(share: float) -> None:
    with pytest.raises(ValueError, match="share from 0 to 1"):
        Noise.harming(share, random.Random(1))
