"""Between messages and the values of rules and tables: the one place that knows both.

Names are the same on both sides, so the conversions follow from the descriptors: a struct
`BuildOutpost` is the message `BuildOutpost`, and each field has its namesake. What has to be
looked up is looked up once, when this module is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from tableturn.v1 import actions_pb2, clock_pb2, table_pb2
from tableturn_server.rules.actions import LONGEST_NAME, MOST_CUBES, Action, BonusKind
from tableturn_server.rules.choices import Choice, CubeBounds
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tableturn_server.tables import log, views
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Clock, ClockKind, Table

MOST_ACTIONS = 64

ENUMS: dict[str, type[IntEnum]] = {
    "tableturn.v1.CubeColor": Color,
    "tableturn.v1.BonusKind": BonusKind,
}


class _Unreadable(Exception):
    """A value of an action can't be read. The sentence is for a person."""


# ---------------------------------------------------------------- actions


def cubes(value: Cubes) -> actions_pb2.Cubes:
    """The message of a bundle."""
    return actions_pb2.Cubes(
        yellow=value.yellow, red=value.red, green=value.green, brown=value.brown
    )


class _Form:
    """How one kind of action is read and written."""

    __slots__ = ("kind", "message", "names", "readers", "struct", "writers")

    def __init__(self, struct: type[Any]) -> None:
        self.struct = struct
        self.kind: str = str(struct.__struct_config__.tag)
        descriptor = actions_pb2.Action.DESCRIPTOR.fields_by_name[self.kind].message_type
        assert descriptor is not None
        self.message: type[Message] = getattr(actions_pb2, descriptor.name)
        infos = msgspec.structs.fields(struct)
        self.names = tuple(info.name for info in infos)
        by_name = descriptor.fields_by_name
        self.readers = tuple(_reader(by_name[info.name], info.default is None) for info in infos)
        self.writers = tuple(_writer(by_name[info.name]) for info in infos)

    def read(self, message: Any) -> Action:
        """The action of a message such as `Move`."""
        values = [
            read(getattr(message, name))
            for name, read in zip(self.names, self.readers, strict=True)
        ]
        action: Action = self.struct(*values)
        return action

    def write(self, action: Action) -> actions_pb2.Action:
        """The message of an action."""
        fields: dict[str, Any] = {}
        for name, write in zip(self.names, self.writers, strict=True):
            value = getattr(action, name)
            if value is not None:
                fields[name] = write(value)
        whole: dict[str, Any] = {self.kind: self.message(**fields)}
        return actions_pb2.Action(**whole)


def _reader(field: FieldDescriptor, optional: bool) -> Callable[[Any], Any]:
    """How a field's value is read; Raises _Unreadable for values without a meaning."""
    if field.message_type is not None:
        return _cubes
    if field.enum_type is not None:
        return _enum_reader(field.name, ENUMS[field.enum_type.full_name], optional)
    if field.type == FieldDescriptor.TYPE_STRING:
        return _name_reader(field.name, optional)
    if field.type == FieldDescriptor.TYPE_UINT32:
        return _number_reader(field.name)
    return int


def _writer(field: FieldDescriptor) -> Callable[[Any], Any]:
    """How a field's value is written."""
    if field.message_type is not None:
        return cubes
    return str if field.type == FieldDescriptor.TYPE_STRING else int


def _cubes(message: actions_pb2.Cubes) -> Cubes:
    bundle = Cubes(message.yellow, message.red, message.green, message.brown)
    if max(bundle) > MOST_CUBES:
        raise _Unreadable(f"at most {MOST_CUBES} cubes of a colour can be named")
    return bundle


def _enum_reader(name: str, enum: type[IntEnum], optional: bool) -> Callable[[int], Any]:
    known: dict[int, Any] = {int(member): member for member in enum}
    if optional:
        known[0] = None

    def read(number: int) -> Any:
        try:
            return known[number]
        except KeyError:
            what = f"has no value {number}" if number else "is missing"
            raise _Unreadable(f"its field {name} {what}") from None

    return read


def _name_reader(name: str, optional: bool) -> Callable[[str], str | None]:
    def read(value: str) -> str | None:
        if not value and optional:
            return None
        if not value:
            raise _Unreadable(f"its field {name} is missing")
        if len(value) > LONGEST_NAME or not value.isascii() or not value.isalnum():
            raise _Unreadable(f"its field {name} is no name of a component")
        return value

    return read


def _number_reader(name: str) -> Callable[[int], int]:
    def read(value: int) -> int:
        if not value:
            raise _Unreadable(f"its field {name} is missing")
        return value

    return read


_FORMS = {form.struct: form for form in map(_Form, Action.__args__)}
_BY_KIND = {form.kind: form for form in _FORMS.values()}


def read_actions(messages: Iterable[actions_pb2.Action]) -> tuple[Action, ...]:
    """The actions of a call. Raises Refused with the index of what can't be read."""
    found = []
    for index, message in enumerate(messages):
        if index == MOST_ACTIONS:
            raise Refused(
                Reason.BAD_FIELD, f"a call has at most {MOST_ACTIONS} actions", field="actions"
            )
        kind = message.WhichOneof("action")
        if kind is None:
            raise Refused(
                Reason.UNREADABLE_ACTION,
                f"action {index} has no content that this service knows",
                index=index,
            )
        try:
            found.append(_BY_KIND[kind].read(getattr(message, kind)))
        except _Unreadable as error:
            raise Refused(
                Reason.UNREADABLE_ACTION,
                f"action {index} ({kind}) can't be read: {error}",
                index=index,
            ) from error
    return tuple(found)


