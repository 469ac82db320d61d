"""A second account of everybody's time, from the log and the rules alone.

It knows nothing of clocks that run: it charges whoever the rules ask between two entries of the
log. So it says as well that the log tells who was charged for what (C1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tableturn_server.rules.game import PromptKind
from tableturn_server.tables import commands
from tableturn_server.tables.log import ChangeKind, LogEntry
from tableturn_server.tables.state import ClockKind, Status, Table, TimeoutPolicy, game_of

_BACK = (ChangeKind.COME_BACK, ChangeKind.STAGE, ChangeKind.CONFIRM)


@dataclass
class Account:
    """What one seat has, in milliseconds; `steps` are those that it was given."""

    bank: int
    delay: int = 0
    debt: int = 0
    used: int = 0
    steps: int = 0
    over: bool = False
    """Its time is up, and its turn goes on."""
    again: bool = False
    """It had a second step for this turn, of which nothing is kept."""

    def spends(self, span: int) -> None:
        of_delay = min(self.delay, span)
        self.delay -= of_delay
        self.bank -= span - of_delay  # below 0 until the clock stands, if nobody says so before

    def settles(self) -> None:
        self.bank = max(0, self.bank)


def asked(table: Table) -> dict[int, PromptKind]:
    """Whose turn it is."""
    if table.status is not Status.RUNNING:
        return {}
    found = {p.seat: p.kind for p in game_of(table).prompts(table.position)}
    return {} if PromptKind.BETWEEN_ROUNDS in found.values() else found


@dataclass
class Model:
    """The accounts of all seats of a game that has just begun."""

    table: Table
    accounts: dict[int, Account] = field(default_factory=dict)
    begun: dict[int, dict[int, int]] = field(default_factory=dict)
    """After each turn that stands: how many steps each seat has been given."""
    turns: dict[int, int] = field(default_factory=dict)
    """Whose turn each turn that stands was."""

    def __post_init__(self) -> None:
        clock = self.table.making.clock
        self.kind, self.step = clock.kind, clock.step
        self.accounts = {n: Account(clock.bank) for n in range(1, len(self.table.seats) + 1)}
        for seat in asked(self.table):
            self._grant(seat)
        self._note(self.table)

    def sees(self, command: commands.AnyCommand, entry: LogEntry, after: Table) -> None:
        """What an entry of the log means for everybody's time."""
        before, self.table = self.table, after
        span = entry.time - before.stamp
        if isinstance(command, commands.Excuse):
            span -= command.end - command.begin
        running = {} if before.paused else asked(before)
        for number in running:
            self._charge(before, number, span)
        if entry.kind in _BACK and not command.by.bots:
            self._back(before, entry.seat)
        if isinstance(command, commands.AddTime):
            for number in [command.seat] if command.seat else self._in_game():
                self.accounts[number].bank += command.time
                self.accounts[number].over = False
        if entry.kind is ChangeKind.TIME_OUT:
            self.accounts[entry.seat].over = True
        if entry.kind in (ChangeKind.CONFIRM, ChangeKind.DROP):
            self._turned(asked(before), entry.seat)
        if entry.kind is ChangeKind.TAKEBACK:
            self._taken_back(before)
        self._settle(before)

    def _in_game(self) -> list[int]:
        return [n for n, seat in enumerate(self.table.seats, 1) if not seat.dropped]

    def _back(self, before: Table, number: int) -> None:
        """Whoever plays on instead of the bot, and has no time left, has the step once again."""
        account = self.accounts[number]
        away = before.seat(number).stand_in and number in asked(before)
        goes_on = self.table.making.clock.timeout is TimeoutPolicy.WARN
        if not away or goes_on or account.bank + account.delay > 0:
            return
        assert not account.again  # else it is refused
        account.delay, account.again = self.step, True

    def _charge(self, before: Table, number: int, span: int) -> None:
        seat, account = before.seat(number), self.accounts[number]
        account.used += span
        if not (seat.bot or seat.stand_in or account.over or self.kind is ClockKind.COUNT_UP):
            account.spends(span)

    def _grant(self, number: int) -> None:
        account = self.accounts[number]
        account.steps += 1
        account.over = account.again = False
        account.delay = 0
        account.settles()
        if self.kind is ClockKind.INCREMENT:
            paid = min(account.debt, self.step)
            account.debt -= paid
            account.bank += self.step - paid
        else:
            account.delay = self.step

    def _withdraw(self, number: int) -> None:
        account = self.accounts[number]
        account.steps -= 1
        account.delay = 0
        account.settles()
        if self.kind is ClockKind.INCREMENT:
            taken = min(account.bank, self.step)
            account.bank -= taken
            account.debt += self.step - taken

    def _turned(self, old: dict[int, PromptKind], seat: int) -> None:
        self.turns[self.table.turns] = seat
        for number, kind in asked(self.table).items():
            if number == seat or old.get(number) != kind:
                self._grant(number)
        self._note(self.table)

    def _note(self, table: Table) -> None:
        self.begun[table.turns] = {n: account.steps for n, account in self.accounts.items()}

    def _taken_back(self, before: Table) -> None:
        undone = [self.turns[n] for n in range(self.table.turns + 1, before.turns + 1)]
        again = [n for n in asked(self.table) if n in undone]
        for number, steps in self.begun[self.table.turns].items():
            while self.accounts[number].steps > steps:
                self._withdraw(number)
        for number in again:
            self._withdraw(number)
            self._grant(number)

    def _settle(self, before: Table) -> None:
        """Whoever is not asked has no time of a turn; a bank is not overdrawn when it stands."""
        turns = asked(self.table)
        for number, account in self.accounts.items():
            seat, old = self.table.seat(number), before.seat(number)
            changed = (seat.bot or seat.stand_in) != (old.bot or old.stand_in)
            if number not in turns or self.table.paused or account.over or changed:
                account.settles()
            if number not in turns:
                account.delay, account.over, account.again = 0, False, False
