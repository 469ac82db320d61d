"""The handles of a session: its seats, and the table as its host or a spectator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tableturn_client.handles import Seat, Table


class Seated:
    """The seats held here, and the table as its host or a spectator."""

    def __init__(
        self,
        seats: Sequence[Seat],
        table: Table,
        *,
        server: str = "",
        forget: Callable[[int], None] = lambda _: None,
        host: Table | None = None,
    ) -> None:
        self.seats = {seat.number: seat for seat in seats}
        self.table = table
        self.host = host
        self.server = server
        self.forget = forget

    @property
    def own(self) -> tuple[int, ...]:
        """The numbers of the seats."""
        return tuple(sorted(self.seats))

    @property
    def first(self) -> int:
        """The seat whose watch tells the log; 0 for a spectator."""
        return self.own[0] if self.seats else 0

    @property
    def main(self) -> Table:
        """The handle whose watch tells the log."""
        return self.seats[self.first] if self.seats else self.table

    @property
    def trusted(self) -> Table:
        """The handle that may do most: the host's, else that of a seat."""
        return self.host or self.main

    @property
    def handles(self) -> list[Table]:
        """The handles to be watched: those of all seats, or that of a spectator."""
        return [*self.seats.values()] or [self.table]

    def gone(self, number: int) -> None:
        """A seat is not held here any more: its token is forgotten."""
        self.forget(number)
        self.seats.pop(number, None)
