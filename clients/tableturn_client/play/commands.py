"""Commands of one word: to confirm, to undo, to pause, to leave; pages; and what needs a yes first.

Lines about people, such as `say hello`, are in `together`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from tableturn_client.drawing.words import clean
from tableturn_client.handle import Done
from tableturn_client.handles import Seat
from tableturn_client.play.answers import Unclear
from tableturn_client.play.hearing import Hearing
from tableturn_client.play.seated import Seated
from tableturn_client.play.words import PAGES

OpenPage = Callable[[str], Awaitable[None]]


class Talking(Protocol):
    """What is needed of the conversation."""

    quit: bool

    async def send(self, call: Coroutine[Any, Any, Done]) -> Done | None:
        """Send a command; a refusal becomes a line for the person."""
        ...

    def ask(self, question: str, if_yes: Callable[[], Awaitable[None]]) -> None:
        """Ask something to be answered with y or n."""
        ...

    async def asked_seat(self) -> Seat:
        """The seat that is asked, once all that was sent is seen. Raises Unclear."""
        ...

    def expected(self, seat: Seat) -> int:
        """The revision that the person has seen."""
        ...

    def gone(self, number: int) -> None:
        """A seat is not held here any more."""
        ...


class Commands:
    """What is done for a command."""

    def __init__(
        self,
        seated: Seated,
        hearing: Hearing,
        talk: Talking,
        take_back: Callable[[], Awaitable[None]],
        open_page: OpenPage,
    ) -> None:
        self._seated = seated
        self._hearing = hearing
        self._talk = talk
        self._take_back = take_back
        self._open_page = open_page

    async def obey(self, word: str, line: str) -> None:
        """Do what a command says. Raises Unclear."""
        talk, trusted = self._talk, self._seated.trusted
        match word:
            case "confirm":
                await self._confirm()
            case "undo" | "undo all":
                await self._undo(all=word == "undo all")
            case page if page in PAGES:
                await self._open_page(page)
            case "pause":
                await talk.send(trusted.pause())
            case "resume":
                await talk.send(trusted.resume())
            case "start":
                await talk.send(trusted.start())
            case "takeback":
                talk.ask("Take the last confirmed turn back?", self._take_back)
            case "leave":
                number = self._own_seat(line)
                talk.ask(
                    f"Leave seat {number}, so that somebody else can take it?",
                    lambda: self._leave(number),
                )
            case "concede":
                number = self._own_seat(line)
                talk.ask(
                    f"Take seat {number} out of the game for good?", lambda: self._concede(number)
                )
            case "quit":
                talk.quit = True

    async def _confirm(self) -> None:
        """Confirm what is staged; ask back where that would skip a turn. Raises Unclear."""
        seat = await self._talk.asked_seat()
        prompt = next(
            (p for p in self._hearing.views[seat.number].prompts if p.seat == seat.number), None
        )
        if prompt is None or not prompt.can_confirm:
            label = clean(prompt.label, 100) if prompt else ""
            raise Unclear(f"Not yet: {label or 'something is still to be done'}.")
        if prompt.confirm_skips:
            self._talk.ask("End the turn without doing anything?", self._send_confirm)
        else:
            await self._send_confirm()

    async def _send_confirm(self) -> None:
        seat = await self._talk.asked_seat()
        await self._talk.send(seat.confirm(expected=self._talk.expected(seat)))

    async def _undo(self, *, all: bool) -> None:
        seat = await self._talk.asked_seat()
        await self._talk.send(seat.undo(all=all, expected=self._talk.expected(seat)))

    async def _leave(self, number: int) -> None:
        self._hearing.leaving.add(number)
        if await self._talk.send(self._seated.seats[number].leave()) is None:
            self._hearing.leaving.discard(number)
        else:
            self._talk.gone(number)
            self._hearing.need = 0  # the seat's own watch doesn't tell of it any more

    async def _concede(self, number: int) -> None:
        await self._talk.send(self._seated.seats[number].concede())

    def _own_seat(self, line: str) -> int:
        """The seat that a command is about: the one named, the only one, or the active one."""
        words = line.split()[1:]
        own = self._seated.own
        if words and words[-1].isdigit() and int(words[-1]) in own:
            return int(words[-1])
        if len(own) == 1:
            return own[0]
        if not own:
            raise Unclear("You hold no seat here.")
        verb, numbers = line.split(maxsplit=1)[0], ", ".join(map(str, own))
        raise Unclear(f"Which seat? Type {verb} and its number: {numbers}")
