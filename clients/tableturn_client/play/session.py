"""A session at a table: what is heard from it, what a person answers, what is shown.

Three kinds of tasks run beside each other: a watch for each seat held (or one as
a spectator), the painter, which shows what has changed, and the reader of lines.
Nothing is shown that the service did not send (case R9): after a command the
session waits for the change that it made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from rich.console import Group
from rich.text import Text

from tableturn.v1 import table_pb2
from tableturn_client import errors
from tableturn_client.drawing import log, table, talk
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.moment import Moment
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean
from tableturn_client.play import pages, scene
from tableturn_client.play.answers import Unclear
from tableturn_client.play.conversation import Conversation
from tableturn_client.play.hearing import LOST, Hearing
from tableturn_client.play.scene import Scene
from tableturn_client.play.seated import Seated
from tableturn_client.play.terminal import Interrupted, Terminal

_TICK = 1.0
_CODE_PATIENCE = 1.0
"""Seconds for which the lobby waits for its join code."""
_LOG_LINES = 60
"""Lines of the log where all is written line by line."""


class Session:
    """One person, or several at one device, at one table."""

    def __init__(
        self,
        seated: Seated,
        terminal: Callable[[Session], Terminal],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.seated = seated
        self._sleep = sleep
        self.over = False
        self._dirty = asyncio.Event()
        self._shown: tuple[object, ...] = ()
        self._shown_board: tuple[object, ...] = ()
        self._shown_banner = ""
        self._code: str | None = None
        """The table's join code; empty where it isn't known, None before it was asked for."""
        self._drawn_with = 0
        """Line ends of the clocks above the input line, when the screen was drawn last."""
        self.terminal = terminal(self)
        self._hearing = Hearing(seated, self._changed)
        self._talk = Conversation(seated, self._hearing, self.terminal, self._open_page)

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        """Play until the game is over, the input ends, or the person quits."""
        if self.terminal.live:
            await self._hearing.recall()
        following = [self._hearing.follow(handle) for handle in self.seated.handles]
        jobs = (*following, self._paint(), self._read(), self._tick())
        tasks = [asyncio.create_task(job) for job in jobs]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()
        await self._flush()

    def retrying(self, error: errors.TableturnError) -> None:
        """A call got no answer and is repeated."""
        self._hearing.unanswered = True
        self._dirty.set()

    def _changed(self) -> None:
        """Something was heard."""
        self._talk.heard()
        self._dirty.set()

    async def _read(self) -> None:
        """Read lines and deal with them, until the input ends or the person quits."""
        talk = self._talk
        while not self.over and not talk.quit:
            try:
                line = await self.terminal.read(self._wants)
            except Interrupted:
                line = None
            if line is None:
                if not self.seated.seats and not self.terminal.live:
                    await asyncio.Event().wait()  # a spectator without input goes on looking
                # What was sent last may have ended the game.
                await talk.until(lambda: not self._hearing.behind and not self._dirty.is_set())
                break
            await talk.deal(line)
            if talk.pages:
                await self._show_page()
            self._dirty.set()
        if not self.over:
            await self.terminal.show(pages.farewell(self.view, self.seated.own, self.seated.server))

    def _wants(self, line: str) -> bool:
        """A line can be dealt with now: all that was heard is shown."""
        return not self._dirty.is_set() and self._talk.wants(line)

    async def _learn_code(self) -> None:
        """Ask for the table's join code, for those who sit there to tell others."""
        self._code = ""
        with suppress(errors.TableturnError, TimeoutError):
            async with asyncio.timeout(_CODE_PATIENCE):
                self._code = await self.seated.trusted.join_code()

    async def _tick(self) -> None:
        """Let the clocks beside the input line go on, once a second.

        The screen above is drawn anew only when something has happened: doing that each second
        would flicker, and scroll away what a person is reading.
        """
        while True:
            await self._sleep(_TICK)
            if not self.terminal.live or not (ticking := self._ticking().plain):
                continue
            if ticking.count("\n") != self._drawn_with:
                self._dirty.set()  # there is more room above, or less
            else:
                self.terminal.tick()

    # ------------------------------------------------------------ what is seen

    @property
    def view(self) -> table_pb2.TableView | None:
        """The table as the active seat sees it, or as the first one does."""
        return self._hearing.views.get(self._talk.active) or self._hearing.main_view

    @property
    def banner(self) -> str:
        """What is wrong with the connection; empty for nothing."""
        return self._hearing.banner(self._talk.active)

    @property
    def scene(self) -> Scene | None:
        """What there is to see; None before the first view."""
        view, talk, seated = self.view, self._talk, self.seated
        if view is None:
            return None
        host = seated.host is not None
        hints = pages.hints(view, seated.own, host, seated.server, self._code or "")
        if talk.covered:
            hints = (f"Enter: show the cards of {Seats.of(view).plain(talk.active)}",)
        return Scene(
            view=view,
            own=seated.own,
            active=talk.active if talk.ready and not talk.covered else 0,
            log=self._hearing.logs.get(talk.active or seated.first, ()),
            note=talk.note,
            banner=self.banner,
            draft=None if talk.covered else talk.draft,
            asking=talk.asking,
            hints=hints,
            moment=self._moment(),
        )

    def _moment(self) -> Moment:
        """The service's time, and who is there."""
        return Moment(self.seated.main.time.time(), self._hearing.who)

    def _ticking(self) -> Text:
        """What stands above the input line, and changes as time goes on."""
        now = None if self._talk.pages else self.scene
        return scene.ticking(now, Look.of(self.terminal.console)) if now is not None else Text()

    # ------------------------------------------------------------ showing

    async def _paint(self) -> None:
        """Show what has changed, until the game is over."""
        while not self.over:
            await self._dirty.wait()
            self._dirty.clear()
            now = self.scene
            if now is not None:
                if self._code is None and now.view.status == table_pb2.TABLE_STATUS_OPEN:
                    await self._learn_code()
                    now = self.scene or now
                await (self._paint_screen(now) if self.terminal.live else self._paint_lines(now))
                if now.view.status == table_pb2.TABLE_STATUS_FINISHED:
                    await self._end(now)
            self._talk.moved()
            self.terminal.wake()

    async def _paint_screen(self, now: Scene) -> None:
        """Draw the whole screen anew, unless a page is being read."""
        if not self._talk.pages:
            self._drawn_with = self._ticking().plain.count("\n")
            self.terminal.ask((now.active, self._hearing.asked_at(now.active)))
            await self.terminal.show(scene.whole(now, self.terminal.look), clear=True)

    async def _paint_lines(self, now: Scene) -> None:
        """Write what is new: log lines, trouble, the table before each question."""
        await self._flush()
        banner = LOST if now.banner.startswith(LOST) else now.banner
        if banner != self._shown_banner:
            self._shown_banner = banner
            await self.terminal.show(Text(f"*** {banner or 'back'} ***", "bold"))
        view, look = now.view, self.terminal.look
        if self._talk.active and not now.active and not view.paused:
            return  # what the seat is asked is on its way
        asked = (now.active, view.revision if now.active else 0)
        lobby = view.status == table_pb2.TABLE_STATUS_OPEN and view.revision
        board = (asked, lobby, view.paused)
        if view.status != table_pb2.TABLE_STATUS_FINISHED and (
            board != self._shown_board and (now.active or lobby or self._hearing.map_due)
        ):
            self._hearing.map_due = False
            await self.terminal.show(Text("\n") + scene.board(now, look))
        elif self._hearing.map_due and not self.seated.seats and view.game_view.ByteSize():
            self._hearing.map_due = False
            await self.terminal.show(scene.board(now, look))
        question = (asked, now.draft, now.asking, tuple(now.hints))
        if question != self._shown or now.note:
            text = scene.question(now, look)
            await self.terminal.show(scene.joined(scene.note(now, look), text))
            self._talk.note = ""
        self._shown, self._shown_board = question, board

    async def _flush(self) -> None:
        """Write the log lines that were not told yet."""
        while self._hearing.untold and not self.terminal.live:
            await self.terminal.show(self._hearing.untold.popleft())

    async def _end(self, now: Scene) -> None:
        """The result, and how to go on."""
        look = self.terminal.look
        room = max(1, look.height - len(now.view.outcome.results) - 8) if self.terminal.live else 0
        board = table.draw(now.view, look, table.Eyes(now.own), room)
        cut_off = bool(room) and board.plain.count("\n") >= room  # who won is told below
        result = pages.result(now.view, look, head=cut_off)
        told = pages.next_table(now.view, self.seated.server, seated=bool(self.seated.seats))
        await self.terminal.show(Group(board, Text(), result, told), clear=True)
        self.over = True

    # ------------------------------------------------------------ pages

    async def _open_page(self, word: str) -> None:
        """Show a page; on a screen it stays until Enter."""
        now = self.scene
        if now is None:
            return
        match word:
            case "log":
                page = await self._log_page()
            case "chat":
                page = await self._chat_page(Seats.of(now.view))
            case _:
                page = pages.page(word, now, self.terminal.look)
        if not self.terminal.live:
            await self.terminal.show(page)
            return
        lines = list(page.split("\n"))
        height = self.terminal.look.height - 1
        self._talk.pages.extend(
            Text("\n").join(lines[first : first + height]) for first in range(0, len(lines), height)
        )

    async def _show_page(self) -> None:
        """Show the page that is open now."""
        opened = self._talk.pages
        more = "more" if len(opened) > 1 else "back to the table"
        page = scene.joined(opened[0], Text(f"Enter: {more}", "bold"))
        await self.terminal.show(page, clear=True)

    async def _log_page(self) -> Text:
        """The last part of the log."""
        view = self.view
        lines = self.terminal.look.height - 1 if self.terminal.live else _LOG_LINES
        after = max(0, (view.revision if view else 0) - lines)
        try:
            answer = await self.seated.main.log_page(after)
        except errors.TableturnError as error:
            raise Unclear(clean(str(error), 200)) from None
        drawn = log.entries(answer.entries, Seats.of(view) if view else Seats())
        kept = list(drawn.split("\n"))[-lines:]
        return Text("\n").join(kept)

    async def _chat_page(self, seats: Seats) -> Text:
        """What was said."""
        try:
            chat = await self.seated.main.chat()
        except errors.TableturnError as error:
            raise Unclear(clean(str(error), 200)) from None
        lines = [talk.line(line, seats) for line in chat.lines]
        return Text("\n").join(lines or [Text("Nothing was said. Type say and your words.")])

    # ------------------------------------------------------------ the input line

    def message(self) -> Text:
        """What stands before the input: the clocks that run, and whose turn it is."""
        return scene.joined(self._ticking(), self._before_input())

    def _before_input(self) -> Text:
        if self._talk.pages:
            return Text("> ")
        view = self.view
        if view is not None and self._talk.ready:
            return Seats.of(view).full(self._talk.active, 20).append(" > ")
        return Text("> ")

    def resized(self) -> None:
        """The screen has another size now."""
        self._talk.pages.clear()
        self._dirty.set()

    def toolbar(self) -> Text:
        """The line at the bottom of a screen."""
        if self.banner:
            return Text(f" {self.banner} ")
        keys = " ? help   b boards   m map   l log   q quit"
        view = self.view
        if self._talk.pages and self._talk.active:
            return Text(" It is your turn: Enter goes back to the table")
        where = f"   revision {view.revision}" if view is not None else ""
        return Text(keys + where)