def action(value: Action) -> actions_pb2.Action:
    """The message of an action."""
    return _FORMS[type(value)].write(value)


# ---------------------------------------------------------------- what is seen


def choice(value: Choice) -> actions_pb2.Choice:
    """The message of a choice."""
    fields = {
        name: _plain(item)
        for name in value.__struct_fields__
        if (item := getattr(value, name)) is not None and item != ()
    }
    return actions_pb2.Choice(**fields)


def _plain(value: Any) -> Any:
    """A part of a choice as an argument of the message's constructor."""
    if isinstance(value, Cubes):
        return cubes(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, CubeBounds):
        return actions_pb2.CubeBounds(
            min=value.min, max=value.max, available=cubes(value.available)
        )
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value


def prompt(value: views.PromptView) -> actions_pb2.Prompt:
    """The message of a prompt."""
    return actions_pb2.Prompt(**_builtins(value))


def table_view(
    table: Table, change_id: str, seat: int | None, behind: int = 0
) -> table_pb2.TableView:
    """The table as a seat sees it, or a spectator (None), so many milliseconds later."""
    seen = views.view(table, seat)
    fields = _builtins(msgspec.structs.replace(seen, choices=()))
    for fields_of_seat, clock in zip(fields["seats"], views.clocks(table), strict=False):
        fields_of_seat["clock"] = seat_clock(clock)
    return table_pb2.TableView(
        change_id=change_id,
        choices=[choice(item) for item in seen.choices],
        staged=[
            table_pb2.StagedTurn(
                seat=number,
                actions=[action(item) for item in actions],
                texts=[log.text(item) for item in actions],
            )
            for number, actions in views.staged(table, seat)
        ],
        create_time=timestamp(table.making.created),
        update_time=timestamp(table.stamp),
        clock=clock_settings(table.making.clock),
        absence=clock_pb2.AbsenceSettings(
            policy=int(table.making.absence.policy),  # type: ignore[arg-type]
            grace=duration(table.making.absence.grace),
        ),
        spectator_delay=duration(table.making.spectator_delay),
        paused_time=duration(table.paused_time),
        between_time=duration(table.between_time),
        standing_since=_time_or_none(table.standing_since),
        behind=duration(behind) if behind else None,
        **fields,
    )


def clock_settings(clock: Clock) -> clock_pb2.ClockSettings | None:
    """The message of a table's clock; None for none."""
    if clock.kind is ClockKind.NONE:
        return None
    return clock_pb2.ClockSettings(
        kind=int(clock.kind),  # type: ignore[arg-type]
        bank=duration(clock.bank),
        step=duration(clock.step),
        timeout=int(clock.timeout),  # type: ignore[arg-type]
        start=duration(clock.start),
    )


def seat_clock(clock: views.ClockView) -> clock_pb2.SeatClock:
    """The message of a seat's clock."""
    return clock_pb2.SeatClock(
        running=clock.running,
        deadline=_time_or_none(clock.deadline),
        left=None if clock.left is None else duration(clock.left),
        used=duration(clock.used),
        running_since=_time_or_none(clock.running_since),
        low_time=_time_or_none(clock.low_time),
        ran_out=clock.ran_out,
        start_left=duration(clock.start_left),
    )


def log_entry(entry: log.LogEntry, change_id: str, seat: int | None) -> table_pb2.LogEntry:
    """A log entry as a seat may see it, or a spectator (None)."""
    return table_pb2.LogEntry(
        revision=entry.revision,
        change_id=change_id,
        time=timestamp(entry.time),
        kind=int(entry.kind),  # type: ignore[arg-type]
        seat=entry.seat,
        turn=entry.turn,
        actions=[action(item) for item in entry.actions_for(seat)],
        texts=[log.text(item) for item in entry.actions_for(seat)],
        lines=entry.lines_for(seat),
        clocks=[
            clock_pb2.ClockEntry(seat=number, deadline=_time_or_none(deadline), left=duration(left))
            for number, deadline, left in entry.clocks
        ],
    )


def duration(milliseconds: int) -> Duration:
    """The message of a span of time in milliseconds."""
    seconds, rest = divmod(milliseconds, 1000)
    return Duration(seconds=seconds, nanos=rest * 1_000_000)


def _time_or_none(milliseconds: int) -> Timestamp | None:
    return timestamp(milliseconds) if milliseconds else None


def timestamp(milliseconds: int) -> Timestamp:
    """The message of a time in milliseconds since 1970."""
    seconds, rest = divmod(milliseconds, 1000)
    return Timestamp(seconds=seconds, nanos=rest * 1_000_000)


def _builtins(value: msgspec.Struct) -> dict[str, Any]:
    """A view's fields as arguments of its message's constructor."""
    fields: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(bytes,))
    return fields


# ---------------------------------------------------------------- bytes


def nested(number: int, data: bytes) -> bytes:
    """A message with one field, whose value is the message `data`, encoded already.

    So what many watchers see is encoded once: `TableView` in `Snapshot` in
    `WatchTableResponse`. Messages are joined by joining their bytes. `number` is at most 15.
    """
    length = len(data)
    head = bytearray((number << 3 | 2,))
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    head.append(length)
    return bytes(head) + data
