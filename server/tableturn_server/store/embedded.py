"""The embedded store: a Valkey program that the service runs and looks after itself.

It survives what the service survives: if Valkey dies, it is started again at once; if the
service is killed, Valkey lives on and the next service takes it over; a normal end of the service
ends it. Every write is on the disk before it is answered.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import signal
from pathlib import Path
from urllib.parse import quote

from .binary import Binary, find_binary
from .datadir import DataDir
from .errors import StoreError, StoreFull, StoreRefused, StoreUnavailable
from .info import parse_info, version_of
from .process import Process, is_server
from .resp import Connection

log = logging.getLogger(__name__)

RESERVE_BYTES = 32 << 20
"""With less free disk than this, writes are refused. A write that fails half-way ends Valkey
(it must: with `appendfsync always` it can't take the write back), so it should not get there."""

_UNREADABLE = ("Bad file format", "Can't handle RDB", "AOF file", "append only file")

_GUARD_INTERVAL = 0.5
_STEADY_AFTER = 10.0
_LONGEST_PAUSE = 5.0
_SILENCE = 20.0
_STOP_TIMEOUT = 10.0


class EmbeddedValkey:
    """One Valkey on a unix socket, with its data in `root`; `url` is where it listens.

    `start` returns when it answers, `stop` when it has ended.
    """

    def __init__(
        self,
        root: Path,
        binary: Binary | None = None,
        *,
        reserve_bytes: int = RESERVE_BYTES,
        maxmemory: str = "0",
    ) -> None:
        self.binary = binary or find_binary()
        self.dir = DataDir(root)
        self._reserve = reserve_bytes
        self._maxmemory = maxmemory
        self._process: Process | None = None
        self._adopted = False
        self._full = False
        self._write_failed = False
        self._log_offset = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._connection: Connection | None = None

    async def __aenter__(self) -> EmbeddedValkey:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """The store's URL, for this and other processes of the machine."""
        return f"unix://{quote(str(self.dir.socket))}"

    @property
    def pid(self) -> int | None:
        """The server's process id, or None while there is none."""
        process = self._process
        return process.pid if process is not None and process.alive() else None

    @property
    def adopted(self) -> bool:
        """Whether the server was there before us: the orphan of a service that was killed."""
        return self._adopted

    def explain(self) -> StoreError | None:
        """Give the cause of a lost connection, if we know it better (for `Connection`)."""
        if self._write_failed or self._full:
            return StoreFull(self._full_sentence())
        return None

    async def start(self) -> None:
        """Adopt the server of these data or start one; StoreRefused says what to do if not."""
        self.dir.acquire()
        self._connection = self._control()
        try:
            if not await self._adopt():
                await self._spawn()
            self.dir.note_writer(self.binary)
        except BaseException:
            if self._process is not None:
                self._process.kill(signal.SIGTERM)
                await self._process.wait(_STOP_TIMEOUT)
            await self._connection.close()
            self.dir.release()
            raise
        atexit.register(self._at_exit)
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._supervise(), name="valkey-supervise"),
            loop.create_task(self._guard_disk(), name="valkey-guard-disk"),
        ]

    async def stop(self) -> None:
        """End the server, with everything on the disk, and release the data directory."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
        if self._process is not None:
            if not await _end(self._process, self.url):
                log.error("Valkey (pid %d) does not end", self._process.pid)
            self._process = None
        atexit.unregister(self._at_exit)
        self.dir.release()

    def _at_exit(self) -> None:
        # Python ends without stop(): an error nobody caught. Valkey saves and ends on SIGTERM.
        if self._process is not None:
            self._process.kill(signal.SIGTERM)

    # -- starting --------------------------------------------------------------------------

    async def _adopt(self) -> bool:
        """Take over a server that still runs on these data; two would destroy them."""
        pid = self.dir.pid()
        if pid is None or not Process(pid).alive() or not is_server(pid, self.dir.socket):
            # The pid file may be gone while its server is not.
            pid = await _pid_behind(self.url)
        if pid is None:
            return False
        process = Process(pid)
        try:
            await self._ready(process)
            version = await _version(self.url)
            # The killed service may have stopped its writes for want of room.
            self._full = self.dir.free_bytes() < self._reserve
            await self._limit_memory("1" if self._full else self._maxmemory)
        except StoreError as error:
            log.warning("Valkey (pid %d) was left over and is of no use: %s", pid, error)
            version = None
        if version == self.binary.version:
            log.warning("Valkey (pid %d) was left over by a killed service: taken over", pid)
            self._process, self._adopted = process, True
            self._log_offset = self.dir.log_size()
            return True
        if version is not None:
            log.warning("Valkey (pid %d) was left over, and is not %s", pid, self.binary)
        if not await _end(process, self.url):
            raise StoreRefused(
                f"a Valkey (pid {pid}) that was left over uses {self.dir.data} and does not end"
            )
        return False

    async def _spawn(self) -> None:
        """Start the program and wait until it has read its data."""
        self._log_offset = self.dir.log_size()
        self._full = self.dir.free_bytes() < self._reserve
        self.dir.socket.unlink(missing_ok=True)
        self._process = Process.spawn(self._command(), self.dir.data)
        self._adopted = False
        await self._ready(self._process)
        self._write_failed = False
        log.info("%s runs (pid %d) on %s", self.binary, self._process.pid, self.dir.socket)

    def _command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.dir.socket),
            "unixsocketperm": "700",
            "dir": str(self.dir.data),
            "pidfile": str(self.dir.pid_file),
            "logfile": str(self.dir.log_file),
            "daemonize": "no",
            "appendonly": "yes",
            "appendfsync": "always",
            "aof-load-truncated": "yes",
            # Plain commands, which other versions and Redis can read as well.
            "aof-use-rdb-preamble": "no",
            "save": "",
            "maxmemory": "1" if self._full else self._maxmemory,
            "maxmemory-policy": "noeviction",
        }
        command = [str(self.binary.path)]
        for name, value in options.items():
            command += [f"--{name}", value]
        return command

    async def _ready(self, process: Process) -> None:
        """Wait until the server answers; StoreRefused if it ends before, or is silent."""
        loop = asyncio.get_running_loop()
        silent_until = loop.time() + _SILENCE
        connection = self._control()
        try:
            while loop.time() < silent_until:
                try:
                    await connection.connect()
                except StoreUnavailable as error:
                    # Much data take long to load; it says so meanwhile.
                    if "LOADING" in error.sentence:
                        silent_until = loop.time() + _SILENCE
                else:
                    return
                if await process.wait(0.02):
                    raise StoreRefused(self._why_it_does_not_start(process))
        finally:
            await connection.close()
        raise StoreRefused(
            f"{self.binary} (pid {process.pid}) does not answer on {self.dir.socket};"
            f" see {self.dir.log_file}"
        )

    def _control(self) -> Connection:
        """A connection for the supervisor's own words; it tries once and does not complain."""
        return Connection(
            self.url, name="tableturn-supervisor", timeout=2.0, patience=0.0, quiet=True
        )

    def _why_it_does_not_start(self, process: Process) -> str:
        said = self.dir.log_since(self._log_offset)
        sentence = f"{self.binary} {process.how_it_ended()} before it could be used"
        lines = [line for line in said.splitlines() if " # " in line and "overcommit" not in line]
        writer = self.dir.written_by()
        if any(word in said for word in _UNREADABLE):
            # What an older version can't read looks to it like damage.
            if writer and writer != str(self.binary):
                sentence += (
                    f": it can't read the data in {self.dir.data}, which {writer} has written."
                    " Start that version or a newer one (name its program by its path)"
                )
            else:
                sentence += (
                    f": the data in {self.dir.data} are damaged, or of a newer version. Make a"
                    " copy of the directory, then repair it with `valkey-check-aof --fix`"
                )
        tail = " / ".join(line.partition(" # ")[2] for line in lines[-3:])
        return f"{sentence}. It said: {tail or 'nothing'} (see {self.dir.log_file})"

    # -- looking after it ------------------------------------------------------------------

    async def _supervise(self) -> None:
        """Start the server again whenever it ends."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            assert self._process is not None
            since = loop.time()
            await self._process.wait()
            if loop.time() - since > _STEADY_AFTER:
                failures = 0
            said = self.dir.log_since(self._log_offset)
            self._write_failed = "AOF write error" in said or "No space left" in said
            log.error(
                "Valkey (pid %d) %s; it is started again%s",
                self._process.pid,
                self._process.how_it_ended(),
                f". {self._full_sentence()}" if self._write_failed else "",
            )
            # The first time at once; a server that can't live is not tried in a tight loop.
            if failures:
                await asyncio.sleep(min(0.1 * 2**failures, _LONGEST_PAUSE))
            failures += 1
            try:
                await self._spawn()
            except (StoreRefused, OSError) as error:
                log.error("Valkey does not come up again: %s", error)

    async def _guard_disk(self) -> None:
        """Refuse writes while the disk is nearly full; reading goes on."""
        while True:
            await asyncio.sleep(_GUARD_INTERVAL)
            try:
                free = self.dir.free_bytes()
                # Twice the reserve to come back, so that it does not go to and fro.
                full = free < self._reserve * (2 if self._full else 1)
                if full != self._full:
                    await self._limit_memory("1" if full else self._maxmemory)
                    self._full = full
                    if full:
                        log.error("%s", self._full_sentence())
                    else:
                        log.warning("there is room on the disk again: changes are accepted")
            except (OSError, StoreError) as error:
                log.warning("the disk of the data can't be guarded: %s", error)

    async def _limit_memory(self, limit: str) -> None:
        # Above its memory limit the server refuses what would write, and nothing else.
        if self._connection is not None:
            await self._connection.call("CONFIG", "SET", "maxmemory", limit)

    def _full_sentence(self) -> str:
        try:
            free = f"{self.dir.free_bytes() >> 20} MB are free"
        except OSError as error:
            free = str(error)
        return f"the disk of {self.dir.data} is full ({free}): make room, nothing else is needed"


async def _pid_behind(url: str) -> int | None:
    """Return the process that answers at a URL, if one does."""
    connection = Connection(url, patience=0.0, quiet=True, timeout=2.0)
    try:
        return int(parse_info(await connection.call("INFO", "server"))["process_id"])
    except (StoreError, KeyError):
        return None
    finally:
        await connection.close()


async def _version(url: str) -> tuple[int, int, int] | None:
    """Return the version of a running server."""
    connection = Connection(url, patience=0.0, quiet=True)
    try:
        info = parse_info(await connection.call("INFO", "server"))
    finally:
        await connection.close()
    return version_of(info)


async def _end(process: Process, url: str) -> bool:
    """End a server: by asking, then by SIGTERM, which asks as well, then by SIGKILL."""
    connection = Connection(url, patience=0.0, timeout=2.0, quiet=True)
    try:
        # It answers by closing the connection.
        with contextlib.suppress(StoreError):
            await connection.call("SHUTDOWN", "NOSAVE")
    finally:
        await connection.close()
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if await process.wait(_STOP_TIMEOUT):
            return True
        process.kill(sig)
    return await process.wait(_STOP_TIMEOUT)
