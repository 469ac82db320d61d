"""Bad calls in a turn: acting, undoing, confirming, taking back."""

from __future__ import annotations

from typing import Any

from tableturn.v1 import actions_pb2
from tableturn.v1.actions_pb2 import Action
from tests.e2e.bad_calls import NOW, Cases
from tests.e2e.calls import action

CASES = Cases()
case = CASES.add

# -- turns


def act(
    label: str,
    reason: str,
    /,
    *texts: str,
    at: str = "running",
    who: str = "ann",
    details: dict[str, object] | None = None,
    words: tuple[str, ...] = (),
    **more: Any,
) -> None:
    fields = {
        "actions": [action(text) for text in texts],
        "expected_revision": NOW,
        "confirm": not texts,
        **more,
    }
    case(label, "Act", at, who, reason, *words, details=details, **fields)


act("before the start", "NOT_STARTED", "score 1 for seat 2", at="full")
act("when it is over", "GAME_OVER", "score 1 for seat 2", at="over")
act("in a pause", "PAUSED", "score 1 for seat 2", at="paused", words=("resume",))
act("without a token", "BAD_TOKEN", "score 1 for seat 2", who="nobody")
act("as a stranger", "BAD_TOKEN", "score 1 for seat 2", who="stranger")
act("as the host", "NOT_ALLOWED", "score 1 for seat 2", who="host")
act("as the admin", "BAD_TOKEN", "score 1 for seat 2", who="admin")
act("for another seat", "NOT_ALLOWED", "score 1 for seat 2", who="bob", seat=1)
act("for a ninth seat", "UNKNOWN_NAME", "score 1 for seat 2", seat=9, of="seat")
act("out of turn", "NOT_ASKED", "score 1 for seat 2", who="bob", words=("seat 2",))
act("no revision", "BAD_FIELD", "score 1 for seat 2", expected_revision=0,
    of="expected_revision")  # fmt: skip
act("an old revision", "STALE_REVISION", "score 1 for seat 2", at="staged", expected_revision=1)
act("the next revision", "STALE_REVISION", "score 1 for seat 2", expected_revision=NOW - 1)
act("the last revision of all", "STALE_REVISION", "score 1 for seat 2",
    expected_revision=2**64 - 1)  # fmt: skip
act("nothing at all", "BAD_FIELD", confirm=False, of="actions")
act("an action of no kind", "UNREADABLE_ACTION", actions=[Action()], details={"index": 0})
act("a second action of no kind", "UNREADABLE_ACTION", details={"index": 1},
    actions=[action("score 1 for seat 2"), Action()])  # fmt: skip
act("an action of the future", "UNREADABLE_ACTION", details={"index": 0},
    actions=[Action.FromString(b"\xca\x0c\x02\x08\x01")])  # fmt: skip
act("an action of another game", "ILLEGAL_ACTION", "move C3", details={"index": 0})
act("a second action that isn't legal", "ILLEGAL_ACTION", "score 1 for seat 2",
    "score 1 for seat 3", details={"index": 1})  # fmt: skip
act("too many points", "ILLEGAL_ACTION", details={"index": 0},
    actions=[Action(score_points=actions_pb2.ScorePoints(seat=2, points=2**31 - 1))])  # fmt: skip
act("points for seat 0", "UNREADABLE_ACTION", details={"index": 0},
    actions=[Action(score_points=actions_pb2.ScorePoints(points=1))])  # fmt: skip
act("65 actions", "BAD_FIELD", *["score 1 for seat 2"] * 65, words=("64",),
    of="actions")  # fmt: skip
act("1000 actions", "BAD_FIELD", *["score 1 for seat 2"] * 1000, of="actions")
act("21 scores", "ILLEGAL_ACTION", *["score 1 for seat 2"] * 21, details={"index": 20})
act("too early a confirmation", "CANNOT_CONFIRM", at="islands", who="asked", words=("yet",))
act("no request id for an action", "BAD_FIELD", "score 1 for seat 2", request_id="",
    of="request_id")  # fmt: skip
act("no tile", "UNREADABLE_ACTION", at="islands", who="asked", details={"index": 0},
    actions=[Action(place_boat=actions_pb2.PlaceBoat())])  # fmt: skip
act("a tile that isn't there", "ILLEGAL_ACTION", at="islands", who="asked", details={"index": 0},
    actions=[Action(place_boat=actions_pb2.PlaceBoat(tile="Z99"))])  # fmt: skip
for tile in ("C3 ", "C3\n", "\x1b[2J", "C" * 10_000, "\u0663"):
    act(f"the tile {tile[:8]!a}", "UNREADABLE_ACTION", at="islands", who="asked",
        details={"index": 0}, actions=[Action(move=actions_pb2.Move(tile=tile))])  # fmt: skip
