"""Messages and values have the same names, numbers and meaning."""

import random
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from tableturn.v1 import actions_pb2, clock_pb2, errors_pb2, table_pb2, views_pb2
from tableturn_server.rules import catalog, game, views
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.choices import Choice, CubeBounds, Range, pick
from tableturn_server.rules.mechanics.cubes import Color, Cubes, CubesView
from tableturn_server.service import convert
from tableturn_server.service.errors import STATUS
from tableturn_server.tables import log, state
from tableturn_server.tables import views as table_views
from tableturn_server.tables.refusals import Reason
from tests.tables.play import a_table, eastern_wonders

ENUMS = [
    (Color, actions_pb2.CubeColor, "CUBE_COLOR"),
    (BonusKind, actions_pb2.BonusKind, "BONUS_KIND"),
    (game.PromptKind, actions_pb2.PromptKind, "PROMPT_KIND"),
    (game.EndReason, views_pb2.EndReason, "END_REASON"),
    (views.TileKind, views_pb2.TileKind, "TILE_KIND"),
    (views.FreeTablePhase, views_pb2.FreeTablePhase, "FREE_TABLE_PHASE"),
    (state.Status, table_pb2.TableStatus, "TABLE_STATUS"),
    (state.Occupant, table_pb2.Occupant, "OCCUPANT"),
    (state.Takeback, table_pb2.TakebackPolicy, "TAKEBACK_POLICY"),
    (log.ChangeKind, table_pb2.ChangeKind, "CHANGE_KIND"),
]


@pytest.mark.parametrize(("ours", "theirs", "prefix"), ENUMS, ids=[e[2] for e in ENUMS])
def test_enums_have_the_same_numbers(ours: Any, theirs: Any, prefix: str) -> None:
    descriptor: EnumDescriptor = theirs.DESCRIPTOR
    numbers = {value.name: value.number for value in descriptor.values}
    assert numbers.pop(f"{prefix}_UNSPECIFIED") == 0
    assert numbers == {f"{prefix}_{member.name}": int(member) for member in ours}


def test_reasons_are_those_of_the_protos_and_each_has_its_status() -> None:
    names = [value.name for value in errors_pb2.ErrorReason.DESCRIPTOR.values]
    assert [f"ERROR_REASON_{reason.value}" for reason in Reason] == names[1:]
    assert set(STATUS) == set(Reason)


def test_every_action_is_a_message_with_the_same_fields() -> None:
    oneof = actions_pb2.Action.DESCRIPTOR.oneofs_by_name["action"]
    kinds = {str(kind.__struct_config__.tag): kind for kind in get_args(Action)}
    assert {field.name for field in oneof.fields} == set(kinds)
    for field in oneof.fields:
        assert field.message_type is not None
        assert field.message_type.name == kinds[field.name].__name__
        assert {f.name for f in field.message_type.fields} == set(
            kinds[field.name].__struct_fields__
        )


