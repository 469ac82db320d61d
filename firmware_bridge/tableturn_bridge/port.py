"""A serial port, opened for ourselves alone and read and written without waiting.

Every way in which a port can break - unplugged while it is read, an error of its driver, its
other end closed - is one error, `PanelGone` (H1). Why it can't be opened is told apart before.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import grp
import os
import stat
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import serial

from tableturn_bridge.errors import (
    NotASerialPort,
    PanelGone,
    PanelTrouble,
    PortBusy,
    PortForbidden,
    PortMissing,
)

BAUD = 115200
MOST_UNWRITTEN = 4096
"""Bytes that may wait to be written: a third of a second. More means that the port is stuck."""
PIECE = 4096
"""Bytes that are read at once at most."""
_PTYS = range(136, 144)
"""Major device numbers of pseudo terminals (Linux)."""


class Port:
    """An open port. Made by `open_port`; `close` it, or use it with `with`."""

    def __init__(self, name: str, device: serial.Serial, *, exclusive: bool) -> None:
        self.name = name
        self._device = device
        self._exclusive = exclusive
        self._fd = device.fileno()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unwritten = bytearray()
        self._on_data: Callable[[bytes], None] = lambda data: None
        self._on_gone: Callable[[PanelGone], None] = lambda error: None
        self.gone: PanelGone | None = None
        self.closed = False

    def start(self, on_data: Callable[[bytes], None], on_gone: Callable[[PanelGone], None]) -> None:
        """Read from now on, in the running loop. `on_gone` is called once at most."""
        self._loop = asyncio.get_running_loop()
        self._on_data = on_data
        self._on_gone = on_gone
        self._loop.add_reader(self._fd, self._readable)
        if self._unwritten:
            self._loop.add_writer(self._fd, self._writable)

    def write(self, data: bytes) -> None:
        """Write these bytes, now or as soon as the port takes them. Errors come by `on_gone`."""
        if self.closed or self.gone is not None or not data:
            return
        if len(self._unwritten) + len(data) > MOST_UNWRITTEN:
            self._break("it takes no more bytes")
            return
        self._unwritten += data
        self._writable()

    def close(self) -> None:
        """Let the port go. May be called again, and never fails."""
        if self.closed:
            return
        self.closed = True
        self._stop()
        if self._exclusive:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._fd, termios.TIOCNXCL)
        with contextlib.suppress(OSError, termios.error):
            self._device.close()

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._break(_said(error))
            return
        if data:
            self._on_data(data)
        else:
            # Ready and yet nothing: unplugged, its other end closed, or somebody else reads it.
            self._break("it ended, or another program reads from it")

    def _writable(self) -> None:
        try:
            count = os.write(self._fd, self._unwritten)
        except (BlockingIOError, InterruptedError):
            count = 0
        except OSError as error:
            self._break(_said(error))
            return
        del self._unwritten[:count]
        if self._loop is None:
            return
        if self._unwritten:
            self._loop.add_writer(self._fd, self._writable)
        else:
            self._loop.remove_writer(self._fd)

    def _break(self, why: str) -> None:
        self._stop()
        self.gone = PanelGone(self.name, why)
        self._on_gone(self.gone)

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._loop = None
        self._unwritten.clear()


def open_port(name: str, path: Path | None = None) -> Port:
    """Open a serial port for a panel: 115200 baud, 8N1, for ourselves alone.

    Opening it resets most boards; nothing can be done about that. May take a moment where a
    driver is slow, so call it in a thread.

    Args:
        name: What the port is called in sentences.
        path: The device; the name itself if none is given.

    Raises:
        PortMissing: Nothing is there.
        NotASerialPort: Something else is there.
        PortForbidden: This user may not use it.
        PortBusy: Another program has it.
        PanelGone: It broke while it was opened.
    """
    path = path or Path(name)
    is_pty = _look_at(name, path)
    if not is_pty and (others := holders(path)):
        # Also those that never asked to be alone, such as a program that writes a firmware.
        raise _busy(name, others)
    try:
        device = serial.Serial(
            str(path), BAUD, timeout=0, write_timeout=0, exclusive=True, rtscts=False, dsrdtr=False
        )
    except (OSError, ValueError, termios.error) as error:
        raise _not_opened(name, path, error) from error
    # A pseudo terminal would stay locked if we were killed, as its other end stays open.
    exclusive = not is_pty and _claim(device)
    _hurry(device)
    return Port(name, device, exclusive=exclusive)


def holders(path: Path) -> list[str]:
    """The programs that have this device open, as far as this user may know, without ourselves.

    Each as `name (process 123)`. Empty where the system has no /proc.
    """
    real = os.path.realpath(path)
    found: dict[int, str] = {}
    for pid, opened in _open_files():
        if opened == real and pid != os.getpid() and pid not in found:
            found[pid] = f"{_program(pid)} (process {pid})"
    return list(found.values())


def _look_at(name: str, path: Path) -> bool:
    """Whether it is a pseudo terminal. Raises what is known without opening it."""
    try:
        status = path.stat()
    except PermissionError as error:
        raise _forbidden(name, path) from error
    except (OSError, ValueError) as error:
        raise PortMissing(
            f"there is no port {name}",
            "Plug the panel in, or look for its port with `tableturn panel doctor`.",
        ) from error
    if not stat.S_ISCHR(status.st_mode) or _subsystem(status.st_rdev) not in ("tty", None):
        raise _not_serial(name)
    if not os.access(path, os.R_OK | os.W_OK):
        raise _forbidden(name, path)
    return os.major(status.st_rdev) in _PTYS


def _subsystem(device: int) -> str | None:
    """What kind of device it is; None if the system doesn't say, as for pseudo terminals."""
    link = f"/sys/dev/char/{os.major(device)}:{os.minor(device)}/subsystem"
    try:
        return os.path.basename(os.readlink(link))
    except OSError:
        return None