act("a cube of no colour", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(upgrade=actions_pb2.Upgrade())])  # fmt: skip
act("a cube of a ninth colour", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(upgrade=actions_pb2.Upgrade(cube=9))])  # type: ignore[arg-type]  # fmt: skip
act("a bonus of no kind", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(take_bonus=actions_pb2.TakeBonus(bonus=77))])  # type: ignore[arg-type]  # fmt: skip
MANY = actions_pb2.Cubes(yellow=2**32 - 1)
act("four thousand million cubes", "UNREADABLE_ACTION", at="islands", who="asked",
    actions=[Action(pick_up=actions_pb2.PickUp(cubes=MANY))])  # fmt: skip
act("no card", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(play_card=actions_pb2.PlayCard())])  # fmt: skip
for card in ("M12 ", "M\n", "M" * 17, "\u041c12", "../M12"):
    act(f"the card {card[:8]!a}", "UNREADABLE_ACTION", at="cards", who="asked",
        details={"index": 0},
        actions=[Action(acquire_card=actions_pb2.AcquireCard(card=card))])  # fmt: skip
for text in ("play M01", "acquire S1", "claim M12", "acquire P07", "put red on M12", "rest",
             "take card M12", "trade 1", "harvest"):  # fmt: skip
    act(f"what the cards don't allow: {text}", "ILLEGAL_ACTION", text, at="cards", who="asked",
        details={"index": 0})  # fmt: skip
act("a card in small letters", "ILLEGAL_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(play_card=actions_pb2.PlayCard(card="s1"))])  # fmt: skip
RED = actions_pb2.CUBE_COLOR_RED
for kind in ("play_card", "claim_card", "take_card"):
    message = getattr(actions_pb2, kind.title().replace("_", ""))
    act(f"a long card: {kind}", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
        actions=[Action(**{kind: message(card="M" * 17)})])  # fmt: skip
act("a cube on no card", "UNREADABLE_ACTION", at="cards", who="asked", details={"index": 0},
    actions=[Action(put_cube=actions_pb2.PutCube(cube=RED))])  # fmt: skip
act("a cube of no colour on a card", "UNREADABLE_ACTION", at="cards", who="asked",
    details={"index": 0}, actions=[Action(put_cube=actions_pb2.PutCube(card="M12"))])  # fmt: skip
act("a step with a card that can't be read", "UNREADABLE_ACTION", at="sand", who="asked",
    details={"index": 0}, actions=[Action(move=actions_pb2.Move(tile="C3", card="m 1"))]
)  # fmt: skip
for text in ("move C3 with M12", "claim P07", "acquire M99", "play S1", "take card M01"):
    act(f"what the start doesn't allow: {text}", "ILLEGAL_ACTION", text, at="sand", who="asked",
        details={"index": 0})  # fmt: skip
act("a turn without an action", "CANNOT_CONFIRM", at="cards", who="asked",
    words=("take an action",))  # fmt: skip
act("a pile that isn't there", "ILLEGAL_ACTION", "take pile BBBB", at="islands", who="asked")

case("to undo nothing", "Undo", "running", "ann", "NOTHING_TO_UNDO", expected_revision=NOW)
case("to undo for another", "Undo", "staged", "bob", "NOT_ALLOWED", seat=1, expected_revision=NOW)
case("to undo in a pause", "Undo", "paused", "ann", "PAUSED", expected_revision=NOW)
case("to undo without a revision", "Undo", "staged", "ann", "BAD_FIELD",
     of="expected_revision")  # fmt: skip
case("to undo an old question", "Undo", "staged", "ann", "STALE_REVISION", expected_revision=1)
case("to confirm out of turn", "Confirm", "running", "bob", "NOT_ASKED", expected_revision=NOW)
case("to confirm for another", "Confirm", "staged", "bob", "NOT_ALLOWED", seat=1,
     expected_revision=NOW)  # fmt: skip
case("to confirm without a revision", "Confirm", "staged", "ann", "BAD_FIELD",
     of="expected_revision")  # fmt: skip
case("to confirm too early", "Confirm", "islands", "asked", "CANNOT_CONFIRM",
     expected_revision=NOW)  # fmt: skip
case("to take back nothing", "TakeBack", "running", "host", "NOTHING_TO_TAKE_BACK",
     expected_revision=NOW)  # fmt: skip
case("to take back as a player", "TakeBack", "running", "ann", "NOT_ALLOWED",
     expected_revision=NOW)  # fmt: skip
case("to take back where it isn't done", "TakeBack", "never", "host", "NOT_ALLOWED",
     expected_revision=NOW)  # fmt: skip
case("to take back what is over", "TakeBack", "over", "host", "GAME_OVER", expected_revision=NOW)
case("to take back an old turn", "TakeBack", "running", "host", "STALE_REVISION",
     expected_revision=1)  # fmt: skip
case("to take back a drop", "TakeBack", "dropped", "host", "NOTHING_TO_TAKE_BACK",
     expected_revision=NOW)  # fmt: skip
