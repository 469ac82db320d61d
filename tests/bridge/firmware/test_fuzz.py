"""The C core under whatever may come, with the sanitizers and a witness."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .host import SOURCES, made

REACHED = [
    "frames_in",
    "frames_out",
    "crc_errors",
    "pictures",
    "events",
    "resends",
    "chords",
    "masters",
    "acknowledged",
    "dropped",
    "links_lost",
    "strangers",
    "numbers_begun_anew",
    "clocks_begun_anew",
    "lines_full",
]
"""What a play must have come to, to prove anything."""

Ran = subprocess.CompletedProcess[str]


def fuzz(fuzzer: Path, seed: int, rounds: int, limit: float = 3000) -> Ran:
    return subprocess.run(
        [fuzzer, str(seed), str(rounds)],
        check=False,
        capture_output=True,
        text=True,
        timeout=limit,
    )


def counts(ran: Ran) -> dict[str, str]:
    assert ran.returncode == 0, ran.stderr
    return dict(pair.split("=") for pair in ran.stdout.split())


@pytest.mark.parametrize(("buttons", "rounds"), [(2, 400), (4, 500), (6, 300)])
def test_nothing_that_comes_harms_the_core(buttons: int, rounds: int) -> None:
    told = counts(fuzz(made(f"panel-{buttons}-fuzz", buttons), 1, rounds))
    assert {name: int(told[name]) > 0 for name in REACHED} == dict.fromkeys(REACHED, True)


def test_the_same_seed_plays_the_same_rounds() -> None:
    fuzzer = made("panel-4-fuzz", 4)
    first, again, other = (counts(fuzz(fuzzer, seed, 20)) for seed in (7, 7, 8))
    assert first == again
    assert first["digest"] != other["digest"]


@pytest.mark.nightly
@pytest.mark.parametrize("buttons", range(2, 7))
def test_nothing_harms_the_core_for_long(buttons: int) -> None:
    counts(fuzz(made(f"panel-{buttons}-fuzz", buttons), 1_000_000 * buttons, 60_000))


# ---------------------------------------------------------------- the fuzzer finds faults

FAULTS = {
    "a queue with no end": (
        "waiting.c",
        "if (queue->length == QUEUE_LENGTH) {",
        "if (queue->length > QUEUE_LENGTH) {",
    ),
    "a press that began before its button was armed": (
        "panel_core.c",
        "return gesture->sight.armed && is_armed(panel, gesture->button);",
        "return is_armed(panel, gesture->button);",
    ),
    "a press over a lost link": (
        "panel_core.c",
        "    gestures_spoil(&panel->gestures);\n",
        "",
    ),
    "a chord that is told twice": (
        "gestures.c",
        "gestures->held[held->other].role = ROLE_SPENT;",
        "",
    ),
    "a session that is given up": (
        "panel_core.c",
        "} else if (panel->session == 0) {",
        "} else {",
    ),
    "an event that is sent again too soon": (
        "waiting.c",
        "waiting->sent < RESEND_TIMES ? waiting->sent : RESEND_TIMES - 1",
        "0",
    ),
    "COBS that leads beyond the end": (
        "framing.c",
        "if (distance > length - place) {",
        "if (distance > length - place + 1) {",
    ),
    "a counter that begins again": (
        "counting.h",
        "if (*counter < UINT16_MAX) {",
        "if (1) {",
    ),
    "an event that was seen, and is sent again too soon": (
        "waiting.c",
        "waiting->seen ? RESEND_SEEN_MS : resend_ms[step]",
        "waiting->seen ? 999 : resend_ms[step]",
    ),
}
"""Where in the sources, what stands there, and what a mistake would have made of it."""


def with_fault(fault: str, folder: Path) -> Path:
    """The fuzzer of a core with a mistake in it."""
    name, right, wrong = FAULTS[fault]
    shutil.copytree(SOURCES, folder / "sources" / "firmware")
    source = folder / "sources" / "firmware" / name
    text = source.read_text("utf-8")
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong), "utf-8")
    return made("panel-4-fuzz", 4, folder / "sources", folder / "built")


def finds(fault: str, folder: Path) -> bool:
    return fuzz(with_fault(fault, folder), 1, 1500).returncode != 0


def test_the_fuzzer_finds_a_mistake(tmp_path: Path) -> None:
    assert finds("a press that began before its button was armed", tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS)
def test_the_fuzzer_finds_all_these_mistakes(fault: str, tmp_path: Path) -> None:
    assert finds(fault, tmp_path)
