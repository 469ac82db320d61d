"""Whole games of two people at one device, who type as people do."""

import asyncio
from random import Random
from typing import Any

import pytest

from tableturn.v1 import table_pb2
from tableturn_client import events, pick, to_action, to_text
from tableturn_client.handle import Done
from tableturn_client.play.faces import faces
from tableturn_client.play.seated import Seated
from tableturn_client.play.session import Session
from tableturn_server.service import convert
from tests.client import samples
from tests.client.test_play_session import Lines, Place, changed, eventually
from tests.rules.play import Table

_OFTEN = {"claim_card": 50.0, "claim_tile": 50.0, "build_outpost": 20.0, "rest": 0.3}


class Evening:
    """The rules of a game instead of a service, and a session with all of its seats."""

    def __init__(self, game: str) -> None:
        self.table = Table(game, 2, {"max_rounds": "12", "first_seat": "1"})
        self.revision = 1
        self.places = [Here(number, self) for number in (1, 2)]
        self.lines = Lines()
        seated = Seated(self.places, self.places[0], server="localhost:7430")
        self.session = Session(seated, lambda _: self.lines)
        for place in self.places:
            place.tells.put_nowait(events.Snapshot(self.seen(place.number)))

    def seen(self, seat: int) -> table_pb2.TableView:
        view = samples.seen(self.table, seat)
        view.revision = self.revision
        for prompt in view.prompts:
            prompt.asked_at = self.revision
        return view

    def become(self, line: str) -> Done:
        """Something was done: it is told to every seat."""
        self.revision += 1
        for place in self.places:
            place.tells.put_nowait(changed(self.seen(place.number), line))
        return Done(self.revision)


class Here(Place):
    """A seat of such an evening."""

    def __init__(self, number: int, evening: Evening) -> None:
        super().__init__(number)
        self._evening = evening

    async def act(self, *actions: Any, expected: int | None = None, **_: Any) -> Done:
        for action in convert.read_actions([to_action(action) for action in actions]):
            self._evening.table.stage(self.number, action)
        return self._evening.become("; ".join(map(str, actions)))

    async def confirm(self, *, expected: int | None = None, request_id: str = "") -> Done:
        self._evening.table.confirm(self.number)
        return self._evening.become(f"seat {self.number} confirms")


def said(view: table_pb2.TableView, random: Random) -> list[str]:
    """What a person may type now: the next thing to do, in one of the ways that there are."""
    prompt = view.prompts[0]
    if prompt.can_confirm and (not view.choices or random.random() < 0.5):
        return ["c", "y"] if prompt.confirm_skips else ["c"]
    choice = random.choices(view.choices, [_OFTEN.get(c.kind, 1.0) for c in view.choices])[0]
    number = list(view.choices).index(choice) + 1
    action = pick(choice, random)
    match choice.kind:
        case "put_cube":  # asked for at once: Enter, or the number of a colour
            return random.choice([[""], [random.choice(["1", "2"][: len(choice.colors)])]])
        case "trade":
            return random.choice([[f"{number} {choice.count.max}"], [to_text(action)]])
        case "play_card" | "acquire_card" | "claim_card" | "take_card":
            card = getattr(action, choice.kind).card
            known = faces(view.game_view)
            alike = [name for name in choice.cards if known[name] == known[card]]
            ways = [[to_text(action)], [f"{number} {card.lower()}"]]
            if len(choice.cards) > 1:  # else there is nothing to be asked
                ways.append([f"{number}", card])
            if len(alike) == 1:
                ways.append([f"{number} {known[card].plain.lower()}"])
            return random.choice(ways)
    return [to_text(action)]


@pytest.mark.parametrize("game", ["spice-road", "from-sand-to-sea"])
async def test_people_play_a_whole_game(game: str) -> None:
    evening, random = Evening(game), Random(game)
    session = asyncio.create_task(evening.session.run())
    while evening.table.prompts:
        before, seat = evening.revision, evening.table.prompts[0].seat
        lines = said(evening.seen(seat), random)
        evening.lines.type(*lines)
        await eventually(lambda before=before: evening.revision > before)  # type: ignore[misc]
    await asyncio.wait_for(session, 10)
    written = evening.lines.file.getvalue()
    assert "The game is over" in written
    assert "Another game: tableturn new" in written
    for refusal in ("Not possible", "does not fit", "is too much", "no action begins"):
        assert refusal not in written
    assert max(map(len, written.splitlines())) <= 80
