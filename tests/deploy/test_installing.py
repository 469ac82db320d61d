"""`deploy/pi/install` puts files in their places, leaves settings alone, and takes itself away."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.meta.tree import ROOT

INSTALL = ROOT / "deploy/pi/install"
PLACES = {
    "usr/local/lib/systemd/system/tableturn.service": "systemd/tableturn.service",
    "usr/local/lib/systemd/system/tableturn-panel.service": "systemd/tableturn-panel.service",
    "usr/local/lib/systemd/system/tableturn-panel@.service": "systemd/tableturn-panel@.service",
    "etc/sysusers.d/tableturn.conf": "systemd/tableturn.sysusers",
    "usr/local/bin/tableturn-here": "pi/tableturn-here",
    "etc/udev/rules.d/86-tableturn-panel.rules": "udev/86-tableturn-panel.rules",
}
SETTINGS = "etc/tableturn/tableturn.conf"
UNITS = ("tableturn", "tableturn-panel")


def install(*arguments: str, below: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [INSTALL, *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "DESTDIR": str(below)},
    )


def files(below: Path) -> dict[str, str]:
    return {
        path.relative_to(below).as_posix(): path.read_text()
        for path in below.rglob("*")
        if path.is_file()
    }


def test_every_file_is_put_in_its_place(tmp_path: Path) -> None:
    assert install(below=tmp_path).returncode == 0
    wanted = {place: (ROOT / "deploy" / source).read_text() for place, source in PLACES.items()}
    assert files(tmp_path) == wanted | {
        SETTINGS: (ROOT / "deploy/systemd/tableturn.conf").read_text()
    }
    programs = [path for path in tmp_path.rglob("*") if path.is_file() and os.access(path, os.X_OK)]
    assert [path.name for path in programs] == ["tableturn-here"]


def test_installing_again_keeps_the_settings_and_renews_the_rest(tmp_path: Path) -> None:
    install(below=tmp_path)
    (tmp_path / SETTINGS).write_text("mine")
    unit = tmp_path / "usr/local/lib/systemd/system/tableturn.service"
    unit.write_text("old")
    assert install(below=tmp_path).returncode == 0
    assert (tmp_path / SETTINGS).read_text() == "mine"
    assert unit.read_text() == (ROOT / "deploy/systemd/tableturn.service").read_text()


@pytest.mark.parametrize("before", [True, False], ids=["installed", "never"])
def test_removing_leaves_the_settings_only(tmp_path: Path, before: bool) -> None:
    if before:
        install(below=tmp_path)
    ran = install("--remove", below=tmp_path)
    assert ran.returncode == 0
    assert "/var/lib/tableturn" in ran.stderr
    assert list(files(tmp_path)) == ([SETTINGS] if before else [])


# ---------------------------------------------------------------- which units start


def systemctl(*arguments: str, below: Path) -> str:
    ran = subprocess.run(
        ["systemctl", f"--root={below}", *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return ran.stdout.strip()


def state(unit: str, below: Path) -> str:
    """What systemd says of a unit: enabled, disabled, masked; nothing if it isn't there."""
    return systemctl("is-enabled", f"{unit}.service", below=below)


needs_systemctl = pytest.mark.skipif(
    shutil.which("systemctl") is None, reason="systemd is not there"
)


@needs_systemctl
def test_both_services_start_with_the_machine(tmp_path: Path) -> None:
    install(below=tmp_path)
    assert [state(unit, tmp_path) for unit in UNITS] == ["enabled", "enabled"]


@needs_systemctl
@pytest.mark.parametrize("how", ["disable", "mask"])
def test_a_service_that_was_switched_off_stays_so(tmp_path: Path, how: str) -> None:
    install(below=tmp_path)
    systemctl(how, "tableturn.service", below=tmp_path)
    off = state("tableturn", tmp_path)
    assert off in ("disabled", "masked")
    ran = install(below=tmp_path)
    assert ran.returncode == 0
    assert "tableturn.service was switched off, and stays so" in ran.stderr
    assert [state(unit, tmp_path) for unit in UNITS] == [off, "enabled"]


