"""Bridges in tests of the service: they hold a panel and send what was done with its buttons."""

from __future__ import annotations

import secrets
from typing import Any

from tableturn.v1 import panel_pb2, panel_pb2_grpc
from tests.service.support import Caller, Running, digest

pp = panel_pb2
UID = 4711
PRESS, LONG, CHORD = pp.GESTURE_PRESS, pp.GESTURE_LONG, pp.GESTURE_CHORD
MASTER, MASTER_LONG = pp.GESTURE_MASTER, pp.GESTURE_MASTER_LONG


class Bridge(Caller):
    """The bridge of a panel, with the panel's token; also a host who puts panels on tables."""

    def __init__(
        self,
        channel: Any,
        token: str,
        table_id: str,
        *,
        holder: str = "kitchen-0001",
        uid: int = UID,
    ) -> None:
        super().__init__(channel, token, table_id)
        self.panels: Any = panel_pb2_grpc.PanelServiceStub(channel)
        self.holder = holder
        self.uid = uid

    async def asks(self, method: str, request: Any) -> Any:
        """Call a method of PanelService."""
        return await getattr(self.panels, method)(request, metadata=self.metadata, timeout=20)

    async def holds(self, **report: Any) -> Any:
        return await self.asks(
            "HoldPanel",
            pp.HoldPanelRequest(
                table_id=self.table_id,
                panel_uid=self.uid,
                holder=self.holder,
                report=pp.PanelReport(**report),
            ),
        )

    async def releases(self) -> None:
        request = pp.ReleasePanelRequest(
            table_id=self.table_id, panel_uid=self.uid, holder=self.holder
        )
        await self.asks("ReleasePanel", request)

    async def lists(self) -> list[pp.PanelStatus]:
        answer = await self.asks("ListPanels", pp.ListPanelsRequest(table_id=self.table_id))
        return list(answer.panels)

    async def presses(
        self,
        button: int,
        gesture: Any = PRESS,
        *,
        second: int = 0,
        at: int | None = None,
        request_id: str = "",
    ) -> pp.PressPanelResponse:
        """Send a gesture, with the newest revision that this bridge has seen."""
        if at is None and not self.seen:
            await self.looks()
        request = pp.PressPanelRequest(
            table_id=self.table_id,
            request_id=request_id or f"panel:{self.uid}:{secrets.token_hex(8)}",
            panel_uid=self.uid,
            holder=self.holder,
            button=button,
            gesture=gesture,
            second_button=second,
            expected_revision=self.seen if at is None else at,
        )
        answer: pp.PressPanelResponse = await self.asks("PressPanel", request)
        self.seen = max(self.seen, answer.revision)
        return answer


async def attach(host: Caller, panel: Bridge, seats: list[int], request_id: str = "") -> Any:
    """The host puts a panel on the table."""
    request = pp.AttachPanelRequest(
        table_id=panel.table_id,
        request_id=request_id or secrets.token_hex(8),
        panel_uid=panel.uid,
        panel_token_sha256=digest(panel.token),
        seats=seats,
    )
    stub: Any = panel_pb2_grpc.PanelServiceStub(host.channel)
    return await stub.AttachPanel(request, metadata=host.metadata, timeout=20)


async def detach(who: Caller, uid: int = UID) -> Any:
    """Somebody takes a panel off the table."""
    request = pp.DetachPanelRequest(
        table_id=who.table_id, request_id=secrets.token_hex(8), panel_uid=uid
    )
    stub: Any = panel_pb2_grpc.PanelServiceStub(who.channel)
    return await stub.DetachPanel(request, metadata=who.metadata, timeout=20)


def a_bridge(running: Running, table_id: str, **fields: Any) -> Bridge:
    """A bridge whose panel is on no table yet."""
    token = f"the token of a panel {secrets.token_hex(4)}"
    return Bridge(running.channel, fields.pop("token", token), table_id, **fields)


async def a_panel(host: Caller, running: Running, seats: list[int], **fields: Any) -> Bridge:
    """A panel on the table, held by its bridge."""
    bridge = a_bridge(running, host.table_id, **fields)
    await attach(host, bridge, seats)
    await bridge.holds()
    return bridge
