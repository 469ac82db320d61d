"""The servicer of TableService: requests become commands, outcomes become responses."""

from __future__ import annotations

import asyncio
import base64
import secrets
from hashlib import blake2b
from typing import Any

from tableturn.v1 import table_pb2
from tableturn_server.rules.source import SEED_BYTES
from tableturn_server.service import convert, settings
from tableturn_server.service.calls import Call, Desk
from tableturn_server.service.carrying import Carrying, expected
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.presences import Presences, message_of
from tableturn_server.service.refusing import table_exists
from tableturn_server.service.rematch import rematch, rematch_order
from tableturn_server.service.requests import page_size, remembered
from tableturn_server.service.rooms import Held
from tableturn_server.service.sights import shown_until
from tableturn_server.store import TableStore
from tableturn_server.tables import commands, making, views
from tableturn_server.tables.authority import acting_seat
from tableturn_server.tables.making import Wish, check_table_id, make
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.state import Making, Occupant, Table, Takeback

_pb = table_pb2
_LOG_PAGE = 100
_LONGEST_LOG_PAGE = 500
_LIST_PAGE = 50
_LONGEST_LIST_PAGE = 100
_MOST_INDEX_PAGES = 10


class TableService(Carrying):
    """All of TableService but the watches."""

    def __init__(
        self,
        keeper: Keeper,
        store: TableStore,
        desk: Desk,
        log: Log,
        presences: Presences,
    ) -> None:
        super().__init__(keeper, log)
        self._store = store
        self._desk = desk
        self._presences = presences

    # -- making and finding tables ---------------------------------------------------------

    async def create_table(self, request: _pb.CreateTableRequest, call: Call) -> Any:
        """Make a table, or return the one that is there if that is wanted."""
        principal = request.host_token_sha256
        making.check_token(principal, "host_token_sha256")
        asked = remembered(request, "CreateTable", principal.hex())
        table_id = request.table_id or _derived_id(principal, request.request_id)
        wish = _wish(request, table_id)
        self._desk.gate.new_table(call.peer)
        if wish.component_set:
            # Reading a large document takes long: not on the loop.
            made = await asyncio.to_thread(self._make, wish)
        else:
            made = self._make(wish)
        table, entry, warnings = made
        held, new, replayed = await self._keeper.create(table, entry, asked)
        if new:
            self._log.info("created", table=table_id, game=wish.game, seats=table.making.seats)
        elif not replayed and not (request.if_absent and _agrees(held, table, call)):
            refused = table_exists(table_id, held.revision)
            raise await self._keeper.sights.told(refused, held, call.by)
        held = (await self._keeper.sights.of(held, call.by)).held
        response = _pb.CreateTableResponse(replayed=replayed, warnings=warnings)
        return response.SerializeToString() + convert.nested(1, held.view(None))

    def _make(self, wish: Wish) -> Any:
        return make(wish, drawn_seed=secrets.token_bytes(SEED_BYTES), now=self._keeper.now())

    async def get_table(self, request: _pb.GetTableRequest, call: Call) -> bytes:
        """A table as the caller may see it."""
        check_table_id(request.table_id)
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        now = self._keeper.now()
        seen = held.view(held.audience(by, request.seat))
        response = _pb.GetTableResponse(time=convert.timestamp(now))
        if shown_until(held.table, by, now) is None:
            response.presence.CopyFrom(message_of(await self._presences.at(held)))
        return convert.nested(1, seen) + response.SerializeToString()

    async def list_tables(self, request: _pb.ListTablesRequest, call: Call) -> Any:
        """Listed tables."""
        size = page_size(request.page_size, _LIST_PAGE, _LONGEST_LIST_PAGE)
        found: list[_pb.TableSummary] = []
        cursor = request.page_token
        for _ in range(_MOST_INDEX_PAGES):
            try:
                page = await self._store.list_tables(cursor, size - len(found))
            except ValueError as error:
                raise Refused(
                    Reason.BAD_FIELD,
                    "this page token is none of this service; begin with an empty one",
                    field="page_token",
                ) from error
            names = [line.table_id for line in page.tables]
            tables = await self._keeper.sights.look_at_all(names, call.by)
            found += [_summary(held) for held in tables if held and not held.table.making.unlisted]
            cursor = page.cursor
            if not cursor or len(found) >= size:
                break
        return _pb.ListTablesResponse(tables=found, next_page_token=cursor)

    # -- the start -------------------------------------------------------------------------

    async def start_game(self, request: _pb.StartGameRequest, call: Call) -> Any:
        """Start the game."""
        command = commands.Start(by=call.by, without_free_seats=request.without_free_seats)
        done = await self._carry_out("StartGame", request, command, call)
        return _pb.StartGameResponse(revision=done.revision, replayed=done.replayed)

    # -- turns -----------------------------------------------------------------------------

    async def list_actions(self, request: _pb.ListActionsRequest, call: Call) -> Any:
        """What a seat may do now."""
        check_table_id(request.table_id)
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        table = held.table
        with held.resting(by):
            seat = acting_seat(table, by, request.seat)
        asked, choices = views.question(table, seat)
        return _pb.ListActionsResponse(
            revision=held.revision,
            prompt=convert.prompt(asked) if asked else None,
            choices=[convert.choice(choice) for choice in choices],
        )

    async def act(self, request: _pb.ActRequest, call: Call) -> Any:
        """Stage actions, and confirm the turn if asked to."""
        command = commands.Act(
            by=call.by,
            seat=request.seat,
            expected_revision=expected(request.expected_revision),
            actions=convert.read_actions(request.actions),
            confirm=request.confirm,
        )
        done = await self._carry_out("Act", request, command, call)
        return _pb.ActResponse(
            revision=done.revision,
            replayed=done.replayed,
            lines=await self._lines(request.table_id, done),
        )

    async def confirm(self, request: _pb.ConfirmRequest, call: Call) -> Any:
        """Confirm what a seat has staged."""
        command = commands.Act(
            by=call.by,
            seat=request.seat,
            expected_revision=expected(request.expected_revision),
            confirm=True,
        )
        done = await self._carry_out("Confirm", request, command, call)
        return _pb.ConfirmResponse(
            revision=done.revision,
            replayed=done.replayed,
            lines=await self._lines(request.table_id, done),
        )

    async def undo(self, request: _pb.UndoRequest, call: Call) -> Any:
        """Undo staged actions."""
        command = commands.Undo(
            by=call.by,
            seat=request.seat,
            expected_revision=expected(request.expected_revision),
            all=request.all,
        )
        done = await self._carry_out("Undo", request, command, call)
        return _pb.UndoResponse(revision=done.revision, replayed=done.replayed)

    async def take_back(self, request: _pb.TakeBackRequest, call: Call) -> Any:
        """Take the last confirmed turn back, or agree to it."""
        command = commands.TakeBack(
            by=call.by,
            seat=request.seat,
            expected_revision=expected(request.expected_revision),
        )
        done = await self._carry_out("TakeBack", request, command, call)
        return _pb.TakeBackResponse(
            revision=done.revision, replayed=done.replayed, waiting_for=done.waiting_for
        )

    # -- the game as a whole ---------------------------------------------------------------

    async def pause_game(self, request: _pb.PauseGameRequest, call: Call) -> Any:
        """Pause the game."""
        done = await self._carry_out("PauseGame", request, commands.Pause(by=call.by), call)
        return _pb.PauseGameResponse(revision=done.revision, replayed=done.replayed)

    async def resume_game(self, request: _pb.ResumeGameRequest, call: Call) -> Any:
        """Let a paused game go on."""
        done = await self._carry_out("ResumeGame", request, commands.Resume(by=call.by), call)
        return _pb.ResumeGameResponse(revision=done.revision, replayed=done.replayed)

    async def concede(self, request: _pb.ConcedeRequest, call: Call) -> Any:
        """Take a seat out of the game."""
        command = commands.Concede(
            by=call.by, seat=request.seat, expected_revision=request.expected_revision
        )
        done = await self._carry_out("Concede", request, command, call)
        return _pb.ConcedeResponse(revision=done.revision, replayed=done.replayed)

    async def rematch(self, request: _pb.RematchRequest, call: Call) -> Any:
        """The next table of the same people."""
        check_table_id(request.table_id)
        order = rematch_order(request.order)
        asked = remembered(request, "Rematch", call.principal)
        found = await rematch(
            self._keeper, self._store, request.table_id, call.by, asked, call.deadline, order
        )
        self._log.info("rematch", table=request.table_id, next=found.table_id, again=found.again)
        return _pb.RematchResponse(table_id=found.table_id, replayed=found.again)

    async def list_log(self, request: _pb.ListLogRequest, call: Call) -> bytes:
        """A part of the log, as the caller may see it."""
        check_table_id(request.table_id)
        size = page_size(request.page_size, _LOG_PAGE, _LONGEST_LOG_PAGE)
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        seat = held.audience(by, request.seat)
        found = await self._keeper.log(
            request.table_id, request.after_revision, size + 1, held.revision
        )
        entries = b"".join(convert.nested(1, told.log_entry(seat)) for told in found[:size])
        more = _pb.ListLogResponse(more=len(found) > size)
        return entries + more.SerializeToString()


