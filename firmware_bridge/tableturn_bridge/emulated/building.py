"""The firmware and its emulator, made from the sources of a checkout when they are needed.

Nothing that is compiled is in the package. `make` decides what has to be made again; processes that
ask at the same time wait for each other.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tableturn_client.errors import NotSent

TREE = Path(__file__).resolve().parents[3]
"""The checkout, if this is one."""
SOURCES = TREE / "firmware_bridge"
BUILT = TREE / "build"
LAST_LINES = 20
"""Of what `make` says when it fails."""
PACKAGES = "gcc-avr avr-libc binutils-avr libsimavr-dev gcc libc6-dev make"
"""What Debian calls all that is needed."""


@dataclass(frozen=True)
class Tools:
    """What compiles: programs, and headers that a compiler among them must find."""

    programs: tuple[str, ...]
    compiler: tuple[str, ...]
    headers: tuple[str, ...]

    def missing(self) -> list[str]:
        """What isn't there."""
        absent = [program for program in self.programs if shutil.which(program) is None]
        return absent or [header for header in self.headers if not self._finds(header)]

    def _finds(self, header: str) -> bool:
        ran = subprocess.run(
            [*self.compiler, "-E", "-o", "/dev/null", "-"],
            check=False,
            input=f"#include <{header}>\n",
            capture_output=True,
            text=True,
        )
        return ran.returncode == 0


AVR = Tools(("make", "avr-gcc", "avr-size"), ("avr-gcc", "-mmcu=atmega328p"), ("avr/io.h",))
"""For the firmware."""
HOST = Tools(("make", "gcc"), ("gcc",), ("stdio.h",))
"""For the firmware's core on this machine."""
SIMAVR = Tools(("make", "gcc"), ("gcc", "-I/usr/include/simavr"), ("stdio.h", "simavr/sim_avr.h"))
"""For the emulator."""


class NotBuilt(NotSent):
    """The firmware or its emulator is not there and can't be made."""


class NoSources(NotBuilt):
    """This is no checkout: packages have neither the firmware nor the emulator."""


class NoTools(NotBuilt):
    """Compilers or libraries are missing."""


def firmware(buttons: int, *, pixels: bool = False) -> Path:
    """The ELF file of the firmware for a panel with so many buttons; `.hex` is beside it.

    Raises:
        NoSources: This is no checkout.
        NoTools: There is no compiler for the chip.
        NotBuilt: It can't be compiled.
    """
    return made(
        "firmware",
        f"panel-{buttons}{'-pixels' if pixels else ''}.elf",
        AVR,
        f"BUTTONS={buttons}",
        f"PIXELS={'yes' if pixels else ''}",
    )


def emulator() -> Path:
    """The emulator's program. Raises as `firmware` does."""
    return made("emulator", "panel-emulator", SIMAVR)


def made(
    what: str,
    name: str,
    tools: Tools,
    *settings: str,
    sources: Path | None = None,
    built: Path | None = None,
) -> Path:
    """A file that the Makefile of `what` makes, brought up to date. Raises as `firmware` does.

    `sources` and `built` are other folders than those of the checkout, with a folder `what` each.
    """
    folder, out = (sources or SOURCES) / what, (built or BUILT) / what
    if not (folder / "Makefile").is_file():
        raise NoSources(
            f"the {what} is not part of the package; get the project's sources and try it there"
        )
    out.mkdir(parents=True, exist_ok=True)
    with _alone(out / ".lock"):
        if not shutil.which("make") or (said := _make(folder, out, name, settings)):
            if missing := tools.missing():
                raise NoTools(
                    f"the {what} can't be compiled without {', '.join(missing)}. "
                    f"Debian: sudo apt-get install {PACKAGES}"
                )
            raise NotBuilt(f"the {what} can't be compiled:\n{said}")
    return out / name


def _make(folder: Path, out: Path, name: str, settings: tuple[str, ...]) -> str:
    """Run `make`; its last words if it fails, nothing if all is well."""
    ran = subprocess.run(
        ["make", "--silent", "-C", folder, f"BUILD={out}", *settings, str(out / name)],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if ran.returncode == 0:
        return ""
    lines = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return "\n".join(lines[-LAST_LINES:]) or "make says nothing"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
