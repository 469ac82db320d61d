"""Programs that are interrupted in the middle of their work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

WITHIN = 60.0
Ran = subprocess.CompletedProcess[str]
PYTHON = """
case "$*" in
  *_base_executable*) cat "$(dirname "$0")/interpreter" ;;
  *%d.%d*) echo 3.11 ;;
  "-m venv "*)
    echo venv >>"$SEEN"
    mkdir -p "$3/bin"
    cp "$0" "$(dirname "$0")/interpreter" "$3/bin/"
    ;;
  "-m pip --version") [ ! -e "$(dirname "$0")/no-pip" ] ;;
  *--dry-run*) echo look >>"$SEEN"; [ "${FAULT:-}" != offline ] ;;
  "-m pip "*)
    echo install >>"$SEEN"
    [ "${FAULT:-}" != hang ] || { echo yes >"$AT_WORK" && exec sleep 1000; }
    [ "${FAULT:-}" != broken ]
    ;;
esac
"""
"""A stand-in for Python that makes environments and has a pip.

What is asked of it is in the file $SEEN: venv, look, install. It says that it is what the file
`interpreter` beside it says. With $FAULT offline, packages can't be had; with broken, they can't be
installed; with hang, that takes for ever,
and the file $AT_WORK is there.
"""


def stand_in(path: Path, script: str) -> None:
    """A program of that name that is found first if its folder is first in PATH."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def interrupted(
    command: Sequence[str | Path],
    number: signal.Signals,
    *,
    at: Path,
    env: Mapping[str, str],
    group: bool = False,
) -> Ran:
    """What a command said that got a signal as soon as a file was there and not empty.

    With `group`, all that it has started gets the signal too, as with Ctrl-C at a terminal.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        start_new_session=True,
        preexec_fn=_heed_signals,  # noqa: PLW1509 - it calls nothing that another thread may hold
    )
    try:
        until = time.monotonic() + WITHIN
        while not (at.exists() and at.read_text().endswith("\n")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until, f"there is no {at}"
            time.sleep(0.01)
        (os.killpg if group else os.kill)(process.pid, number)
        said, complained = process.communicate(timeout=WITHIN)
        return Ran(command, process.returncode, said, complained)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _heed_signals() -> None:
    # They are ignored if the tests run in the background of a script.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def is_running(number: int) -> bool:
    """Whether there is such a process, and it isn't just waiting to be forgotten."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")
