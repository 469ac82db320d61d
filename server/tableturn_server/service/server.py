"""The gRPC server: all services, health, reflection, keepalive, and an end without loss."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from tableturn.v1 import catalog_pb2, company_pb2, panel_pb2, table_pb2
from tableturn_server.bots.pool import Pool
from tableturn_server.jobs import Runner, Sweeper
from tableturn_server.service import codes, logs
from tableturn_server.service.calls import LARGE, SMALL, Desk
from tableturn_server.service.catalog import CatalogService
from tableturn_server.service.company import CompanyService
from tableturn_server.service.company_events import Asides
from tableturn_server.service.documents import Documents
from tableturn_server.service.keeper import Keeper
from tableturn_server.service.limits import Gate, Limits
from tableturn_server.service.outages import Outages
from tableturn_server.service.panels import PanelService
from tableturn_server.service.people import People
from tableturn_server.service.presences import Presences
from tableturn_server.service.seats import Seats
from tableturn_server.service.tables import TableService
from tableturn_server.service.watching import HEARTBEAT, Watches
from tableturn_server.store import (
    LEASE_MS,
    ChatStore,
    CodeStore,
    OutageStore,
    PanelStore,
    PresenceStore,
    Store,
)

GRACE = 3.0
"""Seconds that running calls are given when the service ends."""

LINGER = 0.2
"""Seconds in which calls are still refused in words before the port is closed."""

OPTIONS: tuple[tuple[str, int], ...] = (
    # Two servers on one port would share its calls by chance: a second one is an error.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", LARGE),
    ("grpc.max_send_message_length", LARGE),
    ("grpc.max_concurrent_streams", 4096),
    # An idle watch lives for hours, behind routers that forget idle connections (G4).
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # The interval of received pings (min_recv_... has no such word in it).
    ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
    ("grpc.http2.max_ping_strikes", 5),
)

_TABLES = table_pb2.DESCRIPTOR.services_by_name["TableService"]
_CATALOG = catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"]
_PANELS = panel_pb2.DESCRIPTOR.services_by_name["PanelService"]
_COMPANY = company_pb2.DESCRIPTOR.services_by_name["CompanyService"]


class Service:
    """Everything between a port and a store.

    `admin` is the SHA-256 of the admin's token. `heartbeat` is the interval of signs of life
    in watches, in seconds; `lease_ms` is for how long a panel is held;
    `bot_workers` is how many processes may think for bots, 0 leaves bots to other services.
    """

    def __init__(
        self,
        store: Store,
        admin: bytes,
        *,
        limits: Limits | None = None,
        heartbeat: float = HEARTBEAT,
        clock: Callable[[], float] = time.time,
        lease_ms: int = LEASE_MS,
        bot_workers: int = 1,
    ) -> None:
        log = logs.get()
        loop = asyncio.get_running_loop()
        self.desk = Desk(Gate(limits or Limits(), loop.time), admin, log)
        self._jobs = store.jobs
        self.outages = Outages(OutageStore(store.connection), clock=clock, on_end=self._hasten)
        self.keeper = Keeper(
            store.tables, store.hub, jobs=store.jobs, outages=self.outages, clock=clock
        )
        self.presences = Presences(
            self.keeper,
            store.tables,
            PresenceStore(store.connection),
            store.jobs,
            store.hub,
            outages=self.outages,
        )
        chat = ChatStore(store.connection)
        self.bots = Pool(bot_workers)
        self.runner = Runner(
            store.jobs,
            self.keeper,
            self.outages,
            self.bots,
            presence=self.presences,
            workers=bot_workers,
        )
        self.sweeper = Sweeper(store.jobs, store.tables, self.keeper)
        self.watches = Watches(
            self.keeper,
            store.hub,
            self.desk,
            Asides(self.keeper, self.presences, chat, interval=heartbeat),
            heartbeat=heartbeat,
            clock=clock,
        )
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(options=OPTIONS)
        served = self._served(store, chat, PanelStore(store.connection, lease_ms=lease_ms), log)
        for service, methods in served:
            missing = {method.name for method in service.methods} - set(methods)
            assert not missing, f"no handler for {missing}"
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service.full_name, methods),)
            )
        self.handlers = tuple(one for _, methods in served for one in methods.values())
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.names = ("", *(service.full_name for service, _ in served))
        reflection.enable_server_reflection(
            (*self.names[1:], health.SERVICE_NAME, reflection.SERVICE_NAME), self._server
        )

    def _served(
        self, store: Store, chat: ChatStore, leases: PanelStore, log: logs.Log
    ) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """The services with the handlers of all their methods."""
        keeper, desk = self.keeper, self.desk
        known = codes.Codes(keeper, CodeStore(store.connection, codes.draw))
        tables = _handlers(
            desk,
            table_pb2,
            _TABLES,
            TableService(keeper, store.tables, desk, log, self.presences),
            Seats(keeper, log, known, chat),
            People(keeper, log, self.presences.away),
            Documents(keeper, log),
        )
        tables["WatchTable"] = desk.stream(
            "WatchTable", table_pb2.WatchTableRequest, self.watches.follow
        )
        company = CompanyService(
            keeper, store.tables, known, chat, store.hub, self.presences, desk.gate.limits, log
        )
        panels = PanelService(keeper, store.tables, leases, log)
        return (
            (_TABLES, tables),
            (_CATALOG, _handlers(desk, catalog_pb2, _CATALOG, CatalogService())),
            (_PANELS, _handlers(desk, panel_pb2, _PANELS, panels)),
            (_COMPANY, _handlers(desk, company_pb2, _COMPANY, company)),
        )

    async def start(self, host: str, port: int) -> int:
        """Listen; return the port. Raises RuntimeError if it can't be bound."""
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        bound = self._server.add_insecure_port(address)
        if not bound:
            raise RuntimeError(f"can't listen on {address}")
        await self.outages.start()  # before anybody is served
        self.presences.start()
        await self._server.start()
        for name in self.names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        if self.bots.size:
            self.runner.start()
            self.sweeper.start()
        return bound

    async def stop(self, grace: float = GRACE) -> None:
        """Refuse new calls, end the watches, let running calls finish; then close the port."""
        await self._health.enter_graceful_shutdown()
        self.desk.close()
        self.watches.end_all()
        await self.sweeper.stop()
        await self.runner.stop()
        await self.bots.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.desk.idle.wait()
        await self.presences.stop()
        await self.outages.stop()
        # Calls that are on their way are told so; gRPC would only cancel them.
        await asyncio.sleep(LINGER)
        await self._server.stop(0.1)

    async def _hasten(self, now: int) -> None:
        """After an outage all tables are looked at: the deadlines that are shown are too early."""
        await self._jobs.hasten(now)
        self.runner.wake()


def _handlers(desk: Desk, module: Any, service: Any, *servicers: object) -> dict[str, Any]:
    """The gRPC handlers of those methods of a service that servicers have: `Act` is `act`."""
    found = {}
    for method in service.methods:
        name = re.sub(r"(?<!^)([A-Z])", r"_\1", method.name).lower()
        handlers = [getattr(one, name) for one in servicers if hasattr(one, name)]
        for handler in handlers:
            request = getattr(module, method.input_type.name)
            most = LARGE if _DOCUMENT in method.input_type.fields_by_name else SMALL
            found[method.name] = desk.unary(method.name, request, handler, most=most)
    return found


_DOCUMENT = "document"
"""The field that holds a whole document: a request with one may be larger than others."""
