"""A socket that presses the buttons of a panel without a board and tells what it shows.

One JSON object on a line asks, one answers. Each connection is served in order; open another one
to do two things at the same time.

    {"do": "press", "button": 1, "ms": 60, "bounce": true, "wait": true}
    {"ok": true, "fate": "ACCEPTED", "kind": "PRESS", ...}
    {"do": "press", "button": 9}
    {"ok": false, "error": "a panel with 4 buttons has no button 9"}

Buttons count from 1; for `down` and `up`, 0 is the master button. A button is held for a minute at
most, but by `down`. Times are milliseconds of the machine's monotonic clock, as that of
`time.monotonic`, so that other processes can compare them with their own.

An emulated board may be asked for what its lamps say by their light alone (`measured` in the answer
to `lamps`, and as a wish to `wait_lamp`); a model means what it shows. Only an emulated board knows
`emulator`, which passes a line on to it:

    {"do": "emulator", "line": "hang"}
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tableturn_bridge.protocol import Flags, ResetCause
from tableturn_bridge.virtual.panel import (
    LONG_MS,
    PATIENCE,
    SHORT_MS,
    Emulated,
    Lamp,
    Panel,
    Pressed,
)
from tableturn_bridge.virtual.port import LinkTaken

LONGEST_LINE = 64 * 1024
SECONDS = 10.0
"""`wait_lamp` waits for so long if it isn't told otherwise."""
LONGEST_MS = 60_000
"""A button is held for so long at most: it must not stay down when nobody asks any more."""

Answer = dict[str, Any]


class BadRequest(Exception):
    """A request that can't be understood."""


class SocketTaken(Exception):
    """The path for the socket can't be used."""


class Request:
    """One request; its values are looked up with their types."""

    def __init__(self, line: bytes) -> None:
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadRequest("a request is a JSON object on one line") from error
        if not isinstance(document, dict):
            raise BadRequest("a request is a JSON object on one line")
        self._values: dict[str, Any] = document

    def number(self, name: str, default: float | None = None) -> float:
        """A number of at least 0."""
        value = self._values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
            raise BadRequest(f"{name} must be a number of at least 0, not {value!r}")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 0."""
        value = self.number(name, default)
        if not isinstance(value, int):
            raise BadRequest(f"{name} must be a whole number, not {value!r}")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false if it isn't there."""
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            raise BadRequest(f"{name} must be true or false, not {value!r}")
        return value

    def word(self, name: str, default: str | None = None) -> str:
        """A text."""
        value = self._values.get(name, default)
        if not isinstance(value, str):
            raise BadRequest(f"{name} must be a text, not {value!r}")
        return value

    def words(self, name: str) -> list[str]:
        """A list of texts."""
        value = self._values.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise BadRequest(f"{name} must be a list of texts, not {value!r}")
        return value


# ---------------------------------------------------------------- commands


def _told(pressed: Pressed | None) -> Answer:
    """A gesture and what became of it."""
    return {} if pressed is None else asdict(pressed)


async def _press(panel: Panel, request: Request) -> Answer:
    return await _held(panel, request, _of_a_seat(request), SHORT_MS)


async def _hold(panel: Panel, request: Request) -> Answer:
    return await _held(panel, request, _of_a_seat(request), LONG_MS)


async def _master(panel: Panel, request: Request) -> Answer:
    return await _held(panel, request, 0, SHORT_MS)


def _of_a_seat(request: Request) -> int:
    """The button; not the master button, which has commands of its own."""
    button = request.whole("button")
    if button == 0:
        raise BadRequest('buttons count from 1; {"do": "master"} presses the master button')
    return button


async def _held(panel: Panel, request: Request, button: int, default: int) -> Answer:
    ms = request.number("ms", default)
    if ms > LONGEST_MS:
        raise BadRequest(f"ms must be at most {LONGEST_MS}, not {ms}")
    pressed = await panel.press(
        button,
        ms,
        bounce=request.flag("bounce"),
        wait=request.flag("wait"),
        timeout=request.number("timeout", PATIENCE),
    )
    return _told(pressed)


async def _chord(panel: Panel, request: Request) -> Answer:
    pressed = await panel.chord(
        request.whole("button"),
        request.whole("second"),
        wait=request.flag("wait"),
        timeout=request.number("timeout", PATIENCE),
    )
    return _told(pressed)


async def _down(panel: Panel, request: Request) -> Answer:
    panel.down(request.whole("button"))
    return {}


async def _up(panel: Panel, request: Request) -> Answer:
    panel.up(request.whole("button"))
    return {}


async def _lamps(panel: Panel, request: Request) -> Answer:
    lamps = enumerate(panel.lamps(), 1)
    return {"lamps": [_seen(lamp) | {"button": button} for button, lamp in lamps]}


def _seen(lamp: Lamp) -> Answer:
    """What a lamp shows, and what it says by its light alone."""
    measured = {"measured": lamp.measured, "measured_since": lamp.measured_since}
    return asdict(lamp) | measured


async def _wait_lamp(panel: Panel, request: Request) -> Answer:
    lamp = await panel.wait_lamp(
        request.whole("button"),
        request.words("signs"),
        request.number("timeout", SECONDS),
        request.number("after", 0),
        measured=request.flag("measured"),
    )
    return _seen(lamp)


