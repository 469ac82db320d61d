"""The connection to a service: calls with tokens, deadlines and repetition.

A call that got no answer is repeated as it was, with the same request id, until an answer
comes or the time is over: the service answers a repeated change with the outcome of the
first time (case S7). A refusal is never repeated, except where the service itself says that
it will work again in a moment.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from tableturn.v1 import catalog_pb2_grpc, company_pb2_grpc, panel_pb2_grpc, table_pb2_grpc
from tableturn_client.address import Address
from tableturn_client.errors import NoAnswer, NotSent, Refused, TableturnError
from tableturn_client.faults import error_of
from tableturn_client.timekeeping import Timekeeping
from tableturn_client.tokens import check_token

Req = TypeVar("Req", bound=Message)
Resp = TypeVar("Resp", bound=Message)

MAX_MESSAGE = 32 * 1024 * 1024
"""Exports are up to 16 MiB."""

_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    # A dead network path is noticed within half a minute, before a watch's silence is.
    ("grpc.keepalive_time_ms", 15_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A service that restarts is found again within a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # One channel for each client, so that a closed one leaves nothing behind.
    ("grpc.use_local_subchannel_pool", 1),
)


@dataclass(frozen=True)
class Retry:
    """How calls without an answer are repeated; all times in seconds.

    `total` is the limit for a call with all its repetitions, `attempt` for one try. Before
    the next try lies a random part of a pause that doubles from `first` up to `most`.
    """

    total: float = 30.0
    attempt: float = 10.0
    first: float = 0.1
    most: float = 2.0

    def pause(self, tries: int, chance: float) -> float:
        """Seconds before the next try after so many; `chance` is from 0 to 1."""
        return float(min(self.most, self.first * 2 ** min(tries - 1, 16))) * (0.5 + chance / 2)


@dataclass(frozen=True)
class Machine:
    """This machine's time, sleep and chance, so that tests bring their own.

    `now` only goes on, whatever somebody sets the clock to.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


OnRetry = Callable[[TableturnError], None]
"""Called before each repetition with what went wrong, to be shown to somebody."""


@dataclass
class Wire:
    """One channel to a service, opened at the first call."""

    address: Address
    retry: Retry = field(default_factory=Retry)
    machine: Machine = field(default_factory=Machine)
    on_retry: OnRetry | None = None
    root_certificates: bytes | None = None
    _channel: grpc.aio.Channel | None = None
    _tables: table_pb2_grpc.TableServiceAsyncStub | None = None
    _catalog: catalog_pb2_grpc.CatalogServiceAsyncStub | None = None
    _panels: panel_pb2_grpc.PanelServiceAsyncStub | None = None
    _company: company_pb2_grpc.CompanyServiceAsyncStub | None = None
    _closed: bool = False
    _time: Timekeeping | None = None

    @property
    def time(self) -> Timekeeping:
        """The service's time, as all calls and watches of this client have heard it."""
        if self._time is None:
            self._time = Timekeeping(self.machine.now)
        return self._time

    @property
    def tables(self) -> table_pb2_grpc.TableServiceAsyncStub:
        """The methods of TableService."""
        if self._tables is None:
            self._tables = table_pb2_grpc.TableServiceStub(self._open())
        return self._tables

    @property
    def catalog(self) -> catalog_pb2_grpc.CatalogServiceAsyncStub:
        """The methods of CatalogService."""
        if self._catalog is None:
            self._catalog = catalog_pb2_grpc.CatalogServiceStub(self._open())
        return self._catalog

    @property
    def panels(self) -> panel_pb2_grpc.PanelServiceAsyncStub:
        """The methods of PanelService."""
        if self._panels is None:
            self._panels = panel_pb2_grpc.PanelServiceStub(self._open())
        return self._panels

    @property
    def company(self) -> company_pb2_grpc.CompanyServiceAsyncStub:
        """The methods of CompanyService."""
        if self._company is None:
            self._company = company_pb2_grpc.CompanyServiceStub(self._open())
        return self._company

    def _open(self) -> grpc.aio.Channel:
        if self._closed:
            raise NotSent("the client was closed")
        if self._channel is None:
            # A proxy set for the web has no business with a service on this machine.
            proxy = ("grpc.enable_http_proxy", 0 if self.address.loopback else 1)
            options = (*_OPTIONS, proxy)
            if self.address.secure:
                credentials = grpc.ssl_channel_credentials(self.root_certificates)
                self._channel = grpc.aio.secure_channel(
                    self.address.target, credentials, options=options
                )
            else:
                self._channel = grpc.aio.insecure_channel(self.address.target, options=options)
        return self._channel

    async def close(self) -> None:
        """Close the channel; calls that run are ended."""
        self._closed = True
        if self._channel is not None:
            await self._channel.close()
            self._channel = None
            self._tables = self._catalog = self._panels = self._company = None

    async def call(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Req, Resp], request: Req, token: str = ""
    ) -> Resp:
        """The answer to a request; repeated as it is until there is one.

        Raises the errors of `tableturn_client.errors`.
        """
        if self._closed:
            raise NotSent("the client was closed")
        request_id = str(getattr(request, "request_id", ""))
        end = self.machine.now() + self.retry.total
        tries = 0
        while True:
            left = end - self.machine.now()
            try:
                return await method(
                    request,
                    timeout=max(0.001, min(self.retry.attempt, left)),
                    metadata=bearer(token),
                )
            except grpc.aio.AioRpcError as failure:
                error = error_of(failure, str(self.address), request_id)
            tries += 1
            pause = self.retry.pause(tries, self.machine.chance())
            if not repeatable(error) or self.machine.now() + pause >= end:
                raise error
            if self.on_retry is not None:
                self.on_retry(error)
            await self.machine.sleep(pause)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a token. Raises BadValue."""
    if token:
        check_token(token)
    return (("authorization", f"Bearer {token}"),) if token else ()


def repeatable(error: TableturnError) -> bool:
    """The same call may succeed a moment later."""
    return isinstance(error, NoAnswer) or (isinstance(error, Refused) and error.repeatable)
