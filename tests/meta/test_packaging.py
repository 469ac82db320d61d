"""The wheel holds every file of the packages: code, types, protos, component data, scripts."""

import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, committed_files, pyproject


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(built("wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in the archive of sources, without its folder's."""
    with tarfile.open(built("sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def built(target: str, folder: Path) -> Path:
    """Build a package into a folder."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [file] = folder.iterdir()
    return file


def packages() -> list[Path]:
    hatch = pyproject()["tool"]["hatch"]["build"]["targets"]["wheel"]
    return [Path(package) for package in hatch["packages"]]


def test_the_wheel_holds_all_files_of_the_packages(wheel: set[str]) -> None:
    wanted = {
        path.relative_to(package.parent).as_posix()
        for package in packages()
        for path in committed_files()
        if path.is_relative_to(package)
    }
    assert wanted
    assert wanted - wheel == set()


def test_the_wheel_puts_nothing_else_into_site_packages(wheel: set[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel if ".dist-info/" not in name}
    assert tops == {package.name for package in packages()}


def test_no_package_holds_the_emulator(wheel: set[str], sdist: set[str]) -> None:
    """It is under the GPL, and all else is not."""
    emulator = Path("firmware_bridge/emulator")
    files = [path for path in committed_files() if path.is_relative_to(emulator)]
    assert Path("firmware_bridge/emulator/main.c") in files
    assert sdist.isdisjoint(map(str, files))
    assert {Path(name).name for name in wheel if name.endswith((".c", ".h"))} == set()
    assert "firmware_bridge/firmware/panel_core.c" in sdist


def test_every_package_says_that_it_is_typed() -> None:
    assert [package for package in packages() if not (ROOT / package / "py.typed").exists()] == []


def test_every_package_root_is_installed_checked_and_linted() -> None:
    tool = pyproject()["tool"]
    roots = {package.parent.as_posix() for package in packages()}
    assert set(tool["hatch"]["build"]["dev-mode-dirs"]) == roots
    assert set(tool["mypy"]["mypy_path"].split(":")) == roots
    assert {package.name for package in packages()} == set(tool["importlinter"]["root_packages"])


def test_commands_are_registered() -> None:
    registered = {command.name for command in entry_points(group="tableturn.commands")}
    assert registered >= set(pyproject()["project"]["entry-points"]["tableturn.commands"])
