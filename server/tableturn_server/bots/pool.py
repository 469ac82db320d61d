"""The bot workers of a service: processes that are started, asked, watched and replaced."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count

import msgspec
from msgspec.structs import replace

from tableturn_server.rules.actions import Action, check_bounds
from tableturn_server.tables.facts import confirmed_at_panel, has_people
from tableturn_server.tables.state import Table, game_of

from . import bot
from .frames import LENGTH, MOST, Answer, Question, frame, question_of, read_answer
from .sight import Sight

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "tableturn_server.bots.worker")
THINKING = 10.0
"""Seconds that a turn may take: many times what any bot needs, so that a slow machine plays the
same game as a fast one."""
STARTING = 20.0
"""Seconds that a new worker may take to answer for the first time, on a busy machine."""
_TRIES = 2
_PEOPLE, _BOTS, _AT_LAST = range(3)
"""Who is asked first: bots that people wait for, bots among themselves; then the pool is closed."""
_MOST_TOLD = 1024


class WorkerFailed(Exception):
    """A worker died, took too long, or answered nonsense. The sentence says what."""


class Pool:
    """Up to `workers` processes. They are started when the first turn is asked for.

    `failed` counts the workers that had to be replaced, `defaults` the turns for which no bot
    gave an answer.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        thinking: float = THINKING,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._command = command
        self._thinking = thinking
        self._workers = [_Worker(command) for _ in range(workers)]
        self._free = _Free(reversed(self._workers))
        self._closed = False
        self.failed = 0
        self.defaults = 0
        self.fault = ""
        """What went wrong last."""

    @property
    def size(self) -> int:
        """How many workers there may be."""
        return len(self._workers)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that run now."""
        return tuple(worker.pid for worker in self._workers if worker.pid)

    async def turn(self, table: Table, seat: int) -> tuple[Action, ...]:
        """The turn of the bot on a seat that is asked and has nothing staged.

        A worker that fails is replaced and the turn is asked once more; then it is the default
        (DR-3). What comes back is well formed, and not yet known to be legal. Raises
        WorkerFailed only when the pool is closed.
        """
        question, setting = question_of(table, seat)
        for _ in range(_TRIES):
            worker = await self._free.take(_PEOPLE if has_people(table) else _BOTS)
            try:
                if self._closed:
                    raise WorkerFailed("the bot workers have been ended")
                return await worker.ask(question, setting, self._thinking)
            except WorkerFailed as error:
                if self._closed:
                    raise
                self.failed += 1
                self.fault = str(error)
                log.warning("a bot worker is replaced: %s", error)
                worker.kill()
            except asyncio.CancelledError:
                # Its answer would be taken for the next one's.
                worker.kill()
                raise
            finally:
                self._free.give(worker)
        self.defaults += 1
        return least_turn(table, seat)

    async def close(self) -> None:
        """End all workers; none is left behind."""
        self._closed = True
        for worker in self._workers:
            worker.kill()
        # Whoever still waits for an answer hears that there is none.
        ended = [await self._free.take(_AT_LAST) for _ in self._workers]
        for worker in ended:
            await worker.end()
            self._free.give(worker)


def least_turn(table: Table, seat: int) -> tuple[Action, ...]:
    """The turn of a bot's seat for which there is no bot (DR-3)."""
    sight = Sight(game_of(table), table.position, seat, table.log_hash)
    return bot.least_turn(sight, confirmed_at_panel(table, seat))


class _Free:
    """The workers that have nothing to do, and who waits for one.

    Tables with people come before tables of bots alone, so that these never keep anybody waiting
    for longer than one turn takes.
    """

    def __init__(self, workers: Iterable[_Worker]) -> None:
        self._workers = list(workers)
        self._waiting: list[tuple[int, int, asyncio.Future[_Worker]]] = []
        self._numbers = count()

    async def take(self, rank: int) -> _Worker:
        """A worker, as soon as there is one and nobody of a lower rank waits for it."""
        if self._workers:
            return self._workers.pop()
        waiting: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (rank, next(self._numbers), waiting))
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self.give(waiting.result())
            raise

    def give(self, worker: _Worker) -> None:
        """Give a worker back."""
        while self._waiting:
            _, _, waiting = heappop(self._waiting)
            if not waiting.done():
                waiting.set_result(worker)
                return
        self._workers.append(worker)


