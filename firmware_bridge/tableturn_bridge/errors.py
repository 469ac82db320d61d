"""What can go wrong between this machine and a panel, by cause.

    PanelTrouble
      PortTrouble           the port can't be used
        NoPort                no port looks like a panel's
        SeveralPorts          more than one does
        PortMissing           nothing has the name that was given
        PortForbidden         this user may not use it
        PortBusy              another program has it
        NotASerialPort        it is something else
        PanelGone             it broke while it was open: unplugged, or its driver gave up
      LinkTrouble           the port is open, and there is no panel to speak with
        PanelSilent           not one byte came
        NotAPanel             bytes came, and no panel sent them
        VersionRefused        a panel of another protocol version
        PanelLost             it had answered, and does so no more
      PanelHeldHere         another bridge on this machine serves the panel
      LocksUnusable         the folder that such bridges look into can't be used

Every error has the problem in words and its cure. A bridge waits and tries again, but for what
can never become a panel: NotASerialPort ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tableturn_client.errors import NotSent


class PanelTrouble(NotSent):
    """Something stands between this machine and the panel.

    `problem` says what, `cure` what to do, both for a person; `sentence` is both. `cause` is
    the same in one word, for programs.
    """

    cause: ClassVar[str] = "trouble"

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem}. {cure}")
        self.problem = problem
        self.cure = cure


class PortTrouble(PanelTrouble):
    """The port can't be used."""

    cause = "port"


class NoPort(PortTrouble):
    """No port of this machine looks like a panel's."""

    cause = "no-port"


class SeveralPorts(PortTrouble):
    """Several ports look like a panel's, and none was named."""

    cause = "several-ports"


class PortMissing(PortTrouble):
    """Nothing has the name that was given."""

    cause = "missing"


class PortForbidden(PortTrouble):
    """This user may not use the port. `group` may."""

    cause = "forbidden"

    def __init__(self, problem: str, cure: str, group: str) -> None:
        super().__init__(problem, cure)
        self.group = group


class PortBusy(PortTrouble):
    """Another program has the port: one of `holders`, as far as they are known."""

    cause = "busy"

    def __init__(self, problem: str, cure: str, holders: Sequence[str]) -> None:
        super().__init__(problem, cure)
        self.holders = tuple(holders)


class NotASerialPort(PortTrouble):
    """What has this name is no serial port."""

    cause = "not-serial"


class PanelGone(PortTrouble):
    """The port broke while it was open, in whatever way the system says so."""

    cause = "gone"

    def __init__(self, port: str, why: str) -> None:
        super().__init__(
            f"the panel at {port} is gone ({why})",
            "Plug it in again, in any socket; it is found by itself.",
        )


class LinkTrouble(PanelTrouble):
    """The port is open, and there is no panel to speak with."""

    cause = "link"


class PanelSilent(LinkTrouble):
    """Not one byte came since the port was opened."""

    cause = "silent"


class NotAPanel(LinkTrouble):
    """Bytes came, and no panel of ours sent them."""

    cause = "not-a-panel"


class VersionRefused(LinkTrouble):
    """The panel and this program have no protocol version in common."""

    cause = "version"


class PanelLost(LinkTrouble):
    """The panel had answered, and does so no more."""

    cause = "lost"


class PanelHeldHere(PanelTrouble):
    """Another bridge on this machine serves the panel."""

    cause = "held-here"


class LocksUnusable(PanelTrouble):
    """The folder in which the bridges of a machine see each other can't be used."""

    cause = "locks"
