"""What has to be done for tables though nobody asks for it: the turns of bots."""

from .runner import Runner
from .sweeper import Sweeper

__all__ = ["Runner", "Sweeper"]
