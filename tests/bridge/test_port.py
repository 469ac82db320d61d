"""A serial port: opened for ourselves alone, found again, and one error however it breaks."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from tableturn_bridge import port as port_module
from tableturn_bridge.errors import (
    NoPort,
    NotASerialPort,
    PanelGone,
    PanelTrouble,
    PortBusy,
    PortForbidden,
    PortMissing,
    SeveralPorts,
)
from tableturn_bridge.finding import Finder, Place, UsbPort, candidates
from tableturn_bridge.port import MOST_UNWRITTEN, Port, holders, open_port
from tests.bridge.fake import until


class Terminal:
    """A pseudo terminal: we are what is plugged in."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)

    def read(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self.master, 65_536)
        return b""

    def close(self) -> None:
        if self.master >= 0:
            os.close(self.slave)
            os.close(self.master)
            self.master = self.slave = -1


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


class Heard:
    """What an open port has told."""

    def __init__(self, port: Port) -> None:
        self.data = b""
        self.gone: list[PanelGone] = []
        port.start(self.take, self.gone.append)

    def take(self, data: bytes) -> None:
        self.data += data


# ---------------------------------------------------------------- an open port


async def test_bytes_go_both_ways(terminal: Terminal) -> None:
    with open_port(terminal.path) as port:
        heard = Heard(port)
        port.write(b"\0to the panel\0\xff\x11\x13")
        os.write(terminal.master, b"\0to the host\r\n\x11\x13\x03\0")
        await until(lambda: len(heard.data) == 18)
        assert heard.data == b"\0to the host\r\n\x11\x13\x03\0"
        assert terminal.read() == b"\0to the panel\0\xff\x11\x13"
        assert heard.gone == []


