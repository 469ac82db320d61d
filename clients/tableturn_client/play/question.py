"""A question to be answered with y or n, before something is done that can't be undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tableturn_client.play.answers import Unclear

Work = Callable[[], Awaitable[None]]


class Question:
    """What is asked now, and what is done if the answer is yes; an empty text for nothing."""

    def __init__(self) -> None:
        self.text = ""
        self._if_yes: Work | None = None

    def ask(self, text: str, if_yes: Work) -> None:
        """Ask something."""
        self.text, self._if_yes = text, if_yes

    def drop(self) -> Work | None:
        """The question is asked no more; what a yes would have done."""
        if_yes = self._if_yes
        self.text, self._if_yes = "", None
        return if_yes

    async def answer(self, line: str) -> str:
        """Do what a yes means; return what there is to tell of a no. Raises Unclear."""
        if line.lower() in ("y", "yes"):
            if (if_yes := self.drop()) is not None:
                await if_yes()
            return ""
        if line.lower() in ("n", "no", "x", ""):
            self.drop()
            return "Nothing was done."
        raise Unclear("Please answer y or n.")
