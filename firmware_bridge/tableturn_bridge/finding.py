"""Where the panel is: a port's name that stays the same when it is plugged in again.

`/dev/ttyUSB0` may be `/dev/ttyUSB1` tomorrow. A port that was given so is remembered by the name
that the system keeps for the device: by its serial number (/dev/serial/by-id), and for chips
without one, such as the CH340, by its socket (/dev/serial/by-path). Names are resolved anew at
each try.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from serial.tools import list_ports

from tableturn_bridge.errors import NoPort, PortMissing, SeveralPorts

SERIAL = Path("/dev/serial")

CHIPS: dict[tuple[int, int | None], str] = {
    (0x2341, None): "Arduino",
    (0x2A03, None): "Arduino",
    (0x1B4F, None): "SparkFun board",
    (0x1A86, 0x7523): "CH340, as on many copies of the Nano",
    (0x1A86, 0x5523): "CH341",
    (0x1A86, 0x55D4): "CH9102",
    (0x0403, 0x6001): "FTDI FT232",
    (0x0403, 0x6015): "FTDI FT230X",
    (0x10C4, 0xEA60): "CP210x",
    (0x067B, 0x2303): "PL2303",
    (0x067B, 0x23A3): "PL2303",
}
"""USB numbers of boards and chips that panels are made of; None: any product."""


@dataclass(frozen=True)
class UsbPort:
    """What the system says about a serial port."""

    device: str
    vendor: int | None = None
    product: int | None = None
    serial_number: str | None = None
    description: str = ""

    @property
    def chip(self) -> str | None:
        """What it is, if panels are made of it."""
        if self.vendor is None:
            return None
        return CHIPS.get((self.vendor, self.product)) or CHIPS.get((self.vendor, None))


@dataclass(frozen=True)
class Candidate:
    """A port that may be a panel's."""

    name: str
    """The name that stays."""
    device: Path
    """Where it is now."""
    words: str
    """What it is, for a person."""


@dataclass(frozen=True)
class Place:
    """Where the panel is now."""

    name: str
    device: Path


def system_ports() -> list[UsbPort]:
    """The serial ports of this machine; none if the system can't list them."""
    try:
        found = list_ports.comports()
    except OSError:
        return []
    return [
        UsbPort(port.device, port.vid, port.pid, port.serial_number, port.description or "")
        for port in found
    ]


Ports = Callable[[], Sequence[UsbPort]]


def candidates(ports: Ports = system_ports, links: Path = SERIAL) -> list[Candidate]:
    """The ports that look like a panel's, by their USB numbers."""
    return [
        Candidate(_lasting(port, links), Path(port.device), f"{port.device}: {port.chip}")
        for port in sorted(ports(), key=lambda port: port.device)
        if port.chip is not None
    ]


class Finder:
    """Finds one panel's port, again and again.

    Args:
        given: The port's path, as a person or a script gave it; None: the only one that looks
            like a panel's.
        ports: Lists the serial ports of this machine.
        links: The folder with lasting names.
    """

    def __init__(
        self, given: str | None, *, ports: Ports = system_ports, links: Path = SERIAL
    ) -> None:
        self.given = given
        self._ports = ports
        self._links = links
        self._name: str | None = None

    def find(self) -> Place:
        """Where the panel is now.

        Raises:
            PortMissing: Nothing has its name, nor the name that was given.
            NoPort: None was given, and none looks like a panel's.
            SeveralPorts: None was given, and several do.
        """
        if self._name is not None and (device := _resolve(self._name)) is not None:
            return Place(self._name, device)
        place = self._choose() if self.given is None else self._look_up(self.given)
        self._name = place.name
        return place

    def _look_up(self, given: str) -> Place:
        device = _resolve(given)
        if device is None:
            found = [candidate.name for candidate in candidates(self._ports, self._links)]
            raise PortMissing(
                f"there is no port {given}",
                f"Plug the panel in, or name another port: {', '.join(found)}."
                if found
                else "Plug the panel in; it is found by itself.",
            )
        if os.path.islink(given):
            return Place(given, device)  # whoever made the link sees to it that it is right
        for port in self._ports():
            if os.path.realpath(port.device) == str(device):
                return Place(_lasting(port, self._links), device)
        return Place(given, device)

    def _choose(self) -> Place:
        found = candidates(self._ports, self._links)
        if not found:
            others = [port.device for port in self._ports() if port.vendor is not None]
            raise NoPort(
                "no panel is plugged in",
                f"No port looks like a panel's. If it is one of these, name it with --port: "
                f"{', '.join(others)}."
                if others
                else "Plug it in, with a cable that has data lines, or name its port with --port.",
            )
        if len(found) > 1:
            raise SeveralPorts(
                f"{len(found)} ports look like a panel's",
                f"Name one with --port: {'; '.join(each.words for each in found)}.",
            )
        return Place(found[0].name, found[0].device)


def _resolve(name: str) -> Path | None:
    """The device behind a name, through all links; None if there is none."""
    try:
        return Path(name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None


def _lasting(port: UsbPort, links: Path) -> str:
    """The name that stays with a port; the device itself if the system keeps none.

    Two chips without a serial number have the same name by-id, so those go by their socket.
    """
    for folder in ("by-id", "by-path") if port.serial_number else ("by-path",):
        try:
            names = sorted((links / folder).iterdir())
        except OSError:
            continue
        for name in names:
            if _resolve(str(name)) == _resolve(port.device):
                return str(name)
    return port.device
