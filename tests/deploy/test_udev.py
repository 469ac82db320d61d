"""The rule for panels' ports: which devices it is about, and what becomes of them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tableturn_bridge.finding import CHIPS
from tests.deploy.udev import Device, apply, read_rules
from tests.meta.tree import ROOT

PATH = ROOT / "deploy/udev/86-tableturn-panel.rules"
RULES = read_rules(PATH)
BOARDS = [(vendor, 0x0043 if product is None else product) for vendor, product in CHIPS]
ENV = {"ID_PATH_TAG": "usb-0_1_2_1_0", "BRLTTY_BRAILLE_DRIVER": "bm", "SYSTEMD_WANTS": "brltty"}


def device(subsystem: str, vendor: int, product: int, **env: str) -> Device:
    attrs = {"idVendor": f"{vendor:04x}", "idProduct": f"{product:04x}"}
    return Device(subsystem, attrs, {**ENV, **env})


@pytest.mark.parametrize(("vendor", "product"), BOARDS, ids=lambda number: f"{number:04x}")
def test_the_port_of_every_board_that_is_found_gets_its_names(vendor: int, product: int) -> None:
    port = apply(RULES, device("tty", vendor, product))
    assert port.links == {"tableturn-panel", "tableturn-panel-usb-0_1_2_1_0"}
    assert (port.group, port.mode) == ("dialout", "0660")
    assert port.env["ID_MM_DEVICE_IGNORE"] == "1"


@pytest.mark.parametrize(("vendor", "product"), BOARDS, ids=lambda number: f"{number:04x}")
def test_other_programs_leave_the_board_alone(vendor: int, product: int) -> None:
    board = apply(RULES, device("usb", vendor, product, DEVTYPE="usb_device"))
    assert board.env["ID_MM_DEVICE_IGNORE"] == "1"
    assert board.env["SYSTEMD_WANTS"] == board.env["BRLTTY_BRAILLE_DRIVER"] == ""
    assert (board.links, board.group) == (set(), "root")


def test_a_board_with_a_serial_number_has_a_name_by_that() -> None:
    port = apply(RULES, device("tty", 0x2341, 0x0043, ID_SERIAL_SHORT="55739323137351"))
    assert "tableturn-panel-55739323137351" in port.links


def test_what_else_systemd_wants_for_a_board_stays() -> None:
    wanted = {"BRLTTY_BRAILLE_DRIVER": "", "SYSTEMD_WANTS": "something.service"}
    board = apply(RULES, device("usb", 0x1A86, 0x7523, DEVTYPE="usb_device", **wanted))
    assert board.env["SYSTEMD_WANTS"] == "something.service"


@pytest.mark.parametrize(
    "other",
    [
        device("tty", 0x12D1, 0x1506),
        device("usb", 0x1A86, 0x7523, DEVTYPE="usb_interface"),
        device("net", 0x1A86, 0x7523),
        Device("tty"),
        Device("tty", {"idVendor": "2341", "idProduct": "0043"}, action="remove"),
    ],
    ids=["modem", "interface", "network", "no-usb", "removed"],
)
def test_other_devices_are_not_touched(other: Device) -> None:
    before = Device(other.subsystem, other.attrs, dict(other.env), other.action)
    assert apply(RULES, other) == before


def verifying() -> str | None:
    """The udevadm of this system, if it can look at a file of rules: from version 254 on."""
    udevadm = shutil.which("udevadm")
    if udevadm is None:
        return None
    asked = subprocess.run([udevadm, "verify", "--help"], check=False, capture_output=True)
    return udevadm if asked.returncode == 0 else None


@pytest.mark.skipif(verifying() is None, reason="this system's udevadm has no `verify`")
def test_udev_itself_reads_the_rules() -> None:
    udevadm = verifying()
    assert udevadm is not None
    subprocess.run([udevadm, "verify", "--no-style", PATH], check=True, capture_output=True)