def _structs_in(kind: Any) -> list[type[msgspec.Struct]]:
    """The structs in a type such as `tuple[PlayerView, ...] | None`."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [found for part in get_args(kind) for found in _structs_in(part)]


def _compare(struct: type[msgspec.Struct], message: Descriptor, seen: set[str]) -> None:
    if message.full_name in seen:
        return
    seen.add(message.full_name)
    hints = get_type_hints(struct)
    for name in struct.__struct_fields__:
        field: FieldDescriptor | None = message.fields_by_name.get(name)
        assert field is not None, f"{message.full_name} has no field {name} of {struct.__name__}"
        for inner in _structs_in(hints[name]):
            assert field.message_type is not None, f"{message.full_name}.{name}"
            _compare(inner, field.message_type, seen)


@pytest.mark.parametrize(
    ("struct", "message"),
    [
        (views.GameView, views_pb2.GameView),
        (table_views.TableView, table_pb2.TableView),
        (table_views.PromptView, actions_pb2.Prompt),
        (table_views.SeatView, table_pb2.SeatView),
        (game.Outcome, views_pb2.Outcome),
        (Choice, actions_pb2.Choice),
        (CubeBounds, actions_pb2.CubeBounds),
        (Range, actions_pb2.Range),
        (CubesView, actions_pb2.Cubes),
    ],
    ids=lambda value: value.__name__,
)
def test_every_field_of_a_view_is_in_its_message(struct: Any, message: Any) -> None:
    _compare(struct, message.DESCRIPTOR, set())


def test_no_field_of_a_view_is_forgotten() -> None:
    """What a message has and the view has not is put in by the service, field by field."""
    times = {"create_time", "update_time", "paused_time", "between_time", "standing_since"}
    settings = {"clock", "absence", "spectator_delay", "behind"}
    by_hand = {"change_id", "staged"} | times | settings
    fields = {field.name for field in table_pb2.TableView.DESCRIPTOR.fields}
    assert fields == set(table_views.TableView.__struct_fields__) | by_hand
    seat = {field.name for field in table_pb2.SeatView.DESCRIPTOR.fields}
    assert seat == set(table_views.SeatView.__struct_fields__) | {"clock"}
    clock = {field.name for field in clock_pb2.SeatClock.DESCRIPTOR.fields}
    assert clock == set(table_views.ClockView.__struct_fields__)
    for struct, message in ((Choice, actions_pb2.Choice), (views.GameView, views_pb2.GameView)):
        assert {f.name for f in message.DESCRIPTOR.fields} == set(struct.__struct_fields__)


def test_actions_are_the_same_after_both_ways() -> None:
    chance = random.Random(1)
    for kind in get_args(Action):
        name = str(kind.__struct_config__.tag)
        for _ in range(20):
            choice = Choice(
                kind=name,
                tiles=("C3", "A10"),
                colors=tuple(Color),
                cubes=CubeBounds(0, 4, Cubes(3, 2, 1, 1)),
                count=Range(1, 9),
                seats=(1, 2, 3),
                bonuses=tuple(BonusKind),
                piles=(Cubes(1, 2), Cubes(4)),
                points=Range(-5, 5),
                cards=("M12", "S1"),
            )
            action = pick(choice, chance.randrange)
            sent = convert.action(action).SerializeToString()
            (back,) = convert.read_actions([actions_pb2.Action.FromString(sent)])
            assert back == action
            assert type(back) is kind


def test_choices_keep_everything() -> None:
    choice = Choice(
        kind="build_outpost",
        colors=(Color.RED,),
        cubes=CubeBounds(2, 2, Cubes(1, 0, 3, 0)),
        count=Range(0, 3),
        seats=(2,),
        bonuses=(BonusKind.CARGO,),
        piles=(Cubes(1, 2),),
        points=Range(-5, 5),
        cards=("M12", "S1"),
        label="build",
    )
    found = convert.choice(choice)
    assert found.cubes.available == actions_pb2.Cubes(yellow=1, green=3)
    assert (found.cubes.min, found.count.max, found.points.min) == (2, 3, -5)
    assert found.HasField("count")
    assert list(found.cards) == ["M12", "S1"]
    assert list(found.piles) == [actions_pb2.Cubes(yellow=1, red=2)]
    assert not convert.choice(Choice(kind="harvest")).HasField("cubes")


@pytest.mark.parametrize("name", catalog.GAMES)
def test_every_table_of_a_game_has_its_message(name: str) -> None:
    chance = random.Random(2)
    game_ = a_table(name, seats=3, max_rounds="15")
    while not game_.is_over():
        for who in (None, 1, 2, 3):
            seen = table_views.view(game_.table, who)
            sent = convert.table_view(game_.table, "change", who)
            assert sent.revision == seen.revision
            assert sent.viewer == (who or 0)
            assert len(sent.choices) == len(seen.choices)
            assert sent.log_hash == seen.log_hash
            assert dict(sent.options) == seen.options
            assert seen.game_view is not None
            assert len(sent.game_view.players) == len(seen.game_view.players)
            assert [p.asked_at for p in sent.prompts] == [p.asked_at for p in seen.prompts]
        game_.plays_on(1, chance)
    assert convert.table_view(game_.table, "change", 1).outcome.results


def test_nested_bytes_are_what_the_message_would_be() -> None:
    table = convert.table_view(eastern_wonders().table, "change", 1)
    for view in (table, table_pb2.TableView(), table_pb2.TableView(title="x" * 200)):
        data = view.SerializeToString()
        expected = table_pb2.WatchTableResponse(snapshot=table_pb2.Snapshot(table=view))
        found = table_pb2.WatchTableResponse.FromString(convert.nested(1, convert.nested(1, data)))
        assert found == expected
