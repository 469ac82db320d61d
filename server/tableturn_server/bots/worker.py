"""A bot worker: `python -m tableturn_server.bots.worker`, started by a service.

It reads questions from its standard input and writes answers to its standard output. When the
service is gone, in whatever way, its input ends, and so does it: even while a bot thinks.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import OrderedDict
from functools import lru_cache
from typing import Any, BinaryIO

import msgspec

from tableturn_server.rules import catalog, components
from tableturn_server.rules.game import Game

from .bot import whole_turn
from .frames import LENGTH, MOST, Answer, Question, frame, read_question, read_setting
from .registry import bot_of
from .sight import Sight

MOST_SETTINGS = 256
"""Tables whose settings are remembered; others are told again."""


class Worker:
    """Answers questions, one after another."""

    def __init__(self) -> None:
        self._games: OrderedDict[bytes, Game[Any, Any]] = OrderedDict()

    def answer(self, message: bytes) -> Answer:
        """The turn that the bot plays, or why there is none."""
        number = 0
        try:
            question = read_question(message)
            number = question.number
            game = self._game(question)
            if game is None:
                return Answer(number, unknown=True)
            open_ = _positions(game.name).decode(question.open)
            sight = Sight(game, open_, question.seat, question.log_hash)
            bot = bot_of(question.bot, game.name)
            return Answer(number, whole_turn(bot, sight, question.must_act))
        except Exception as error:  # a bot of any kind must not end the worker
            return Answer(number, fault=f"{type(error).__name__}: {error}"[:500])

    def _game(self, question: Question) -> Game[Any, Any] | None:
        """The game of a table, bound to its setting; None if that was never told."""
        known = self._games.get(question.setting)
        if known is None and question.told:
            known = self._games[question.setting] = _bound(question.told)
            if len(self._games) > MOST_SETTINGS:
                self._games.popitem(last=False)
        elif known is not None:
            self._games.move_to_end(question.setting)
        return known


def _bound(told: bytes) -> Game[Any, Any]:
    setting = read_setting(told)
    chosen = None
    if setting.custom_set:
        chosen = components.load(setting.custom_set, setting.game)
    elif setting.set_name:
        chosen = components.shipped(setting.set_name)
        if chosen.sha256 != setting.set_sha256:
            raise ValueError(f"another edition of the component set {setting.set_name}")
    return catalog.bind(setting.game, setting.seats, setting.options, chosen)


@lru_cache
def _positions(game: str) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(catalog.GAMES[game].open_type)


def _read(stream: BinaryIO, found: queue.SimpleQueue[bytes]) -> None:
    """Read questions until the input ends, and then end the process."""
    while True:
        head = stream.read(LENGTH)
        size = int.from_bytes(head, "big")
        message = stream.read(size) if len(head) == LENGTH and size <= MOST else b""
        if len(head) < LENGTH or len(message) < size or not size:
            os._exit(0)
        found.put(message)


def main() -> None:
    """Answer until the service is gone."""
    # Only this goes to the service; whatever a bot prints goes nowhere.
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    source = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=_read, args=(source, questions), daemon=True).start()
    worker = Worker()
    for name in components.shipped_names():
        components.shipped(name)
    out.write(frame(Answer(0)))
    while True:
        try:
            out.write(frame(worker.answer(questions.get())))
        except OSError:  # nobody reads any more
            os._exit(0)


if __name__ == "__main__":
    main()
