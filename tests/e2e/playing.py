"""Plays any game by taking legal choices at random; what is legal the service says alone.

    python -m tests.e2e.playing CONFIG     a player in a process of its own, until stdin ends

Each change is made with a request id, and repeated as it was until it is answered; what was
answered is written into a ledger.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import grpc

from tableturn.v1 import table_pb2, table_pb2_grpc
from tableturn.v1.actions_pb2 import Action, Choice, CubeBounds, Cubes
from tableturn.v1.table_pb2 import TableStatus
from tests.e2e import ledger
from tests.e2e.calls import OPTIONS, TIMEOUT, Refusal, bearer, refusal_of
from tests.e2e.following import PAUSE, Follower, following

_SINGULAR = {
    "tiles": "tile",
    "colors": "cube",
    "seats": "seat",
    "bonuses": "bonus",
    "piles": "pile",
    "cards": "card",
}
_LATE = ("STALE_REVISION", "NOT_ASKED", "CANNOT_CONFIRM", "GAME_OVER", "NOTHING_TO_UNDO")
"""What a player may be told without a fault: others were quicker, or the turn isn't ready."""


def pick(choice: Choice, random: Random) -> Action:
    """An action within a choice, built as `actions.proto` says and by no other knowledge."""
    action = Action()
    message = getattr(action, choice.kind)
    message.SetInParent()
    for field, offered in choice.ListFields():
        if field.name in _SINGULAR:
            value = random.choice(offered)
            name = _SINGULAR[field.name]
            if isinstance(value, Cubes):
                getattr(message, name).CopyFrom(value)
            else:
                setattr(message, name, value)
        elif field.name in ("count", "points"):
            setattr(message, field.name, random.randint(offered.min, offered.max))
        elif field.name == "cubes":
            message.cubes.CopyFrom(_bundle(offered, random))
            message.cubes.SetInParent()
    return action


def _bundle(bounds: CubeBounds, random: Random) -> Cubes:
    there = [
        color
        for color in ("yellow", "red", "green", "brown")
        for _ in range(getattr(bounds.available, color))
    ]
    taken = random.sample(there, random.randint(bounds.min, min(bounds.max, len(there))))
    return Cubes(**{color: taken.count(color) for color in set(taken)})


@dataclass(frozen=True)
class Config:
    """Who plays where. `lines` are rows of tables: of each the first that is not over is played."""

    address: str
    lines: list[list[str]]
    token: str
    seat: int
    ledger: str
    seed: int


class Player:
    """One seat at a table."""

    def __init__(
        self, config: Config, table_id: str, note: Callable[[ledger.Line], None], random: Random
    ) -> None:
        self._config = config
        self._table_id = table_id
        self._note = note
        self._random = random
        self._channel = grpc.aio.insecure_channel(config.address, options=OPTIONS)
        self._stub = table_pb2_grpc.TableServiceStub(self._channel)
        self._follower = Follower(config.address, table_id, config.token, config.seat)
        self._number = 0

    async def play(self, stop: asyncio.Event) -> None:
        """Play until the game is over, or everybody shall stop."""
        follower = self._follower
        try:
            async with following(follower):
                while not stop.is_set():
                    view = follower.view
                    if view is not None and view.status == TableStatus.TABLE_STATUS_FINISHED:
                        break
                    if not await self._step():
                        await self._news()
        finally:
            await self._channel.close()
            for revision, change_id in follower.told:
                self._note(ledger.Told(self._table_id, self._config.seat, revision, change_id))
            for fault in follower.faults:
                self._fault(fault)

    async def _news(self) -> None:
        """Wait for the watch to tell something; look again if it says nothing for a while."""
        self._follower.news.clear()
        try:
            async with asyncio.timeout(0.5):
                await self._follower.news.wait()
        except TimeoutError:
            pass

    async def _step(self) -> bool:
        """One step of what the seat is asked; False if it is asked nothing."""
        request = table_pb2.ListActionsRequest(table_id=self._table_id, seat=self._config.seat)
        asked = await self._insist(self._stub.ListActions, request)
        if isinstance(asked, Refusal):
            self._fault(f"ListActions: {asked}")
            return False
        if not asked.HasField("prompt"):
            return False
        choices = [choice for choice in asked.choices if choice.kind != "finish_game"]
        dice = self._random.random()
        staged = self._follower.view is not None and any(
            turn.seat == self._config.seat for turn in self._follower.view.staged
        )
        if staged and dice < 0.1:
            await self._change("undo", asked.revision)
        elif asked.prompt.can_confirm and (not choices or dice < 0.35):
            await self._change("confirm", asked.revision)
        elif choices:
            action = pick(self._random.choice(choices), self._random)
            did = "act and confirm" if dice > 0.75 else "act"
            await self._change(did, asked.revision, [action])
        else:
            self._fault(f"there is no way on: {asked}")
            return False
        return True

    async def _change(self, did: str, revision: int, actions: Sequence[Action] = ()) -> None:
        """Make a change, and note that it was acknowledged."""
        self._number += 1
        same: dict[str, Any] = {
            "table_id": self._table_id,
            "seat": self._config.seat,
            "request_id": f"{self._config.seat}-{self._number}",
            "expected_revision": revision,
        }
        match did:
            case "undo":
                answer = await self._insist(self._stub.Undo, table_pb2.UndoRequest(**same))
            case "confirm":
                answer = await self._insist(self._stub.Confirm, table_pb2.ConfirmRequest(**same))
            case _:
                confirm = did == "act and confirm"
                request = table_pb2.ActRequest(**same, actions=actions, confirm=confirm)
                answer = await self._insist(self._stub.Act, request)
        if isinstance(answer, Refusal):
            if answer.reason not in _LATE:
                self._fault(f"{did} {actions}: {answer}")
            return
        self._note(
            ledger.Done(
                table_id=self._table_id,
                seat=self._config.seat,
                request_id=same["request_id"],
                did=did,
                revision=answer.revision,
                replayed=answer.replayed,
                actions=[a.SerializeToString(deterministic=True).hex() for a in actions],
            )
        )

    async def _insist(self, call: Any, request: Any) -> Any:
        """Repeat a call as it is until it is answered, or refused for good."""
        while True:
            try:
                return await call(request, metadata=bearer(self._config.token), timeout=TIMEOUT)
            except grpc.aio.AioRpcError as error:
                refusal = refusal_of(error)
                if not refusal.transient:
                    return refusal
            await asyncio.sleep(PAUSE)

    def _fault(self, what: str) -> None:
        self._note(ledger.Fault(self._table_id, self._config.seat, what))


async def main(config: Config) -> None:
    """Play at one table of each line at a time, until stdin ends."""
    stop = asyncio.Event()
    random = Random(config.seed)
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), stop.set)
    with Path(config.ledger).open("a") as file:  # noqa: ASYNC230

        def note(line: ledger.Line) -> None:
            ledger.write(file, line)

        async def play_on(line: Sequence[str]) -> None:
            for table_id in line:
                if not stop.is_set():
                    player = Player(config, table_id, note, Random(random.random()))
                    await player.play(stop)

        async with asyncio.TaskGroup() as group:
            for line in config.lines:
                group.create_task(play_on(line))


def as_text(config: Config) -> str:
    """The configuration as the argument of a process."""
    return json.dumps(asdict(config))


if __name__ == "__main__":
    asyncio.run(main(Config(**json.loads(sys.argv[1]))))
