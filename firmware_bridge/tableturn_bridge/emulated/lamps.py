"""What a lamp says, by its light alone.

A light is compared with that of every sign there is, from the last moment on at which it did
something that none of them explains. Signs begin alike: a lit lamp may say `TURN` for fourteen of
sixteen steps and turn out to say `STAGED`. So at first there are several candidates, and a sign is
certain only when it is the last one and has run through once.

What anybody sees who sits there is known besides the light: whether the board has power, when its
program began, and which buttons a finger holds down. The brightness of the lamps is known too; a
dim light is told from a full one by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tableturn_bridge.emulated.light import Trace, wrong_at
from tableturn_bridge.patterns import BRIGHTEST, OWN, SHAPES, STEP, STEPS, Pattern
from tableturn_bridge.protocol import LONG_PRESS
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.lights import Sign
from tableturn_bridge.virtual.panel import UNCLEAR

SOON = 120.0
"""So many milliseconds of a light are enough where the moment at which it changed says the rest."""
NEAR = 25.0


@dataclass(frozen=True)
class Scene:
    """What is known besides the light.

    `started`: when the program began, None while none runs. `down_since`: since when a finger
    holds the lamp's button, None if none does.
    """

    started: float | None = None
    down_since: float | None = None
    brightness: int = BRIGHTEST


class _Mode(Enum):
    """Which signs are possible at all."""

    DARK = auto()
    TEST = auto()
    HELD = auto()
    FREE = auto()


@dataclass(frozen=True)
class _Candidate:
    sign: Sign
    brightness: int


class Watched:
    """One lamp. All times are milliseconds of the emulator's clock."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.since = 0.0
        """The moment from which on the candidates explain the light."""
        self._mode = _Mode.DARK
        self._scene = Scene()
        self._candidates: list[_Candidate] = []
        self._looked = 0.0
        self._now = 0.0

    # ---------------------------------------------------------------- what it may be

    def look(self, scene: Scene, now: float) -> None:
        """Take in the light up to a time; all of it must be in the trace by then.

        To be called at least once in a step of the patterns.
        """
        before, self._scene = self._scene, scene
        self._now = max(now, self._now)
        if scene.started != before.started:
            self._mode = _Mode.DARK
        mode, begun = self._mode_now()
        if mode is not self._mode:
            self._mode = mode
            self._begin(begun)
        elif scene.brightness != before.brightness:
            self._begin(now)
        for _ in range(2 * STEPS):
            if self._compare():
                return
        self._candidates = []

    def _mode_now(self) -> tuple[_Mode, float]:
        """Which signs are possible, and since when."""
        scene, now = self._scene, self._now
        if scene.started is None:
            return _Mode.DARK, now
        test_ends = scene.started + lights.LAMP_TEST
        if now < test_ends:
            return _Mode.TEST, scene.started
        if scene.down_since is not None and now - scene.down_since >= LONG_PRESS + NEAR:
            return _Mode.HELD, scene.down_since + LONG_PRESS
        return _Mode.FREE, now if self._mode is _Mode.HELD else test_ends

    def _begin(self, since: float) -> None:
        """Whatever it said before: from this moment on it may be something else."""
        self.since = self._looked = since
        self._candidates = list(self._possible())

    def _compare(self) -> bool:
        """Drop the candidates that the light contradicts; False if none was left."""
        scene = self._scene
        if scene.started is None:
            return True
        begin = max(self.since, self._looked - STEP)
        left, last = [], self.since
        for one in self._candidates:
            wrong = self._wrong(one, begin)
            if wrong is None:
                left.append(one)
            else:
                last = max(last, wrong)
        if left or not self._candidates:
            self._candidates = left
            self._looked = self._now
            return bool(left)
        edge = self.trace.edge_to(last)
        since = last if edge is None or edge <= self.since else edge
        self._begin(since if since > self.since else self.since + STEP)
        return self.since > self._now

    def _wrong(self, one: _Candidate, begin: float) -> float | None:
        """When the light was unlike that of a candidate."""
        assert self._scene.started is not None
        end, since = self._now, one.sign.since
        wrong = wrong_at(self.trace, one.sign, one.brightness, self._scene.started, begin, end)
        if wrong is None and since is not None and end >= since + lights.RUN:
            return float(since + lights.RUN)
        return wrong

    def _possible(self) -> Iterator[_Candidate]:
        """All signs that a lamp can say in its mode."""
        if self._mode is _Mode.DARK:
            return
        if self._mode is _Mode.TEST:
            yield _Candidate(lights.TEST, BRIGHTEST)
            return
        full = self._scene.brightness
        given = [Sign(pattern.name, SHAPES[pattern]) for pattern in Pattern if pattern < OWN]
        given += [lights.with_mark(sign) for sign in given]
        if self._mode is _Mode.HELD:
            yield from (_Candidate(lights.held_long(sign), full) for sign in given)
        if self._scene.down_since is not None:
            yield _Candidate(lights.held_chord(given[0]), full)
        if self._mode is _Mode.HELD and self._turned():
            return
        for own in (lights.LINK_LOST, lights.VERSION):
            yield _Candidate(own, BRIGHTEST)
        waiting = [Sign(name, shape) for name, shape in lights.WAITING.items()]
        for sign in (*given, *waiting):
            yield _Candidate(sign, full)
        yield from self._once(full)

    def _turned(self) -> bool:
        """The light changed just when its button had been held for a long press."""
        assert self._scene.down_since is not None
        long = self._scene.down_since + LONG_PRESS
        if self.since > long + NEAR:
            return False
        edge = self.trace.edge_from(long - 2)
        return edge is not None and edge <= long + NEAR

    def _once(self, brightness: int) -> Iterator[_Candidate]:
        """The signs that run once, begun so that one of their edges is where the light changed."""
        assert self._scene.started is not None
        for name, shape in lights.ONCE.items():
            lit = [bool(shape.steps >> step & 1) for step in range(-1 + STEPS)]
            edges = [0] + [step for step in range(1, len(lit)) if lit[step] != lit[step - 1]]
            for step in edges:
                sign = Sign(name, shape, since=round(self.since) - step * STEP)
                one = _Candidate(sign, brightness)
                if step == 0 or self._fitted(one):
                    yield one

    def _fitted(self, one: _Candidate) -> bool:
        """The light was that of a candidate already before it was the only explanation."""
        since, started = one.sign.since, self._scene.started
        assert since is not None
        assert started is not None
        if since < started + lights.LAMP_TEST:
            return False
        end = min(self.since, self._now)
        return wrong_at(self.trace, one.sign, one.brightness, started, since, end) is None

    # ---------------------------------------------------------------- what it is

    @property
    def candidates(self) -> tuple[tuple[str, bool], ...]:
        """What it may say: names of signs, and whether each has the mark on top."""
        if self._mode is _Mode.DARK:
            return () if self.trace.level else ((lights.DARK.name, False),)
        return tuple(dict.fromkeys((one.sign.name, one.sign.marked) for one in self._candidates))

    @property
    def certain(self) -> Sign | None:
        """What it says: the only sign that explains the light, once it has run through."""
        if self._mode is _Mode.DARK:
            return None if self.trace.level else lights.DARK
        if len(self.candidates) != 1:
            return None
        sign = self._candidates[0].sign
        return sign if self._now >= self._runs_through(sign) else None

    def _runs_through(self, sign: Sign) -> float:
        """When enough of a sign has been seen."""
        if sign.since is not None:  # its last light is over
            return sign.since + sign.shape.steps.bit_length() * STEP
        if self._mode in (_Mode.TEST, _Mode.HELD):
            return self.since + SOON
        return self.since + lights.RUN

    @property
    def measured(self) -> str:
        """The name of what it says, or UNCLEAR as long as that isn't certain."""
        return UNCLEAR if self.certain is None else self.certain.name

    def fits(self, sign: Sign, since: float) -> bool:
        """The light is that of a sign now, and has been since a time, for a run at most."""
        scene, now = self._scene, self._now
        if scene.started is None:
            return sign == lights.DARK and not self.trace.level
        free = (lights.TEST.name, lights.LINK_LOST.name, lights.VERSION.name)
        brightness = BRIGHTEST if sign.name in free else scene.brightness
        begin = max(since, now - lights.RUN)
        if wrong_at(self.trace, sign, brightness, scene.started, begin, now) is not None:
            return False
        origin = int(scene.started) if sign.since is None else sign.since
        level = lights.light(sign, brightness, origin, int(now))
        return now - since > NEAR or abs(self.trace.level - level) <= NEAR
