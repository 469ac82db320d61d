"""Values that a caller gives: each can be sent, or is BadValue with a sentence that says why.

A wrong value never comes out of here as an error of Python's or of a library's: whoever
catches `TableturnError` catches it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ParamSpec, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tableturn_client.errors import BadValue

P = ParamSpec("P")
M = TypeVar("M", bound=Message)
T = TypeVar("T")

_LONGEST = 60
_WHOLE = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
}
_WORDS = {
    FieldDescriptor.TYPE_STRING: "a text",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_BOOL: "True or False",
    FieldDescriptor.TYPE_MESSAGE: "a message",
}


def request_of(kind: Callable[P, M], *args: P.args, **fields: P.kwargs) -> M:
    """A message with these fields. Raises BadValue, which names the one that can't be sent."""
    descriptor = kind.DESCRIPTOR  # type: ignore[attr-defined]  # a class of messages
    for name, value in fields.items():
        field = descriptor.fields_by_name[name]
        if value is not None and not _fits(field, value):
            raise BadValue(f"{_name(name)} is {_words(field)}, not {shown(value)}")
    return kind(*args, **fields)


def chosen(value: object, kind: type[Enum], what: str) -> Any:
    """What is sent for a member of an enum. Raises BadValue for anything else."""
    if not isinstance(value, kind):
        members = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise BadValue(f"{what} is one of {members}, not {shown(value)}")
    return value.value


def whole(value: object, least: int, most: int, sentence: str) -> int:
    """A whole number within bounds; `sentence` says of what it is none."""
    # True is a number to Python, and to nobody else.
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadValue(f"{shown(value)} is {sentence}")
    return int(value)


def number(seconds: object) -> float:
    """A number, such as one of seconds. Raises BadValue."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise BadValue(f"a time is a number of seconds, not {shown(seconds)}")
    return float(seconds)


def instance(value: object, kind: type[T], sentence: str) -> T:
    """A value of a kind; `sentence` says what is wanted instead."""
    if not isinstance(value, kind):
        raise BadValue(f"{sentence}, not {shown(value)}")
    return value


def listed(values: object, what: str) -> Sequence[Any]:
    """Several values, in order; a text is none, although it has letters in order."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise BadValue(f"{what} are given as a list, not {shown(values)}")
    return list(values)


def shown(value: object) -> str:
    """A value as Python writes it, if it isn't too long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _fits(field: FieldDescriptor, value: object) -> bool:
    """A field takes the value."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        texts = [*value.keys(), *value.values()] if isinstance(value, dict) else [None]
        return all(_is_text(text) for text in texts)
    if field.is_repeated:
        return isinstance(value, list) and all(_fits_one(field, one) for one in value)
    return _fits_one(field, value)


def _fits_one(field: FieldDescriptor, value: object) -> bool:
    """A field takes the value, once."""
    if field.type in _WHOLE:
        least, most = _WHOLE[field.type]
        whole_ = isinstance(value, int) and not isinstance(value, bool)
        return whole_ and least <= value <= most  # type: ignore[operator]
    if field.type == FieldDescriptor.TYPE_STRING:
        return _is_text(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return isinstance(value, bytes)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return isinstance(value, bool)
    if field.message_type is not None:
        return isinstance(value, Message) and value.DESCRIPTOR is field.message_type
    return isinstance(value, int)


def _is_text(value: object) -> bool:
    """A text that can be sent: half a character, as JSON may leave one, can't."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _name(name: str) -> str:
    """A field's name as a caller gives it."""
    return name.removesuffix("_sha256").replace("_", " ")


def _words(field: FieldDescriptor) -> str:
    """What a field takes, in words."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return "texts by their names"
    if field.type in _WHOLE:
        return "a whole number from {} to {}".format(*_WHOLE[field.type])
    if field.type == FieldDescriptor.TYPE_STRING:
        return "a text of whole characters"
    return _WORDS.get(field.type, "one of its values")