class _Worker:
    """One place for a worker process. It asks one question at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._running: _Running | None = None
        self._number = 0
        self._told: set[bytes] = set()

    @property
    def pid(self) -> int:
        """The process, 0 if there is none."""
        running = self._running
        return running.process.pid if running is not None and running.alive else 0

    async def ask(self, question: Question, setting: bytes, thinking: float) -> tuple[Action, ...]:
        """A bot's turn. Raises WorkerFailed."""
        try:
            if not self.pid:
                await self.end()
                await self._start()
            async with asyncio.timeout(thinking):
                told = b"" if question.setting in self._told else setting
                answer = await self._exchange(replace(question, told=told))
                if answer.unknown and not told:
                    answer = await self._exchange(replace(question, told=setting))
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            self._told.add(question.setting)
        except TimeoutError:
            raise WorkerFailed("the bot worker took too long") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise WorkerFailed(f"the bot worker has ended: {error}") from error
        except (ValueError, msgspec.DecodeError) as error:
            raise WorkerFailed(f"the bot worker answered nonsense: {error}") from error
        if answer.fault or answer.unknown:
            raise WorkerFailed(f"the bot failed: {answer.fault or 'it knows no setting'}")
        return answer.actions

    async def _start(self) -> None:
        self._running = await _Running.begun(self._command)
        self._told.clear()
        self._number = 0
        async with asyncio.timeout(STARTING):
            await self._answer(self._running)

    async def _exchange(self, question: Question) -> Answer:
        """Send a question, and read its answer."""
        assert self._running is not None
        self._number += 1
        self._running.write(frame(replace(question, number=self._number)))
        return await self._answer(self._running)

    async def _answer(self, running: _Running) -> Answer:
        """Read an answer to the last question; the first one says that the worker is ready."""
        answer = read_answer(await running.read())
        if answer.number != self._number:
            raise ValueError("the answer to another question")
        for action in answer.actions:
            check_bounds(action)
        return answer

    def kill(self) -> None:
        """End the process at once; the next question starts another one."""
        if self._running is not None:
            self._running.kill()

    async def end(self) -> None:
        """End the process, and wait until it is gone."""
        if self._running is not None:
            self._running.kill()
            await self._running.gone()
            self._running = None


class _Running:
    """A worker process with its two pipes."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        source: asyncio.StreamReader,
        pipes: tuple[asyncio.ReadTransport, asyncio.WriteTransport],
    ) -> None:
        self.process = process
        self._source = source
        self._pipes = pipes
        self._killed = False

    @classmethod
    async def begun(cls, command: Sequence[str]) -> _Running:
        """Start a process. Raises OSError.

        Not through the event loop: that one forks, and gRPC has its say at each fork.
        """
        loop = asyncio.get_running_loop()
        process = subprocess.Popen(  # noqa: ASYNC220 - it takes 2 ms
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # It needs no secret of ours, and a Ctrl-C in a terminal is not for it.
            env={k: v for k, v in os.environ.items() if not k.startswith("TABLETURN")},
            start_new_session=True,
        )
        source = asyncio.StreamReader()
        output, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(source), process.stdout
        )
        pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        return cls(process, source, (output, pipe))

    @property
    def alive(self) -> bool:
        """The process runs, as far as we have not killed it."""
        return not self._killed and self.process.poll() is None

    def write(self, data: bytes) -> None:
        """Send bytes; a question is small, and the worker reads them all the time."""
        self._pipes[1].write(data)

    async def read(self) -> bytes:
        """A message. Raises IncompleteReadError at the end, and ValueError for nonsense."""
        size = int.from_bytes(await self._source.readexactly(LENGTH), "big")
        if size > MOST:
            raise ValueError(f"a message of {size} bytes")
        return await self._source.readexactly(size)

    def kill(self) -> None:
        """End the process, and let go of its pipes."""
        self._killed = True
        self.process.kill()
        output, pipe = self._pipes
        output.close()
        if not pipe.is_closing():
            pipe.abort()

    async def gone(self) -> None:
        """Wait until it has ended, which a killed process does at once."""
        await asyncio.to_thread(self.process.wait)
