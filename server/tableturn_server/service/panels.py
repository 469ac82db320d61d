"""The servicer of PanelService: panels on tables, their bridges, and what was pressed."""

from __future__ import annotations

from typing import Any

from google.protobuf.duration_pb2 import Duration
from msgspec.structs import replace

from tableturn.v1 import panel_pb2
from tableturn_server.service import convert
from tableturn_server.service.calls import Call
from tableturn_server.service.carrying import Carrying, expected
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.logs import Log
from tableturn_server.service.rematch import rematch
from tableturn_server.service.rooms import Held
from tableturn_server.service.sights import shown_until
from tableturn_server.store import HeldBy, Lease, PanelStore, TableStore
from tableturn_server.tables import commands
from tableturn_server.tables.commands import Gesture
from tableturn_server.tables.facts import panel_of
from tableturn_server.tables.making import check_table_id
from tableturn_server.tables.panels import MOST_BUTTONS, unknown_panel
from tableturn_server.tables.presses import rematch_press
from tableturn_server.tables.refusals import Reason, Refused
from tableturn_server.tables.rights import is_known, unknown_token
from tableturn_server.tables.state import Panel

_pb = panel_pb2
SHORTEST_HOLDER = 8
LONGEST_HOLDER = 64
LARGEST_REPORT = 1024
"""Bytes of what a bridge tells of its panel."""
LONGEST_UPTIME = 2**32
"""Seconds that a panel may have been running: more than anybody has seen."""


class PanelService(Carrying):
    """All of PanelService."""

    def __init__(self, keeper: Keeper, tables: TableStore, panels: PanelStore, log: Log) -> None:
        super().__init__(keeper, log)
        self._tables = tables
        self._panels = panels

    # -- panels on tables ------------------------------------------------------------------

    async def attach_panel(self, request: _pb.AttachPanelRequest, call: Call) -> Any:
        """Put a panel on a table."""
        _check_uid(request.panel_uid)
        command = commands.AttachPanel(
            by=call.by,
            uid=request.panel_uid,
            token=request.panel_token_sha256,
            seats=tuple(request.seats),
        )
        done = await self._carry_out("AttachPanel", request, command, call)
        return _pb.AttachPanelResponse(revision=done.revision, replayed=done.replayed)

    async def detach_panel(self, request: _pb.DetachPanelRequest, call: Call) -> Any:
        """Take a panel off a table."""
        _check_uid(request.panel_uid)
        command = commands.DetachPanel(by=call.by, uid=request.panel_uid)
        done = await self._carry_out("DetachPanel", request, command, call)
        return _pb.DetachPanelResponse(revision=done.revision, replayed=done.replayed)

    async def list_panels(self, request: _pb.ListPanelsRequest, call: Call) -> Any:
        """The panels of a table with their bridges."""
        check_table_id(request.table_id)
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        table = held.table
        with held.resting(by):
            if not (by.admin or is_known(table, by.token)):
                raise unknown_token(table, by, "a token of this table")
        leases: dict[int, Lease | None] = {}
        if shown_until(table, by, self._keeper.now()) is None:  # a bridge is there now or not
            uids = [panel.uid for panel in table.panels]
            leases = await self._panels.all(request.table_id, uids)
        return _pb.ListPanelsResponse(
            panels=[_status(panel, leases.get(panel.uid)) for panel in table.panels]
        )

    # -- their bridges ---------------------------------------------------------------------

    async def hold_panel(self, request: _pb.HoldPanelRequest, call: Call) -> Any:
        """Hold a panel for a bridge."""
        _check_holder(request.holder)
        _check_report(request.report)
        held = await self._of_panel(request.table_id, request.panel_uid, call)
        other = await self._panels.hold(
            request.table_id,
            request.panel_uid,
            request.holder,
            request.report.SerializeToString(),
            now_ms=self._keeper.now(),
        )
        if other is not None:
            raise _held_by(other, held.revision)
        seconds, rest = divmod(self._panels.lease_ms, 1000)
        return _pb.HoldPanelResponse(lease=Duration(seconds=seconds, nanos=rest * 1_000_000))

    async def release_panel(self, request: _pb.ReleasePanelRequest, call: Call) -> Any:
        """Let a panel go; done already if this bridge doesn't hold it."""
        _check_holder(request.holder)
        await self._of_panel(request.table_id, request.panel_uid, call)
        await self._panels.release(request.table_id, request.panel_uid, request.holder)
        return _pb.ReleasePanelResponse()

    async def _of_panel(self, table_id: str, uid: int, call: Call) -> Held:
        """The table, for whoever has the panel's token. Raises Refused for anybody else."""
        check_table_id(table_id)
        _check_uid(uid)
        held, by, _ = await self._keeper.sights.look(table_id, call.by)
        table = held.table
        panel = panel_of(table, uid)
        if panel is not None and by.token == panel.token:
            return held
        with held.resting(by):
            if panel is None and is_known(table, by.token):
                raise unknown_panel(table, uid)
            raise unknown_token(table, by, f"the token of panel {uid}")

    # -- what was pressed ------------------------------------------------------------------

    async def press_panel(self, request: _pb.PressPanelRequest, call: Call) -> Any:
        """Carry out what was done with a button."""
        command = _press(request, call)
        await self._check_held(request, call)
        # Who sends it again need not be the one who sent it first.
        bare = _pb.PressPanelRequest()
        bare.CopyFrom(request)
        bare.holder = ""
        try:
            done = await self._carry_out("PressPanel", bare, command, call)
        except Refused as refused:
            if refused.reason is not Reason.GAME_OVER:
                raise
            return await self._rematch(request, command, call)
        return _pb.PressPanelResponse(
            revision=done.revision,
            replayed=done.replayed,
            seat=done.seat,
            lines=await self._lines(request.table_id, done),
        )

    async def _check_held(self, request: _pb.PressPanelRequest, call: Call) -> None:
        """Refuse a press of a bridge that doesn't hold the panel."""
        lease = await self._panels.holder(request.table_id, request.panel_uid)
        if lease is not None and lease.holder == request.holder:
            return
        held = await self._of_panel(request.table_id, request.panel_uid, call)
        if lease is not None:
            raise _held_by(HeldBy(lease.holder, lease.left_ms), held.revision)
        raise Refused(
            Reason.PANEL_HELD,
            "no bridge holds this panel now; hold it, then send the press again",
            revision=held.revision,
            retry_after_ms=0,
        )

    async def _rematch(
        self, request: _pb.PressPanelRequest, command: commands.Press, call: Call
    ) -> Any:
        """The next table, if a button was held when the panel showed that the game was over."""
        held, by, _ = await self._keeper.sights.look(request.table_id, call.by)
        with held.resting(by):
            seat = rematch_press(held.table, replace(command, by=by))
        found = await rematch(
            self._keeper, self._tables, request.table_id, call.by, None, call.deadline
        )
        self._log.info("rematch", table=request.table_id, next=found.table_id, again=found.again)
        return _pb.PressPanelResponse(
            revision=found.revision,
            replayed=found.again,
            seat=seat,
            lines=[f"a rematch begins at the table {found.table_id}"],
            next_table_id=found.table_id,
        )


