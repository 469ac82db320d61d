"""What a person types at a table, and what is done for it.

A line is the answer to a question (y or n), the answer to a part of an action, a
command, or an answer to what the active seat is asked: a number with words, or
an action in text form. An answer counts for what the person had seen, never for
a later question (case S7).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from rich.text import Text

from tableturn import notation
from tableturn.v1 import actions_pb2, table_pb2
from tableturn_client import errors
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean
from tableturn_client.handle import Done
from tableturn_client.handles import Seat
from tableturn_client.play import paying
from tableturn_client.play.answers import Draft, Unclear, answer, begin, typed
from tableturn_client.play.commands import Commands, OpenPage
from tableturn_client.play.faces import faces
from tableturn_client.play.hearing import Hearing
from tableturn_client.play.question import Question
from tableturn_client.play.seated import Seated
from tableturn_client.play.terminal import Terminal
from tableturn_client.play.together import Together
from tableturn_client.play.words import ANSWERS, TOGETHER, command

_PATIENCE = 5.0
"""Seconds to wait for the change that a command has made, before the next line is read."""

_NOT_ANSWERS = ("help", "quit", "map", "log", "chat")
"""Commands that are no answers to a part of an action; b is a brown cube there."""

_VERBS = frozenset(form.verb for form in notation.FORMS)

T = TypeVar("T")


def _verb(choice: actions_pb2.Choice) -> str:
    """The word with which a choice is typed."""
    return next((form.verb for form in notation.forms(choice.kind)), "")


class Conversation:
    """The lines of one person, or of several at one device."""

    def __init__(
        self, seated: Seated, hearing: Hearing, terminal: Terminal, open_page: OpenPage
    ) -> None:
        self._seated = seated
        self._hearing = hearing
        self._terminal = terminal
        self._together = Together(seated, hearing, self)
        self._yes_or_no = Question()
        self._commands = Commands(seated, hearing, self, self._together.take_back, open_page)
        self._moved = asyncio.Event()
        self._question: tuple[int, int] = (0, 0)
        self._carried_on: tuple[int, int] = (0, 0)
        self.active = 0
        """The seat that is played now; 0 while no seat held here is asked."""
        self.draft: Draft | None = None
        self.note = ""
        self._complaint: tuple[str, int] = ("", 0)
        """What was refused last, and the table's revision then."""
        self.pages: deque[Text] = deque()
        self.quit = False
        self.covered = False
        """Cards are not shown before the one who is asked has the device, and says so."""
        self._held_by = 0
        """The seat whose cards were shown last on a screen that people hand over."""

    # ------------------------------------------------------------ what was heard

    @property
    def asking(self) -> str:
        """A question to be answered with y or n; empty for none."""
        return self._yes_or_no.text

    @property
    def ready(self) -> bool:
        """The active seat's question is known, and nothing that was sent is still to be seen."""
        known = bool(self.active) and self._hearing.knows(self.active)
        return known and not self._hearing.paused

    def heard(self) -> None:
        """Something has changed: keep to the seat that is asked, else turn to another."""
        for seat, sentence in self._hearing.told_off.items():
            self._lose(seat)
            looks_on = "" if self._seated.seats else " You look on."
            self.note = f"{sentence[:1].upper()}{sentence[1:]}.{looks_on}"
        self._hearing.told_off.clear()
        self._forget_refusal()
        asked = self._hearing.asked
        if self.active not in asked:
            self.active = asked[0] if asked else 0
            view = self._hearing.main_view
            if self.active and len(self._seated.seats) > 1 and view is not None:
                who = Seats.of(view).plain(self.active)
                self.note = f"{self.note}\n>>> Now {who}: take the device.".strip()
                self.covered = self._closed(view) and self.active != self._held_by
        question = (self.active, self._hearing.asked_at(self.active))
        if question != self._question:
            self._question = question
            self.draft = None
            self._yes_or_no.drop()
        if self.ready and question != self._carried_on:
            self._carried_on = question
            view = self._hearing.views[self.active]
            self.draft = self.draft or paying.carried_on(view.choices, faces(view.game_view))
        self.moved()

    def _complain(self, sentence: str, revision: int | None = None) -> None:
        """What was typed can't be done; it is said until something else happens.

        `revision` is the table's when it was refused.
        """
        view = self._hearing.main_view
        self.note = sentence
        self._complaint = (sentence, max(revision or 0, view.revision if view is not None else 0))

    def _forget_refusal(self) -> None:
        """What was refused is old news as soon as the table has gone on."""
        sentence, revision = self._complaint
        view = self._hearing.main_view
        if sentence and self.note == sentence and view is not None and view.revision > revision:
            self.note = ""

    def _closed(self, view: table_pb2.TableView) -> bool:
        """People at this screen have cards that the others must not see (SR-16)."""
        closed = view.game_view.HasField("merchants") and view.options["open_hands"] != "on"
        return self._terminal.live and closed

    def moved(self) -> None:
        """Something was heard or shown."""
        self._moved.set()

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until it is so, but not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while not so():
                    self._moved.clear()
                    await self._moved.wait()

    # ------------------------------------------------------------ lines

    def wants(self, line: str) -> bool:
        """A line can be dealt with now: an answer needs a question that was shown."""
        if self._hearing.main_view is None:
            return False
        if self.ready or self.asking:
            return True
        if not line:
            return not self.active and not self._hearing.behind
        word = command(line)
        return bool(word) and word.split()[0] not in ANSWERS

    async def deal(self, line: str) -> None:
        """Deal with one line."""
        self.note = ""
        if self.covered:
            self.covered = False
            self._held_by = self.active
            if not line:
                return
        if self.pages:
            self.pages.popleft()
            if not line:
                return
            self.pages.clear()
        try:
            await self._understand(line)
        except Unclear as unclear:
            self._complain(str(unclear))

    async def _understand(self, line: str) -> None:
        """Find out what a line means, and do it. Raises Unclear."""
        word = command(line)
        verb = line.split(maxsplit=1)[0].lower() if line else ""
        if word in TOGETHER and not (word == "back" and self.draft is not None):
            await self._together.obey(word, line)
        elif self.asking:
            self.note = await self._yes_or_no.answer(line) or self.note
        elif self.draft is not None and word not in _NOT_ANSWERS:
            await self._answer_part(self.draft, line)
        elif word or verb in ("leave", "concede"):
            await self._commands.obey(word or verb, line)
        elif line:
            await self._answer(line)

    async def _answer_part(self, draft: Draft, line: str) -> None:
        """The answer to a question about a part of an action; anything else gives it up."""
        word = command(line)
        first, *rest = line.split() or [""]
        other = word or first.lower() in _VERBS or (first.isdigit() and rest)
        if line.lower() in ("x", "back"):
            self.draft = None
            return
        if texts := paying.several(draft, line):
            self.draft = None
            seat = await self.asked_seat()
            await self.send(seat.act(*texts, expected=self.expected(seat)))
            return
        try:
            draft = answer(draft, line)
        except Unclear:
            if not other:
                raise
            self.draft = None
            await self._understand(line)
        else:
            await self._go_on(draft)

    async def _answer(self, line: str) -> None:
        """A line that answers what the active seat is asked. Raises Unclear."""
        seat = await self.asked_seat()
        view = self._hearing.views[seat.number]
        first, *rest = line.replace(",", " ").split()
        if len(notation.split_turn(line)) > 1:
            await self._several(seat, line)
        elif first.isdigit():
            number = int(first)
            if not 1 <= number <= len(view.choices):
                raise Unclear(f"There is no choice {first}. Type ? for help.")
            await self._go_on(begin(view.choices[number - 1], rest, faces(view.game_view)))
        else:
            await self._go_on(self._draft(line, view))

    def _draft(self, line: str, view: table_pb2.TableView) -> Draft:
        """An action in words, perhaps not all; or what the only possible one is done with."""
        known = faces(view.game_view)
        first, *rest = line.replace(",", " ").split()
        try:
            return typed(line, view.choices, known)
        except Unclear:
            meant = [choice for choice in view.choices if _verb(choice) == first.lower()]
            words = rest if meant else [first, *rest]
            meant = meant or list(view.choices)
            if len(meant) != 1:
                raise
            with suppress(Unclear):
                return begin(meant[0], words, known)
            raise

    async def asked_seat(self) -> Seat:
        """The seat that is asked, once all that was sent is seen. Raises Unclear."""
        await self.until(lambda: not self.active or self.ready or self._hearing.paused)
        if self.ready:
            if self._terminal.live and self._terminal.began_with != self._question:
                raise Unclear("What is asked has changed while you typed. Look again.")
            return self._seated.seats[self.active]
        view = self._hearing.main_view
        if self._hearing.paused:
            raise Unclear("The game is paused: `resume` lets it go on.")
        if view is not None and view.status == table_pb2.TABLE_STATUS_OPEN:
            raise Unclear("The game has not started yet.")
        if self.active:
            raise Unclear("The table is not up to date yet; wait a moment.")
        if not self._seated.seats:
            raise Unclear("You are only looking on. Type ? for help.")
        raise Unclear("You are not asked now. Type ? for help.")

    async def _go_on(self, draft: Draft) -> None:
        """Send an action that is complete; ask for what is missing of another."""
        if draft.missing is not None:
            self.draft = draft
            return
        text = draft.text
        self.draft = None
        seat = await self.asked_seat()
        await self.send(seat.act(text, expected=self.expected(seat)))

    async def _several(self, seat: Seat, line: str) -> None:
        """Several actions in text form, perhaps with a confirmation at the end."""
        parts = notation.split_turn(line)
        confirm = bool(parts) and command(parts[-1]) == "confirm"
        texts = parts[:-1] if confirm else parts
        for text in texts:
            if not text or text[0].isdigit():
                raise Unclear("Several actions in one line are typed in words: move C3; harvest; c")
        if texts or confirm:
            await self.send(seat.act(*texts, confirm=confirm, expected=self.expected(seat)))

    def expected(self, seat: Seat) -> int:
        """The revision that the person has seen."""
        return self._hearing.views[seat.number].revision

    async def send(self, call: Coroutine[Any, Any, Done]) -> Done | None:
        """Send a command; a refusal becomes a line for the person."""
        done = await self.call(call)
        if done is not None:
            self._hearing.need = max(self._hearing.need, done.revision)
        return done

    async def call(self, call: Coroutine[Any, Any, T]) -> T | None:
        """The answer to a call, as long as it is awaited; a refusal becomes a line."""
        self._hearing.sending, self._hearing.unanswered = True, False
        try:
            return await call
        except errors.StaleRevision as refused:
            told = "Not done: the table has changed meanwhile. This is how it stands now."
            self._complain(told, refused.revision)
        except errors.Refused as refused:
            self._complain(f"Not possible: {clean(str(refused), 300)}", refused.revision)
        except errors.NoAnswer as lost:
            told = clean(str(lost), 200)
            self._complain(f"No answer ({told}). Look at the table before you go on.")
        except errors.TableturnError as error:
            self._complain(clean(str(error), 300))
        finally:
            self._hearing.sending = self._hearing.unanswered = False
        return None

    # ------------------------------------------------------------ what commands need

    def ask(self, question: str, if_yes: Callable[[], Awaitable[None]]) -> None:
        """Ask something to be answered with y or n."""
        self._yes_or_no.ask(question, if_yes)

    def gone(self, number: int) -> None:
        """A seat was left from here."""
        self._lose(number)
        if not self._seated.seats:
            self.quit = True

    def _lose(self, number: int) -> None:
        """A seat is not held here any more."""
        self._seated.gone(number)
        self._hearing.views.pop(number, None)
        if self.active == number:
            self.active = 0
