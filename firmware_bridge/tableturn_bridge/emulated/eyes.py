"""Looking at the lamps of an emulated board: what is heard of it, and what its light confirms.

A lamp's `sign` is what it should say by all that was heard, as soon as and as long as its light
agrees: a full light is `TURN` at once if the picture that has reached the board says `TURN`, though
by its light it could be `STAGED` as well. Where the light contradicts, it is what the light says.
`measured` is by the light alone, and needs a whole run of a pattern, a second, to be certain.
"""

from __future__ import annotations

from dataclasses import dataclass

from tableturn_bridge.emulated.lamps import NEAR, Scene, Watched
from tableturn_bridge.emulated.life import Claim
from tableturn_bridge.emulated.observer import Observer
from tableturn_bridge.patterns import BRIGHTEST
from tableturn_bridge.virtual.panel import UNCLEAR, Lamp


@dataclass(frozen=True)
class SeenLamp(Lamp):
    """A lamp of which only the light is known, and what was heard on the board's line.

    `by_light` is the sign by the light alone, `UNCLEAR` if that isn't certain; `candidates` are the
    names that it may turn out to be. `settled` says that the light has had the time to follow what
    was heard last; until then, `sign` is what it said before. `pixel` is the colour of its light in
    hexadecimal, where the board has coloured ones.
    """

    by_light: str = UNCLEAR
    by_light_since: float = 0.0
    candidates: tuple[str, ...] = ()
    settled: bool = True
    pixel: str = ""

    @property
    def measured(self) -> str:
        """What it says by its light alone."""
        return self.by_light

    @property
    def measured_since(self) -> float:
        """Since when its light says so."""
        return self.by_light_since


@dataclass
class _Shown:
    """What a lamp is taken to say."""

    name: str
    marked: bool
    color: int
    since: float
    claim: Claim | None


class Eyes:
    """They see all lamps of a board. Times are milliseconds of the emulator's clock."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._watched = [Watched() for _ in range(observer.buttons)]
        self._shown = [_Shown(UNCLEAR, False, 0, 0.0, None) for _ in range(observer.buttons)]
        self._pixels: tuple[str, ...] = ()
        self._now = 0.0

    def light(self, button: int, level: int, at: float) -> None:
        """The light of a lamp has changed."""
        if button < len(self._watched):
            self._watched[button].trace.add(at, level)

    def pixels(self, colors: tuple[str, ...]) -> None:
        """The coloured lights have changed."""
        self._pixels = colors

    def look(self, now: float) -> None:
        """Take in what has been seen and heard up to a time, at least once in a step."""
        self._now = now
        observer = self._observer
        picture = observer.picture_seen
        started = None if observer.life is None else float(observer.life.started)
        brightness = BRIGHTEST if picture is None else picture.brightness
        for button, watched in enumerate(self._watched):
            watched.look(Scene(started, observer.down_since(button), brightness), now)
            self._judge(button, now)

    def _judge(self, button: int, now: float) -> None:
        """Decide what a lamp is taken to say."""
        watched, claim, shown = self._watched[button], self._observer.claim(button), self._shown
        sign = claim.sign
        if watched.fits(sign, claim.since):
            if shown[button].claim != claim:
                edge = watched.trace.edge_from(claim.since)
                near = edge is not None and edge <= claim.since + NEAR
                since = edge if edge is not None and near else float(claim.since)
                shown[button] = _Shown(sign.name, sign.marked, sign.color, since, claim)
        elif now > claim.since + NEAR:  # before that, it may not have got round to it yet
            certain = watched.certain
            name = UNCLEAR if certain is None else certain.name
            marked = certain is not None and certain.marked
            if (shown[button].name, shown[button].marked) != (name, marked):
                shown[button] = _Shown(name, marked, sign.color, watched.since, None)

    def lamp(self, button: int, offset: float) -> SeenLamp:
        """A lamp as it was at the last look; its times are later by an offset."""
        watched, shown = self._watched[button], self._shown[button]
        claim = self._observer.claim(button)
        return SeenLamp(
            level=watched.trace.level,
            color=shown.color,
            sign=shown.name,
            since=shown.since + offset,
            marked=shown.marked,
            by_light=watched.measured,
            by_light_since=watched.since + offset,
            candidates=tuple(dict.fromkeys(name for name, _ in watched.candidates)),
            settled=shown.claim == claim or self._now > claim.since + NEAR,
            pixel=self._pixels[button] if button < len(self._pixels) else "",
        )

    def changed_at(self) -> float | None:
        """When the light followed the last picture with other lamps; None if it hasn't yet."""
        told = self._observer.lamps_told_at
        traces = [self._watched[button].trace for button in self._observer.lamps_changed]
        edges = [trace.edge_from(told) for trace in traces]
        return min((edge for edge in edges if edge is not None), default=None)
