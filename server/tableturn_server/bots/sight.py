"""What a bot sees: the view of its seat, what it is asked, and what it may do."""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec

from tableturn_server.rules.actions import Action
from tableturn_server.rules.choices import Choice
from tableturn_server.rules.game import Game, Prompt
from tableturn_server.rules.views import GameView


class Sight:
    """A table as one seat sees it, with what it has staged in this turn.

    `after(action)` is what any client learns by staging an action. The position itself is
    nobody's business: it holds what the view leaves out, such as the values of victory point
    tiles that others took.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        open: Any,
        seat: int,
        log_hash: bytes,
        staged: tuple[Action, ...] = (),
        begin: Sight | None = None,
    ) -> None:
        self.__game = game
        self.__open = open
        self.seat = seat
        self.log_hash = log_hash
        """The hash of all turns so far: public, and another one in each turn."""
        self.staged = staged
        """What the seat has staged since the turn began."""
        self.begin = begin or self
        """The same turn, before anything was staged."""

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.__game.name

    @property
    def seats(self) -> int:
        """How many seats the table has."""
        return self.__game.setting.seats

    @property
    def options(self) -> dict[str, str]:
        """What the table was created with."""
        return self.__game.setting.options

    @cached_property
    def view(self) -> GameView:
        """The game as the seat sees it."""
        return self.__game.view(self.__open, self.seat)

    @cached_property
    def mark(self) -> bytes:
        """32 bytes that are others in each turn, and in games that look otherwise."""
        seen = msgspec.msgpack.encode(self.view)
        return blake2b(seen, digest_size=32, key=self.log_hash).digest()

    @cached_property
    def prompt(self) -> Prompt | None:
        """What the seat is asked; None if it is not."""
        return next((p for p in self.__game.prompts(self.__open) if p.seat == self.seat), None)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """What the seat may do now. Every choice can be completed to a confirmation."""
        return self.__game.legal_actions(self.__open, self.seat)

    @property
    def can_confirm(self) -> bool:
        """The turn may be confirmed as it is staged."""
        return self.prompt is not None and self.prompt.can_confirm

    @property
    def skips(self) -> bool:
        """A confirmation now would end a turn in which nothing was done."""
        return self.prompt is not None and self.prompt.confirm_skips

    def after(self, action: Action) -> Sight:
        """The sight with one more action staged. Raises Illegal if it isn't possible."""
        staged = self.__game.stage(self.__open, self.seat, action)
        return Sight(
            self.__game, staged, self.seat, self.log_hash, (*self.staged, action), self.begin
        )

    def default(self) -> tuple[Action, ...]:
        """The smallest turn that the rules allow, for a seat with nothing staged (DR-3)."""
        return self.__game.default(self.__open, self.seat)
