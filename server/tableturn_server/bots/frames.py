"""What a service and its bot workers say to each other: frames of MessagePack.

A frame is a length of four bytes, most significant first, and a message. A worker is asked one
question at a time, and answers each with one message. It is told what a seat's client could
know or ask for; the hidden half of a position and the seed never come here.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from tableturn_server.rules.actions import Action
from tableturn_server.tables.facts import bot_of, confirmed_at_panel
from tableturn_server.tables.state import Making, Table

LENGTH = 4
MOST = 4 * 1024 * 1024
"""Bytes of a message. Own component sets have up to 256 kB."""


class Setting(msgspec.Struct, frozen=True, array_like=True):
    """What a table was made with, as far as the rules need it: the same in each of its turns."""

    game: str
    seats: int
    options: dict[str, str]
    set_name: str
    set_sha256: bytes
    custom_set: bytes


class Question(msgspec.Struct, frozen=True, array_like=True):
    """What a bot shall play in a position.

    `setting` is the digest of the table's `Setting`; `told` is that setting, or nothing if the
    worker should know it. `open` is the open half of the position, which is all there is of it.
    With `must_act` the bot does something where it can, because a panel confirms its turns.
    """

    number: int
    bot: str
    game: str
    setting: bytes
    told: bytes
    open: msgspec.Raw
    seat: int
    log_hash: bytes
    must_act: bool = False


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """A whole turn; or `unknown`: the setting has to be told; or what went wrong."""

    number: int
    actions: tuple[Action, ...] = ()
    unknown: bool = False
    fault: str = ""


_encode = msgspec.msgpack.Encoder().encode
read_question = msgspec.msgpack.Decoder(Question).decode
"""The question in a message. Raises msgspec.DecodeError."""
read_answer = msgspec.msgpack.Decoder(Answer).decode
"""The answer in a message. Raises msgspec.DecodeError."""
read_setting = msgspec.msgpack.Decoder(Setting).decode
"""The setting that a question tells. Raises msgspec.DecodeError."""


def frame(message: Question | Answer) -> bytes:
    """A message with its length before it."""
    data = _encode(message)
    return len(data).to_bytes(LENGTH, "big") + data


def told_setting(making: Making) -> bytes:
    """A table's setting as it is told to a worker."""
    return _encode(
        Setting(
            making.game,
            making.seats,
            making.options,
            making.set_name,
            making.set_sha256,
            making.custom_set,
        )
    )


def digest(setting: bytes) -> bytes:
    """What a setting is called, once it was told."""
    return blake2b(setting, digest_size=16).digest()


def question_of(table: Table, seat: int) -> tuple[Question, bytes]:
    """What a bot's turn rests on, without the setting; and the setting."""
    setting = told_setting(table.making)
    question = Question(
        number=0,
        bot=bot_of(table.seat(seat)),
        game=table.making.game,
        setting=digest(setting),
        told=b"",
        open=msgspec.Raw(_encode(table.position)),
        seat=seat,
        log_hash=table.log_hash,
        must_act=confirmed_at_panel(table, seat),
    )
    return question, setting
