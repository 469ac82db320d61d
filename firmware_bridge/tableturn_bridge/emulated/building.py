"""The firmware and its emulator, made from the sources of a checkout when they are needed.

Nothing that is compiled is in the package. `make` decides what has to be made again; processes that
ask at the same time wait for each other. What is up to date is used even where nothing can be
written.
"""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tableturn_client.errors import NotSent

TREE = Path(__file__).resolve().parents[3]
"""The checkout, if this is one."""
SOURCES = TREE / "firmware_bridge"
BUILT = TREE / "build"
LAST_LINES = 20
"""Of what `make` says when it fails."""
LOOK_EVERY = 0.05
"""Seconds between two looks whether it is another process's turn no more, or `make` has ended."""
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


Words = Sequence[str | Path]
"""A command line."""


class NotBuilt(NotSent):
    """The firmware or its emulator is not there and can't be made."""


class NoSources(NotBuilt):
    """This is no checkout: packages have neither the firmware nor the emulator."""


class NoTools(NotBuilt):
    """Compilers or libraries are missing."""


class Stopped(NotBuilt):
    """Whoever wanted it wants it no more."""


@dataclass(frozen=True)
class Asker:
    """Whoever wants something compiled: what they are told meanwhile, and how they give up."""

    tell: Callable[[str], None] | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def told(self, line: str) -> None:
        """Tell a line."""
        if self.tell is not None:
            self.tell(line)

    def check(self, wait: float = 0) -> None:
        """Raises Stopped, at once or within so many seconds, if they have given up."""
        if self.stop.wait(wait):
            raise Stopped("it was ended before it was compiled")


def firmware(buttons: int, *, pixels: bool = False, asker: Asker | None = None) -> Path:
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
        asker=asker,
    )


def emulator(*, asker: Asker | None = None) -> Path:
    """The emulator's program. Raises as `firmware` does."""
    return made("emulator", "panel-emulator", SIMAVR, asker=asker)


async def needed(
    buttons: int,
    *,
    pixels: bool = False,
    elf: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[Path, Path]:
    """A firmware, unless there is `elf`, and the emulator. Compiling ends when the caller does.

    `tell` is called in another thread. Raises as `firmware` does.
    """
    asker = Asker(tell)

    def build() -> tuple[Path, Path]:
        return elf or firmware(buttons, pixels=pixels, asker=asker), emulator(asker=asker)

    try:
        return await asyncio.to_thread(build)
    finally:
        asker.stop.set()


def made(
    what: str,
    name: str,
    tools: Tools,
    *settings: str,
    sources: Path | None = None,
    built: Path | None = None,
    asker: Asker | None = None,
) -> Path:
    """A file that the Makefile of `what` makes, brought up to date. Raises as `firmware` does.

    `sources` and `built` are other folders than those of the checkout, with a folder `what` each.
    """
    asker = asker or Asker()
    folder, out = (sources or SOURCES) / what, (built or BUILT) / what
    if not (folder / "Makefile").is_file():
        raise NoSources(
            f"the {what} is not part of the package; get the project's sources and try it there"
        )
    make: Words = ("make", "--silent", "-C", folder, f"BUILD={out}", *settings, out / name)
    try:
        with _alone(out, what, asker) as lock:
            if said := _done(make, what, lock, asker):
                if missing := tools.missing():
                    raise NoTools(
                        f"the {what} can't be compiled without {', '.join(missing)}. "
                        f"Debian: sudo apt-get install {PACKAGES}"
                    )
                raise NotBuilt(f"the {what} can't be compiled:\n{said}")
    except OSError as error:
        if not _is_up_to_date(make):
            raise NotBuilt(
                f"the {what} can't be compiled, as the folder {out} can't be used: {error.strerror}"
            ) from error
    return out / name


def _is_up_to_date(make: Words) -> bool:
    """There is nothing to do for `make`. It writes nothing to find that out."""
    if shutil.which("make") is None:
        return False
    return subprocess.run([*make, "--question"], check=False, capture_output=True).returncode == 0


def _done(make: Words, what: str, lock: IO[str], asker: Asker) -> str:
    """Run `make`; its last words if it fails, nothing if all is well. Raises Stopped."""
    if shutil.which("make") is None:
        return "there is no make"
    if asker.tell is not None and not _is_up_to_date(make):
        asker.told(f"compiling the {what} ...")
    # It has the lock too, which lasts as long as anybody has it: as long as it runs, even if this
    # process is killed.
    with subprocess.Popen(
        make,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[lock.fileno()],
    ) as running:
        try:
            said = _said(running, asker)
        except BaseException:
            running.terminate()
            raise
    if running.returncode == 0:
        return ""
    lines = said.strip().splitlines()
    return "\n".join(lines[-LAST_LINES:]) or "make says nothing"


def _said(running: subprocess.Popen[str], asker: Asker) -> str:
    """All that a process says until it has ended. Raises Stopped."""
    while True:
        try:
            return running.communicate(timeout=LOOK_EVERY)[0]
        except subprocess.TimeoutExpired:
            asker.check()


@contextmanager
def _alone(out: Path, what: str, asker: Asker) -> Iterator[IO[str]]:
    """One process at a time. Raises OSError if the folder can't be used, Stopped."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        waits = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waits:
                    asker.told(f"another process compiles the {what}; waiting for it ...")
                waits = True
                asker.check(LOOK_EVERY)
        yield lock
