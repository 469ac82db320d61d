"""What people do about each other while they play: talk, bots that play on, votes, more time.

Each is a line that begins with its word, and may be typed at any time. A takeback, which all must
agree to, is here too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from tableturn_client.clock_text import read_time
from tableturn_client.company import ChatMode
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import listed
from tableturn_client.errors import BadValue
from tableturn_client.handle import Done
from tableturn_client.handles import Seat
from tableturn_client.messages import TakebackPolicy
from tableturn_client.play.answers import Unclear
from tableturn_client.play.hearing import Hearing
from tableturn_client.play.seated import Seated

T = TypeVar("T")


class Talking(Protocol):
    """What is needed of the conversation."""

    active: int
    note: str

    async def send(self, call: Coroutine[Any, Any, Done]) -> Done | None:
        """Send a command; a refusal becomes a line for the person."""
        ...

    async def call(self, call: Coroutine[Any, Any, T]) -> T | None:
        """The same, for what changes nothing of the game."""
        ...

    def ask(self, question: str, if_yes: Callable[[], Awaitable[None]]) -> None:
        """Ask something to be answered with y or n."""
        ...


class Together:
    """The lines about people."""

    def __init__(self, seated: Seated, hearing: Hearing, talk: Talking) -> None:
        self._seated = seated
        self._hearing = hearing
        self._talk = talk

    async def obey(self, word: str, line: str) -> None:
        """Do what a line says that begins with one of the words. Raises Unclear."""
        words = line.split()[1:]
        match word:
            case "say":
                await self._say(line.split(maxsplit=1)[1] if words else "")
            case "back":
                seat = self._own(words, waits=True)
                await self._talk.send(seat.come_back())
            case "let bot play":
                bots = [w for w in words if not w.isdigit() and w not in ("bot", "play")]
                seat = self._own(words, waits=False)
                await self._talk.send(seat.let_bot_play(bots[0] if bots else ""))
            case "vote" | "unvote":
                await self._vote(self._other(words, word), withdraw=word == "unvote")
            case "host":
                await self._pass_host(self._seat(words, word))
            case "mute" | "unmute":
                await self._mute(self._seat(words, word), word)
            case "chat on" | "chat off":
                mode = ChatMode.SEATS if word == "chat on" else ChatMode.OFF
                await self._talk.call(self._seated.trusted.set_chat(mode))
            case "time":
                await self._add_time(words)

    async def _say(self, text: str) -> None:
        """Say something, as the seat that plays now, else as the first one, else as the host."""
        if not text:
            raise Unclear("Say what? Type say and your words: say hello")
        seat = self._seated.seats.get(self._talk.active)
        speaker = seat or (self._seated.main if self._seated.seats else self._seated.trusted)
        await self._talk.call(speaker.say(text))

    def _own(self, words: list[str], *, waits: bool) -> Seat:
        """The own seat that is meant: named, the only one, or the only one a bot plays for."""
        own = self._seated.seats
        if not own:
            raise Unclear("You hold no seat here.")
        named = [int(word) for word in words if word.isdigit()]
        if named:
            if named[-1] not in own:
                raise Unclear(f"Seat {named[-1]} is not yours.")
            return own[named[-1]]
        stood_in = self._hearing.stood_in.intersection(own)
        found = [n for n in own if (n in stood_in) == waits] or list(own)
        if len(found) > 1:
            raise Unclear(f"For which seat? Add its number: {listed([*map(str, found)], 'or')}")
        return own[found[0]]

    async def _vote(self, target: int, *, withdraw: bool) -> None:
        """Want a seat to leave the game, with the voice of each seat held here."""
        if not self._seated.seats:
            raise Unclear("Only those who play can vote.")
        if withdraw:
            await self._send_votes(target, withdraw=True)
            return
        self._talk.ask(
            f"Want {self._plain(target)} to leave the game for good?",
            lambda: self._send_votes(target, withdraw=False),
        )

    async def _send_votes(self, target: int, *, withdraw: bool) -> None:
        for number, seat in list(self._seated.seats.items()):
            if number == target:
                continue
            done = await self._talk.send(seat.vote_drop(target, withdraw=withdraw))
            if done is None:
                return
            asked = listed([self._plain(n) for n in done.waiting_for])
            self._talk.note = f"Still asked, with `vote {target}`: {asked}" if asked else ""
            if withdraw:
                self._talk.note = f"You want {self._plain(target)} to stay."
            elif not asked:
                return

    async def _mute(self, number: int, word: str) -> None:
        """Let nobody read what a seat says, or everybody again."""
        muted, heard = ([number], []) if word == "mute" else ([], [number])
        done = await self._talk.call(self._seated.trusted.set_chat(mute=muted, unmute=heard))
        if done is not None:
            told = "is muted" if word == "mute" else "can speak again"
            self._talk.note = f"{self._plain(number)} {told}."

    async def _pass_host(self, number: int) -> None:
        """Hand the host's duties on, after asking."""

        async def pass_on() -> None:
            await self._talk.send(self._seated.trusted.pass_host(number))

        self._talk.ask(f"Make {self._plain(number)} the host?", pass_on)

    async def _add_time(self, words: list[str]) -> None:
        """`time 30s 2`: more time for a seat; without a number, for all."""
        numbers = words[-1:] if len(words) > 1 and words[-1].isdigit() else []
        try:
            seconds = read_time(" ".join(words[: len(words) - len(numbers)]))
        except BadValue as error:
            raise Unclear(f"{error.sentence}; for seat 2: time 30s 2") from None
        seat = int(numbers[0]) if numbers else 0
        await self._talk.send(self._seated.trusted.add_time(seconds, seat))

    async def take_back(self) -> None:
        """Take the last turn back: as the host, or with the voice of each seat held here."""
        view = self._hearing.main_view
        revision = view.revision if view else 0
        if view is not None and view.takeback == TakebackPolicy.TAKEBACK_POLICY_ALL_AGREE:
            for seat in list(self._seated.seats.values()):
                done = await self._talk.send(seat.take_back(expected=revision))
                if done is None:
                    return
                revision = done.revision
                if done.waiting_for:
                    waiting = ", ".join(Seats.of(view).plain(n) for n in done.waiting_for)
                    self._talk.note = f"Asked. Still to agree, with `takeback`: {waiting}"
                else:
                    self._talk.note = ""
                    return
            return
        await self._talk.send(self._seated.trusted.take_back(expected=revision))

    def _seat(self, words: list[str], word: str) -> int:
        """The seat that a line names. Raises Unclear."""
        number = _number(words, word)
        view = self._hearing.main_view
        if view is not None and all(seat.seat != number for seat in view.seats):
            raise Unclear(f"There is no seat {number} at this table.")
        return number

    def _other(self, words: list[str], word: str) -> int:
        """Somebody else's seat that is in the game. Raises Unclear."""
        number = self._seat(words, word)
        view = self._hearing.main_view
        if view is not None and any(one.seat == number and one.dropped for one in view.seats):
            raise Unclear(f"{self._plain(number)} has left the game already.")
        if list(self._seated.seats) == [number]:
            raise Unclear("Nobody votes against their own seat; concede gives up for good.")
        return number

    def _plain(self, number: int) -> str:
        view = self._hearing.main_view
        return Seats.of(view).plain(number) if view is not None else f"seat {number}"


def _number(words: list[str], word: str) -> int:
    """The seat that a line names. Raises Unclear."""
    if not words or not words[-1].isdigit():
        raise Unclear(f"Which seat? Type {word} and its number: {word} 2")
    return int(words[-1])
