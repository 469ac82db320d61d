"""What has to be done for tables though nobody asks for it.

Turns of bots, time that is up, people who are away for too long: whichever process comes first
does it.
"""

from .absences import Presence
from .runner import Runner
from .sweeper import Sweeper

__all__ = ["Presence", "Runner", "Sweeper"]