def _summary(held: Held) -> _pb.TableSummary:
    table = held.table
    free = [s for s in table.seats if s.occupant is Occupant.NOBODY and not s.dropped]
    return _pb.TableSummary(
        table_id=table.making.table_id,
        game=table.making.game,
        title=table.making.title,
        status=int(table.status),  # type: ignore[arg-type]
        seats=len(table.seats),
        free_seats=len(free),
        revision=held.revision,
    )


def _derived_id(principal: bytes, request_id: str) -> str:
    """An id that nobody can guess, and that the same request gets again on any process."""
    digest = blake2b(request_id.encode(), key=principal, digest_size=10).digest()
    return base64.b32encode(digest).decode().lower()


def _wish(request: _pb.CreateTableRequest, table_id: str) -> Wish:
    try:
        takeback = Takeback(request.takeback or Takeback.HOST)
    except ValueError as error:
        raise Refused(
            Reason.BAD_FIELD, f"there is no takeback policy {request.takeback}", field="takeback"
        ) from error
    return Wish(
        table_id=table_id,
        game=request.game,
        seats=request.seats,
        options=dict(request.options),
        component_set=request.component_set,
        host=request.host_token_sha256,
        watch=request.watch_token_sha256,
        unlisted=request.unlisted,
        start_when_full=request.start_when_full,
        takeback=takeback,
        title=request.title,
        seed=request.seed,
        clock=settings.clock(request),
        absence=settings.absence(request),
        private=request.private,
        spectator_delay=settings.spectator_delay(request),
        host_stays=request.host_stays,
    )


def _agrees(held: Held, table: Table, call: Call) -> bool:
    """A table that is there is the one that is wanted, and the caller may see it."""
    there, wanted = held.table.making, table.making
    if _asked_for(there) != _asked_for(wanted):
        return False
    try:
        views.audience(held.table, call.by, 0)
    except Refused:
        return there.host == wanted.host
    return True


def _asked_for(made: Making) -> tuple[Any, ...]:
    """What was asked for when a table was made; a start without free seats changes none of it."""
    seats = made.seats + made.left_out
    time = made.clock, made.absence, made.spectator_delay
    return made.game, seats, made.options, made.set_sha256, made.private, *time