async def _state(panel: Panel, request: Request) -> Answer:
    board, picture = panel.board, panel.board.picture
    buttons = range(1, panel.buttons + 1)

    def named(mask: int) -> list[int]:
        return [button for button in buttons if mask >> (button - 1) & 1]

    shown: Answer = {"tag": None, "revision": None, "armed": [], "staged": [], "flags": []}
    if picture is not None:
        shown = {
            "tag": picture.tag,
            "revision": picture.revision,
            "armed": named(picture.armed),
            "staged": named(picture.staged),
            "flags": [flag.name for flag in Flags if flag & picture.flags],
        }
    return shown | {
        "port": panel.path,
        "open": panel.is_open,
        "uid": board.uid,
        "session": board.session,
        "waiting": board.waiting,
        "dropped": board.dropped,
    }


async def _log(panel: Panel, request: Request) -> Answer:
    board = panel.board
    return {
        "resets": dict(board.resets),
        "fates": dict(board.fates),
        "events_sent": board.events_sent,
        "frames_read": board.frames_read,
    }


async def _reset(panel: Panel, request: Request) -> Answer:
    word = request.word("cause", ResetCause.EXTERNAL.name).upper()
    if word not in ResetCause.__members__:
        raise BadRequest(f"cause must be one of {', '.join(ResetCause.__members__)}, not {word}")
    panel.reset(ResetCause[word])
    return {}


async def _unplug(panel: Panel, request: Request) -> Answer:
    panel.unplug()
    return {}


async def _plug(panel: Panel, request: Request) -> Answer:
    return {"port": panel.plug(request.word("link", "") or None)}


async def _noise(panel: Panel, request: Request) -> Answer:
    panel.set_noise(request.number("share"))
    return {}


async def _emulator(panel: Panel, request: Request) -> Answer:
    if not isinstance(panel, Emulated):
        raise BadRequest("this panel is a model; only an emulated board has an emulator")
    return {"answer": dict(panel.ask(request.word("line")))}


COMMANDS: dict[str, Callable[[Panel, Request], Awaitable[Answer]]] = {
    "press": _press,
    "hold": _hold,
    "chord": _chord,
    "master": _master,
    "down": _down,
    "up": _up,
    "lamps": _lamps,
    "wait_lamp": _wait_lamp,
    "state": _state,
    "log": _log,
    "reset": _reset,
    "unplug": _unplug,
    "plug": _plug,
    "noise": _noise,
    "emulator": _emulator,
}


async def carry_out(panel: Panel, line: bytes) -> Answer:
    """Do what a line asks for; whatever is wrong with it becomes a sentence."""
    try:
        request = Request(line)
        name = request.word("do", "")
        command = COMMANDS.get(name)
        if command is None:
            raise BadRequest(f"do must be one of {', '.join(COMMANDS)}, not {name!r}")
        return {"ok": True} | await command(panel, request)
    except TimeoutError:
        return {"ok": False, "error": "nothing of the kind happened in time"}
    except UnicodeError:
        return {"ok": False, "error": "a text of the request is none in UTF-8"}
    except (BadRequest, LinkTaken, ValueError) as error:
        return {"ok": False, "error": str(error)}


# ---------------------------------------------------------------- the socket


@asynccontextmanager
async def listening(panel: Panel, path: Path) -> AsyncIterator[None]:
    """Serve a panel on a socket of this user's. Raises SocketTaken if the path can't be used."""
    _free(path)
    served: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.add(task)
        try:
            await _serve(panel, reader, writer)
        except asyncio.CancelledError:
            pass  # the panel ends
        finally:
            served.discard(task)

    try:
        server = await asyncio.start_unix_server(serve, path, limit=LONGEST_LINE)
    except OSError as error:
        raise SocketTaken(f"{path} can't be a socket: {_words(error, path)}") from error
    try:
        _keep_to_oneself(path)
        yield
    finally:
        server.close()
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)
        _remove(path)


def _words(error: OSError, path: Path) -> str:
    """Why a path can't be a socket."""
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {path.parent}"
    return error.strerror or str(error)


def _keep_to_oneself(path: Path) -> None:
    path.chmod(0o600)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _free(path: Path) -> None:
    """Remove a socket that nobody listens at any more; leave anything else alone."""
    if not path.exists():
        return
    if path.is_dir():
        raise SocketTaken(f"{path} is a folder, and no name for a socket in it")
    if not path.is_socket():
        raise SocketTaken(f"{path} is a file already, and no socket: choose another name")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            _remove(path)
            return
        except OSError as error:
            raise SocketTaken(f"{path} can't be a socket: {_words(error, path)}") from error
    raise SocketTaken(f"another panel listens at {path}: choose another name")


async def _serve(panel: Panel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's requests until it ends."""
    try:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                answer = {"ok": False, "error": f"a line has at most {LONGEST_LINE} bytes"}
                writer.write(json.dumps(answer).encode() + b"\n")
                return
            if not line:
                return
            writer.write(json.dumps(await carry_out(panel, line)).encode() + b"\n")
            await writer.drain()
    except ConnectionError:
        return
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
