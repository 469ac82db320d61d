"""`deploy/pi/install` puts files in their places, leaves settings alone, and takes itself away."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.meta.tree import ROOT

INSTALL = ROOT / "deploy/pi/install"
PLACES = {
    "etc/systemd/system/tableturn.service": "systemd/tableturn.service",
    "etc/systemd/system/tableturn-panel.service": "systemd/tableturn-panel.service",
    "etc/sysusers.d/tableturn.conf": "systemd/tableturn.sysusers",
    "usr/local/bin/tableturn-here": "pi/tableturn-here",
    "etc/udev/rules.d/86-tableturn-panel.rules": "udev/86-tableturn-panel.rules",
}
SETTINGS = "etc/tableturn/tableturn.conf"


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
    unit = tmp_path / "etc/systemd/system/tableturn.service"
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


def test_what_it_does_not_know_it_does_not_do(tmp_path: Path) -> None:
    ran = install("--purge", below=tmp_path)
    assert ran.returncode == 1
    assert "usage" in ran.stderr
    assert files(tmp_path) == {}


def test_the_command_line_is_run_as_the_user_of_the_services(tmp_path: Path) -> None:
    for name in ("runuser", "sudo"):
        stand_in = tmp_path / name
        stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        stand_in.chmod(0o755)
    ran = subprocess.run(
        [ROOT / "deploy/pi/tableturn-here", "say", "harbour", "good luck"],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "TABLETURN_SERVER": "table.local"},
    )
    words = ran.stdout.splitlines()
    assert words[:2] == ["-u", "tableturn"]
    assert words[words.index("env") :] == [
        "env",
        "TABLETURN_HOME=/var/lib/tableturn/tokens",
        "TABLETURN_SERVER=table.local",
        "/opt/tableturn/bin/tableturn",
        "say",
        "harbour",
        "good luck",
    ]
