"""What can go wrong with a text: it can't be read, or it can't be written."""

from __future__ import annotations


class Unreadable(ValueError):
    """A text is no action. Nothing else is raised for a text that was typed.

    `problem` is a sentence for a person, `start` and `end` tell where in `text`
    it lies (both at the end where something is missing), and `nearest` holds
    the usage of the forms that may have been meant, the closest first.
    """

    def __init__(
        self, problem: str, text: str, start: int, end: int, nearest: tuple[str, ...] = ()
    ) -> None:
        self.problem = problem
        self.text = text
        self.start = start
        self.end = end
        self.nearest = nearest
        ways = " or ".join(f"`{usage}`" for usage in nearest)
        super().__init__(f"{problem}; try {ways}" if nearest else problem)

    def moved(self, text: str, offset: int) -> Unreadable:
        """The same, as a part of a longer text that has it at `offset`."""
        return Unreadable(self.problem, text, self.start + offset, self.end + offset, self.nearest)

    @property
    def marked(self) -> str:
        """The text and below it a line of carets under the place, for a terminal."""
        text = "".join(c if c.isprintable() else " " for c in self.text)
        return f"{text}\n{' ' * self.start}{'^' * max(1, self.end - self.start)}"


class Unwritable(ValueError):
    """An action has no text: a kind that is not known, a field missing or out of range."""