def _claim(device: serial.Serial) -> bool:
    """Let nobody else open it, also those who don't ask for a lock; whether that worked."""
    try:
        fcntl.ioctl(device.fileno(), termios.TIOCEXCL)
    except OSError:
        return False
    return True


def _hurry(device: serial.Serial) -> None:
    """Ask the driver not to collect bytes before it gives them out. Few drivers know it."""
    with contextlib.suppress(OSError, ValueError, NotImplementedError, AttributeError):
        device.set_low_latency_mode(True)


def _not_opened(name: str, path: Path, error: Exception) -> PanelTrouble:
    """The error for what pyserial raised; it keeps the system's number only at times."""
    number = getattr(error, "errno", None)
    words = str(error)
    if number in (errno.EBUSY, errno.EAGAIN) or "exclusively lock" in words:
        return _busy(name, holders(path))
    if number in (errno.EACCES, errno.EPERM):
        return _forbidden(name, path)
    if number in (errno.ENOTTY, errno.EINVAL) or "Could not configure port" in words:
        return _not_serial(name) if os.path.exists(path) else PanelGone(name, _said(error))
    return PanelGone(name, _said(error))


def _busy(name: str, others: list[str]) -> PortBusy:
    if any(other.startswith("ModemManager") for other in others):
        cure = "ModemManager takes it for a modem: `sudo systemctl stop ModemManager`."
    elif any(other.startswith("brltty") for other in others):
        cure = "brltty takes it for a Braille display: `sudo apt-get remove brltty`."
    elif others:
        cure = "Close that program first."
    else:
        cure = f"Find it with `sudo fuser -v {name}` and close it."
    return PortBusy(f"{name} is used by {' and '.join(others) or 'another program'}", cure, others)


def _forbidden(name: str, path: Path) -> PortForbidden:
    """With the group that may use it: mostly `dialout`, on some systems `uucp`."""
    group = "dialout"
    with contextlib.suppress(OSError, KeyError):
        owner = grp.getgrgid(path.stat().st_gid).gr_name
        group = owner if owner != "root" else group
    return PortForbidden(
        f"you may not use {name}",
        f'Join the group {group} with `sudo usermod -aG {group} "$USER"`, then log out and in '
        "again.",
        group,
    )


def _not_serial(name: str) -> NotASerialPort:
    return NotASerialPort(
        f"{name} is no serial port", "Name the panel's port, such as /dev/ttyACM0 or /dev/ttyUSB0."
    )


def _said(error: Exception) -> str:
    """What the system said, in its words."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) else str(error) or type(error).__name__


def _open_files() -> Iterator[tuple[int, str]]:
    """Process ids and the paths that each has open (Linux)."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = list((process / "fd").iterdir())
        except OSError:
            continue
        for link in links:
            with contextlib.suppress(OSError):
                yield int(process.name), os.readlink(link)


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return "another program"
