"""The services of a machine that boots into a table: systemd reads them, what they run works."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tableturn_bridge.virtual.remote import PanelProcess
from tests.deploy.units import SETTINGS, read_settings, read_unit, with_program
from tests.e2e.processes import TABLETURN, environment

NAMES = ("tableturn.service", "tableturn-panel.service")
OF_SEVERAL = "tableturn-panel@.service"
WITHIN = 30.0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not there")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    copies = [with_program(name, TABLETURN, tmp_path) for name in (*NAMES, OF_SEVERAL)]
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *copies],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_service_comes_back_however_it_ends(name: str) -> None:
    unit = read_unit(name)
    assert unit.one("Service", "Restart") == "always"
    assert unit.one("Unit", "StartLimitIntervalSec") == "0"
    assert unit.one("Service", "User") == "tableturn"
    assert unit.one("Service", "ProtectSystem") == "strict"
    assert unit.one("Install", "WantedBy") == "multi-user.target"


def test_the_panel_goes_on_without_the_service_and_without_a_device() -> None:
    unit = read_unit("tableturn-panel.service")
    names = {name for section, name in unit.values if section == "Unit"}
    assert "tableturn.service" in unit.one("Unit", "After")
    # By none of these: where the service is switched off, the panel doesn't start it.
    assert names.isdisjoint({"Wants", "Requires", "BindsTo", "PartOf", "Requisite", "Upholds"})
    # Either would hide a board that is plugged in after the start.
    assert ("Service", "PrivateDevices") not in unit.values
    assert ("Service", "DeviceAllow") not in unit.values
    assert unit.one("Service", "SupplementaryGroups") == "dialout"


def test_one_of_several_panels_is_like_the_only_one() -> None:
    one, several = read_unit("tableturn-panel.service"), read_unit(OF_SEVERAL)
    differs = {key for key in one.values if one.values[key] != several.values.get(key)}
    assert differs == {
        ("Unit", "Description"),
        ("Service", "EnvironmentFile"),
        ("Service", "ExecStart"),
    }
    assert one.values.keys() == several.values.keys()
    files = several.values["Service", "EnvironmentFile"]
    assert files == [
        *one.values["Service", "EnvironmentFile"],
        "-/etc/tableturn/panel-%i.conf",  # the later one counts
    ]
    # The last port counts, whatever the settings say.
    assert several.one("Service", "ExecStart") == (
        one.one("Service", "ExecStart") + " --port /dev/tableturn-panel-%i"
    )


def test_the_settings_are_those_that_the_units_use() -> None:
    settings = read_settings(SETTINGS.read_text())
    assert settings == {"SERVE_OPTIONS": "", "PANEL_OPTIONS": ""}
    for name in NAMES:
        assert read_unit(name).one("Service", "EnvironmentFile") == "-/etc/tableturn/tableturn.conf"


def test_words_in_quotes_stay_together() -> None:
    command = read_unit("tableturn-panel.service").command({"PANEL_OPTIONS": "--clock '15m + 10s'"})
    assert command[1:] == ["panel", "--json", "--clock", "15m + 10s"]


@pytest.fixture
def home() -> Iterator[Path]:
    """The services' folder, with a short name: there are sockets in it."""
    with tempfile.TemporaryDirectory(prefix="tt-pi-") as folder:
        yield Path(folder)


@contextlib.contextmanager
def running(name: str, home: Path, settings: dict[str, str]) -> Iterator[None]:
    """What a unit runs, with this project's program and a folder of its own; ended by SIGTERM."""
    unit = read_unit(name)

    def here(text: str) -> str:
        return text.replace("/var/lib/tableturn", str(home))

    program, *words = unit.command(settings)
    assert program == "/opt/tableturn/bin/tableturn"
    variables = {key: here(value) for key, value in unit.environment(settings).items()}
    with (home / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [TABLETURN, *map(here, words)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment(**variables),
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            code = process.wait(WITHIN)
        finally:
            process.kill()
    good = unit.values.get(("Service", "SuccessExitStatus"), ["0"])
    assert str(code) in good, (home / f"{name}.log").read_text()


@pytest.mark.e2e
async def test_the_machine_boots_into_a_table(home: Path) -> None:
    """The board is plugged in last, and pulled out once; the service starts after the bridge."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "SERVE_OPTIONS": f"--port {port}",
        "PANEL_OPTIONS": f"--port {home / 'panel'} --option first_seat=1",
        "TABLETURN_SERVER": f"127.0.0.1:{port}",
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(running("tableturn-panel.service", home, settings))
        async with PanelProcess(home, buttons=2) as board:
            await board.wait_lamp(1, ["SERVICE_LOST"], timeout=WITHIN)
            stack.enter_context(running("tableturn.service", home, settings))
            for button in (1, 2):
                await board.wait_lamp(button, ["FREE"], timeout=WITHIN)
                await board.press(button, wait=True)
            await board.wait_lamp(1, ["SEATED"], timeout=WITHIN)
            await board.hold(1, wait=True)
            await board.wait_lamp(1, ["TURN"], timeout=WITHIN)
            await board.press(1, wait=True)
            await board.wait_lamp(2, ["TURN"], timeout=WITHIN)
            await board.unplug()
            await board.plug()
            await board.wait_lamp(2, ["TURN"], timeout=WITHIN)
            await board.press(2, wait=True)
            await board.wait_lamp(1, ["TURN"], timeout=WITHIN)
    assert (home / "tokens").is_dir()
    assert (home / "tables").is_dir()
