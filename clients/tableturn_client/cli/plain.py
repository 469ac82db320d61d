"""Messages as plain values for `--json`.

Names are those of the protos; numbers are numbers, enums are their words (`running`), bytes
are hexadecimal digits, times are RFC 3339, how long something lasts is in seconds, and a message
that is absent is `null`. An action also has its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from tableturn_client.actions import to_text
from tableturn_client.messages import Action


def plain(value: object) -> object:
    """A value of any kind as what `json.dumps` takes."""
    match value:
        case Timestamp():
            return moment(value.ToDatetime(UTC))
        case Duration():
            return value.ToTimedelta().total_seconds()
        case Action():
            return {"text": to_text(value), **_fields(value, absent=False)}
        case Message():
            return _fields(value)
        case bytes():
            return value.hex()
        case datetime():
            return moment(value)
        case Enum():
            return plain(value.value)
        case dict():
            return {str(key): plain(item) for key, item in sorted(value.items())}
        case str() | int() | float() | bool() | None:
            return value
    return [plain(item) for item in cast("Sequence[object]", value)]


def moment(time: datetime) -> str:
    """A time as RFC 3339, in UTC."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def word(kind: EnumDescriptor, number: int) -> str:
    """The word for a value of an enum: `running` for TABLE_STATUS_RUNNING."""
    value = kind.values_by_number.get(number)
    if value is None:
        return str(number)
    unspecified = kind.values_by_number[0].name
    prefix = unspecified.removesuffix("UNSPECIFIED")
    return value.name.removeprefix(prefix).lower()


def _fields(message: Message, *, absent: bool = True) -> dict[str, object]:
    """The fields of a message."""
    found: dict[str, object] = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            if absent:
                found[field.name] = None
            continue
        found[field.name] = _value(field, getattr(message, field.name))
    return found


def _value(field: Any, value: Any) -> object:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return plain(dict(value))
    if field.enum_type is not None:
        if field.is_repeated:
            return [word(field.enum_type, number) for number in value]
        return word(field.enum_type, value)
    return plain(value)