async def test_what_the_port_does_not_take_yet_is_written_later(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    real = os.write

    def takes_little(fd: int, data: bytes) -> int:
        written.append(len(data))
        if len(written) % 2:
            raise BlockingIOError
        return real(fd, bytes(data[:7]))

    with open_port(terminal.path) as port:
        port.write(b"before it is started, ")
        Heard(port)
        monkeypatch.setattr(os, "write", takes_little)
        for number in range(20):
            port.write(b"%d, " % number)
        read = b""

        def all_there() -> bool:
            nonlocal read
            read += terminal.read()
            return read.endswith(b"19, ")

        await until(all_there)
        assert read == b"before it is started, " + b"".join(b"%d, " % n for n in range(20))


async def test_a_port_that_takes_nothing_is_gone(terminal: Terminal) -> None:
    with open_port(terminal.path) as port:
        heard = Heard(port)
        for _ in range(1_000):  # nobody reads them
            port.write(bytes(1_000))
            if port.gone:
                break
        assert heard.gone == [port.gone]
        assert "takes no more bytes" in heard.gone[0].problem
        port.write(bytes(MOST_UNWRITTEN))
        assert len(heard.gone) == 1


@pytest.mark.case("H1")
async def test_unplugged_while_it_is_read_is_one_error(terminal: Terminal) -> None:
    with open_port(terminal.path) as port:
        heard = Heard(port)
        terminal.close()
        await until(lambda: bool(heard.gone))
        assert heard.gone == [port.gone]
        assert terminal.path in heard.gone[0].problem
        port.write(b"into nothing")
        assert len(heard.gone) == 1


@pytest.mark.case("H1")
@pytest.mark.parametrize("number", [errno.EIO, errno.ENXIO, errno.ENODEV, errno.EBADF])
@pytest.mark.parametrize("call", ["read", "write"])
async def test_every_error_of_the_system_is_the_same_one(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    def fails(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    real_write = os.write
    with open_port(terminal.path) as port:
        heard = Heard(port)
        monkeypatch.setattr(os, call, fails)
        if call == "write":
            port.write(b"x")
        else:
            real_write(terminal.master, b"x")
        await until(lambda: bool(heard.gone))
        monkeypatch.undo()
        assert heard.gone == [port.gone]
        assert os.strerror(number) in heard.gone[0].problem


async def test_closing_twice_and_after_the_end(terminal: Terminal) -> None:
    port = open_port(terminal.path)
    Heard(port)
    terminal.close()
    port.close()
    port.close()
    port.write(b"x")
    assert port.gone is None


# ---------------------------------------------------------------- a port that can't be opened


def refusal(name: str | Path) -> PanelTrouble:
    with pytest.raises(PanelTrouble) as raised:
        open_port(str(name)).close()
    assert raised.value.cure.endswith(".")
    assert str(name) in raised.value.problem
    return raised.value


def test_a_port_that_is_not_there(tmp_path: Path) -> None:
    assert isinstance(refusal(tmp_path / "nothing"), PortMissing)
    (tmp_path / "loose").symlink_to(tmp_path / "nothing")
    assert isinstance(refusal(tmp_path / "loose"), PortMissing)
    assert isinstance(refusal(tmp_path / ("x" * 300)), PortMissing)


def test_what_is_no_serial_port(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no port")
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "file", tmp_path / "pipe", tmp_path, "/dev/null", "/dev/zero"):
        assert isinstance(refusal(name), NotASerialPort)


def test_a_port_that_we_have_open_already(terminal: Terminal) -> None:
    with open_port(terminal.path):
        assert isinstance(refusal(terminal.path), PortBusy)
    open_port(terminal.path).close()  # and it is free again


HOLDS = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_the_program_that_has_it_is_named(terminal: Terminal) -> None:
    command = [sys.executable, "-c", HOLDS, terminal.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        error = refusal(terminal.path)
        assert isinstance(error, PortBusy)
        assert f"(process {other.pid})" in error.problem
        assert [f"(process {other.pid})" in name for name in holders(Path(terminal.path))] == [True]
        other.kill()
    open_port(terminal.path).close()  # a killed program leaves no lock behind


def test_a_port_that_somebody_has_open_without_a_lock_is_left_alone_if_it_is_real(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pseudo terminal has its other end open in some program; a board has not.
    monkeypatch.setattr(port_module, "holders", lambda path: ["avrdude (process 9)"])
    open_port(terminal.path).close()
    monkeypatch.setattr(port_module, "_PTYS", range(0))
    assert "avrdude (process 9)" in refusal(terminal.path).problem
    monkeypatch.setattr(port_module, "holders", lambda path: [])
    with open_port(terminal.path):
        pass
    open_port(terminal.path).close()  # TIOCEXCL was taken back


def test_known_troublemakers_have_their_own_cure(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port_module, "_PTYS", range(0))
    for name, cure in (
        ("ModemManager", "stop ModemManager"),
        ("brltty", "remove brltty"),
        ("screen", "Close that program"),
    ):
        monkeypatch.setattr(port_module, "holders", lambda path, name=name: [f"{name} (process 9)"])
        assert cure in refusal(terminal.path).cure


def test_a_port_that_this_user_may_not_use(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    error = refusal(terminal.path)
    assert isinstance(error, PortForbidden)
    assert "usermod -aG" in error.cure
    assert "log out and in" in error.cure


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (serial.SerialException(errno.EACCES, "could not open port: [Errno 13]"), PortForbidden),
        (serial.SerialException(errno.EBUSY, "could not open port: [Errno 16]"), PortBusy),
        (serial.SerialException("Could not exclusively lock port x: [Errno 11]"), PortBusy),
        (serial.SerialException("Could not configure port: (25, '...')"), NotASerialPort),
        (serial.SerialException(errno.EIO, "could not open port: [Errno 5]"), PanelGone),
        (serial.SerialException(errno.ENOENT, "could not open port: [Errno 2]"), PanelGone),
        (OSError(errno.ENXIO, "No such device or address"), PanelGone),
        (ValueError("strange"), PanelGone),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_opening_raises_has_a_cause(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, raised: Exception, kind: type[PanelTrouble]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(serial, "Serial", fails)
    assert type(refusal(terminal.path)) is kind


def test_a_lock_is_left_to_others_when_a_port_is_closed(terminal: Terminal) -> None:
    open_port(terminal.path).close()
    fd = os.open(terminal.path, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


# ---------------------------------------------------------------- finding

UNO = UsbPort("ttyACM0", 0x2341, 0x0043, "75735303")
NANO = UsbPort("ttyUSB0", 0x1A86, 0x7523)
OTHER = UsbPort("ttyUSB9", 0x1234, 0x5678, "1")
MAINBOARD = UsbPort("ttyS0")


class Machine:
    """A machine's /dev, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.dev = folder / "dev"
        self.links = self.dev / "serial"
        (self.links / "by-id").mkdir(parents=True)
        (self.links / "by-path").mkdir()
        self._plugged: dict[str, UsbPort] = {}

    def plug(self, port: UsbPort, name: str = "", socket: str = "1") -> str:
        device = self.dev / (name or port.device)
        device.touch()
        plugged = UsbPort(str(device), port.vendor, port.product, port.serial_number)
        self._plugged[str(device)] = plugged
        chip = f"usb-{port.vendor}_{port.serial_number or 'USB_Serial'}"
        for link in (self.links / "by-id" / chip, self.links / "by-path" / f"pci-usb-{socket}"):
            link.unlink(missing_ok=True)
            link.symlink_to(Path("../..") / device.name)
        return str(device)

    def unplug(self, device: str) -> None:
        Path(device).unlink()
        del self._plugged[device]
        for link in self.links.glob("*/*"):
            if not link.exists():
                link.unlink()

    def finder(self, given: str | None) -> Finder:
        return Finder(given, ports=self.ports, links=self.links)

    def ports(self) -> list[UsbPort]:
        return list(self._plugged.values())

    def link(self, name: str) -> str:
        return str(self.links / name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.case("H1")
def test_a_board_with_a_serial_number_is_found_under_any_name_in_any_socket(
    machine: Machine,
) -> None:
    first = machine.plug(UNO)
    finder = machine.finder(first)
    name = machine.link("by-id/usb-9025_75735303")
    assert finder.find() == Place(name, Path(first))
    machine.unplug(first)
    with pytest.raises(PortMissing, match="found by itself"):
        finder.find()
    machine.plug(NANO, "ttyACM0", socket="1")  # something else takes its name
    second = machine.plug(UNO, "ttyACM1", socket="7")
    assert finder.find() == Place(name, Path(second))


def test_a_chip_without_a_serial_number_goes_by_its_socket(machine: Machine) -> None:
    first = machine.plug(NANO, socket="1")
    twin = machine.plug(NANO, "ttyUSB1", socket="2")
    finder = machine.finder(first)
    assert finder.find() == Place(machine.link("by-path/pci-usb-1"), Path(first))
    machine.unplug(first)
    machine.unplug(twin)
    moved = machine.plug(NANO, "ttyUSB5", socket="1")
    assert finder.find().device == Path(moved)
    machine.unplug(moved)
    # In another socket it can only be found by the name that was given.
    machine.plug(NANO, "ttyUSB0", socket="3")
    assert finder.find() == Place(machine.link("by-path/pci-usb-3"), Path(first))


def test_a_link_is_followed_anew_each_time(machine: Machine, tmp_path: Path) -> None:
    link = tmp_path / "panel"
    link.symlink_to(machine.plug(OTHER))
    finder = machine.finder(str(link))
    assert finder.find() == Place(str(link), machine.dev / "ttyUSB9")
    link.unlink()
    with pytest.raises(PortMissing):
        finder.find()
    link.symlink_to(machine.plug(NANO))
    assert finder.find() == Place(str(link), machine.dev / "ttyUSB0")
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(PortMissing):
        finder.find()


def test_a_port_that_the_system_does_not_list_keeps_its_name(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "tty").touch()
    assert machine.finder(str(tmp_path / "tty")).find().name == str(tmp_path / "tty")


def test_without_a_name_the_only_likely_port_is_taken(machine: Machine) -> None:
    finder = machine.finder(None)
    with pytest.raises(NoPort, match="no panel is plugged in"):
        finder.find()
    machine.plug(MAINBOARD)
    other = machine.plug(OTHER, socket="4")
    with pytest.raises(NoPort, match=other):
        finder.find()
    nano = machine.plug(NANO, socket="2")
    assert finder.find().device == Path(nano)
    machine.plug(UNO, socket="3")
    assert finder.find().device == Path(nano)  # it stays with what it had
    with pytest.raises(SeveralPorts, match="2 ports look like a panel's") as raised:
        machine.finder(None).find()
    assert "CH340" in raised.value.cure
    assert "Arduino" in raised.value.cure


def test_a_wrong_name_is_answered_with_the_likely_ones(machine: Machine) -> None:
    machine.plug(UNO)
    with pytest.raises(PortMissing, match="by-id/usb-9025_75735303"):
        machine.finder("/dev/ttyACM7").find()


def test_candidates_are_told_in_words(machine: Machine) -> None:
    machine.plug(OTHER)
    device = machine.plug(UNO, socket="2")
    (candidate,) = candidates(machine.ports, machine.links)
    assert candidate.words == f"{device}: Arduino"
    assert candidate.device == Path(device)


def test_the_ports_of_this_machine_can_be_listed() -> None:
    assert all(candidate.words for candidate in candidates())