@needs_systemctl
def test_what_was_interrupted_is_made_up_for(tmp_path: Path) -> None:
    """The units are there, but it was ended before they were enabled."""
    install(below=tmp_path)
    systemctl("disable", "tableturn.service", below=tmp_path)
    (tmp_path / "etc/tableturn/to-enable").write_text("tableturn.service\n")
    ran = install(below=tmp_path)
    assert "switched off" not in ran.stderr
    assert state("tableturn", tmp_path) == "enabled"
    assert not (tmp_path / "etc/tableturn/to-enable").exists()


@needs_systemctl
@pytest.mark.parametrize("was", ["enabled", "disabled"])
def test_units_of_an_earlier_version_move(tmp_path: Path, was: str) -> None:
    old = tmp_path / "etc/systemd/system/tableturn.service"
    old.parent.mkdir(parents=True)
    shutil.copy(ROOT / "deploy/systemd/tableturn.service", old)
    if was == "enabled":
        systemctl("enable", old.name, below=tmp_path)
    assert install(below=tmp_path).returncode == 0
    assert not old.exists()
    assert state("tableturn", tmp_path) == was
    links = [path.readlink() for path in tmp_path.rglob("*") if path.is_symlink()]
    assert all(link.is_relative_to("/usr/local/lib/systemd/system") for link in links)


@needs_systemctl
def test_removing_leaves_no_link(tmp_path: Path) -> None:
    install(below=tmp_path)
    systemctl("enable", "tableturn-panel@usb-1.service", below=tmp_path)
    systemctl("mask", "tableturn-panel.service", below=tmp_path)
    assert install("--remove", below=tmp_path).returncode == 0
    assert [path for path in tmp_path.rglob("*") if path.is_symlink()] == []


# ---------------------------------------------------------------- what it doesn't do


def test_what_it_does_not_know_it_does_not_do(tmp_path: Path) -> None:
    ran = install("--purge", below=tmp_path)
    assert ran.returncode == 1
    assert "usage" in ran.stderr
    assert files(tmp_path) == {}


# ---------------------------------------------------------------- tableturn-here


def here(tmp_path: Path, *arguments: str, settings: str = "") -> list[str]:
    """The words that `tableturn-here` would run, from `env` on."""
    for name in ("runuser", "sudo"):
        stand_in = tmp_path / name
        stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        stand_in.chmod(0o755)
    conf = tmp_path / "tableturn.conf"
    conf.write_text(settings)
    script = tmp_path / "tableturn-here"
    text = (ROOT / "deploy/pi/tableturn-here").read_text()
    assert "settings=/etc/tableturn/tableturn.conf" in text
    script.write_text(text.replace("/etc/tableturn/tableturn.conf", str(conf)))
    ran = subprocess.run(
        ["sh", script, *arguments],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    words = ran.stdout.splitlines()
    assert words[:2] == ["-u", "tableturn"]
    return words[words.index("env") :]


def test_the_command_line_is_run_as_the_user_of_the_services(tmp_path: Path) -> None:
    settings = 'TABLETURN_SERVER="table.local"\nPANEL_OPTIONS="--new"\n'
    assert here(tmp_path, "say", "harbour", "good luck", settings=settings) == [
        "env",
        "TABLETURN_HOME=/var/lib/tableturn/tokens",
        "TABLETURN_SERVER=table.local",
        "/opt/tableturn/bin/tableturn",
        "say",
        "harbour",
        "good luck",
    ]


OPTIONS = "PANEL_OPTIONS=\"--game free-table --clock '15m + 10s' --option a=*\""
AS_WORDS = ["--game", "free-table", "--clock", "15m + 10s", "--option", "a=*"]


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        (["panel", "--new"], ["panel", *AS_WORDS, "--new"]),
        (["panel"], ["panel", *AS_WORDS]),
        (["panel", "doctor"], ["panel", "doctor"]),
        (["panel", "status", "harbour"], ["panel", "status", "harbour"]),
        (["panel", "off", "harbour", "7"], ["panel", "off", "harbour", "7"]),
        (["panel", "--table", "x", "--seats", "1,2"], ["panel", "--table", "x", "--seats", "1,2"]),
        (["show", "panel"], ["show", "panel"]),
    ],
    ids=lambda value: " ".join(value[:3]),
)
def test_a_panel_by_hand_has_the_options_of_the_service(
    tmp_path: Path, arguments: list[str], run: list[str]
) -> None:
    words = here(tmp_path, *arguments, settings=OPTIONS)
    assert words[words.index("/opt/tableturn/bin/tableturn") + 1 :] == run