def _press(request: _pb.PressPanelRequest, call: Call) -> commands.Press:
    """The command of a press. Raises Refused for one that no panel sends."""
    check_table_id(request.table_id)
    _check_uid(request.panel_uid)
    _check_holder(request.holder)
    try:
        gesture = Gesture(request.gesture)
    except ValueError as error:
        raise Refused(
            Reason.BAD_FIELD, f"there is no gesture {request.gesture}", field="gesture"
        ) from error
    for field, number in (("button", request.button), ("second_button", request.second_button)):
        if number > MOST_BUTTONS:
            raise Refused(Reason.BAD_FIELD, f"no panel has a button {number}", field=field)
    return commands.Press(
        by=call.by,
        uid=request.panel_uid,
        button=request.button,
        gesture=gesture,
        second=request.second_button,
        expected_revision=expected(request.expected_revision),
    )


def _check_uid(uid: int) -> None:
    if not uid:
        raise Refused(
            Reason.BAD_FIELD, "panel_uid is missing: the panel's number", field="panel_uid"
        )


def _check_holder(holder: str) -> None:
    if not SHORTEST_HOLDER <= len(holder) <= LONGEST_HOLDER or not holder.isprintable():
        raise Refused(
            Reason.BAD_FIELD,
            f"holder, the bridge's name, has {SHORTEST_HOLDER} to {LONGEST_HOLDER} "
            "printable characters",
            field="holder",
        )


def _check_report(report: _pb.PanelReport) -> None:
    if report.ByteSize() > LARGEST_REPORT:
        raise Refused(
            Reason.BAD_FIELD, f"report has at most {LARGEST_REPORT} bytes", field="report"
        )
    # What is told to others must be readable: not every number of seconds is a Duration.
    uptime = report.uptime
    if not (0 <= uptime.seconds <= LONGEST_UPTIME and 0 <= uptime.nanos < 1_000_000_000):
        raise Refused(
            Reason.BAD_FIELD,
            f"report.uptime is a time of 0 to {LONGEST_UPTIME} seconds",
            field="report.uptime",
        )


def _held_by(other: HeldBy, revision: int) -> Refused:
    return Refused(
        Reason.PANEL_HELD,
        f"another bridge holds this panel: {other.holder}; stop it, or wait until it is gone",
        holder=other.holder,
        retry_after_ms=other.left_ms,
        revision=revision,
    )


def _status(panel: Panel, lease: Lease | None) -> _pb.PanelStatus:
    status = _pb.PanelStatus(panel_uid=panel.uid, seats=panel.seats, held=lease is not None)
    if lease is not None:
        status.report.ParseFromString(lease.report)
        status.report_time.CopyFrom(convert.timestamp(lease.told_ms))
    return status
