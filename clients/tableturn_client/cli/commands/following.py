"""Following a table: `watch` and `log`."""

from __future__ import annotations

from collections.abc import Iterable

import click

from tableturn_client.cli.command import Whole, command, seat_option, table_argument
from tableturn_client.cli.holding import looking_table
from tableturn_client.cli.plain import plain, word
from tableturn_client.cli.session import Session
from tableturn_client.drawing import people, talk
from tableturn_client.drawing.words import clean, listed
from tableturn_client.events import (
    Change,
    Disconnected,
    Event,
    Fresh,
    Presence,
    Reconnected,
    ResumePoint,
    Said,
    Snapshot,
    SnapshotReason,
    Stale,
)
from tableturn_client.handles import Table
from tableturn_client.messages import LogEntry, TableStatus, TableView

_WHY = {
    SnapshotReason.BEGIN: "",
    SnapshotReason.COMPACTED: " (older changes are not kept any more)",
    SnapshotReason.SKIPPED: " (changes were left out)",
    SnapshotReason.FORKED: " (the service lost the last changes in a failover)",
}


@command(
    "watch",
    examples="tableturn watch harbour\ntableturn watch harbour --json --until-over\n"
    "tableturn watch harbour --company",
    token=True,
)
@table_argument
@seat_option
@click.option("--spectator", is_flag=True, help="As a spectator sees it.")
@click.option("--until-over", is_flag=True, help="End when the game is over.")
@click.option("--count", type=Whole(min=1), metavar="N", help="End after N events.")
@click.option("--company", is_flag=True, help="Also who comes and goes, and what is said.")
@click.option("--draw/--no-draw", default=False, help="Draw the table after each change [no].")
async def watch_command(
    session: Session,
    table_id: str,
    seat: int | None,
    spectator: bool,
    until_over: bool,
    count: int | None,
    company: bool,
    draw: bool,
) -> None:
    """Follow the table until Ctrl-C. A break of the connection is told, and gone on after."""
    async with session.client() as client:
        table = await looking_table(session, client, table_id, seat, spectator)
        told = 0
        async with table.watch(company=company) as watch:
            async for event in watch:
                session.tell(_document(event), *_lines(event))
                view = event.view if isinstance(event, Change | Snapshot) else None
                if view is not None and draw and not session.json:
                    _draw(session, view)
                told += 1
                over = view is not None and view.status == TableStatus.TABLE_STATUS_FINISHED
                if told == count or (until_over and over):
                    return


@command(
    "log",
    examples="tableturn log harbour\ntableturn log harbour --after 40 --follow",
    token=True,
)
@table_argument
@seat_option
@click.option("--spectator", is_flag=True, help="As a spectator sees it.")
@click.option(
    "--after",
    type=Whole(min=0, max=2**63 - 1),
    default=0,
    metavar="REVISION",
    help="What came after it.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on.")
async def log_command(
    session: Session,
    table_id: str,
    seat: int | None,
    spectator: bool,
    after: int,
    follow: bool,
) -> None:
    """Show what happened at the table. With --json and --follow, an entry on each line."""
    async with session.client() as client:
        table = await looking_table(session, client, table_id, seat, spectator)
        if not follow:
            entries = [entry async for entry in table.log(after)]
            session.tell(
                {"entries": plain(entries)},
                *(line for entry in entries for line in _entry_lines(entry)),
            )
            return
        last: LogEntry | None = None
        async for entry in table.log(after):
            _tell_entry(session, entry)
            last = entry
        await _follow_log(session, table, last, after)


async def _follow_log(session: Session, table: Table, last: LogEntry | None, after: int) -> None:
    """The entries after the last one told; where the watch leaves some out, the log has them."""
    resume = ResumePoint(last.revision, last.change_id) if last else None
    told = last.revision if last else after
    async with table.watch(resume=resume) as watch:
        async for event in watch:
            if isinstance(event, Change):
                if event.revision > told:
                    _tell_entry(session, event.entry)
                    told = event.revision
            elif isinstance(event, Snapshot):
                if event.reason is SnapshotReason.FORKED:
                    told = min(told, event.revision)
                async for entry in table.log(told):
                    if entry.revision <= event.revision:
                        _tell_entry(session, entry)
                        told = entry.revision
            elif not session.json:
                for line in _lines(event):
                    session.write(line)


def _tell_entry(session: Session, entry: LogEntry) -> None:
    session.tell(plain(entry), *_entry_lines(entry))


def _entry_lines(entry: LogEntry) -> Iterable[str]:
    """What happened, with the revision and the seat before it."""
    who = f"seat {entry.seat}" if entry.seat else "table"
    lines = [clean(line, 300) for line in entry.lines or entry.texts] or ["(changed)"]
    for line in lines:
        yield f"{entry.revision:>5}  {who:<7}  {line}"


def _document(event: Event) -> dict[str, object]:
    """An event as JSON: `event` says which it is."""
    match event:
        case Snapshot(view=view, reason=reason):
            return {"event": "snapshot", "reason": reason.value, "table": plain(view)}
        case Change(entry=entry, view=view):
            return {"event": "change", "entry": plain(entry), "table": plain(view)}
        case Stale(since=since):
            return {"event": "stale", "since": plain(since)}
        case Fresh():
            return {"event": "fresh"}
        case Disconnected(error=error):
            return {"event": "disconnected", "sentence": error.sentence}
        case Reconnected():
            return {"event": "reconnected"}
        case Presence(who=who):
            return {"event": "presence", "presence": plain(who)}
        case Said(line=line):
            return {"event": "said", "line": plain(line)}


def _lines(event: Event) -> list[str]:
    """An event as lines."""
    match event:
        case Snapshot(view=view, reason=reason):
            return [f"{view.revision:>5}  {_summary(view)}{_WHY[reason]}"]
        case Change(entry=entry):
            return list(_entry_lines(entry))
        case Stale():
            return ["    -  the service can't reach its store: this may be out of date"]
        case Fresh():
            return ["    -  up to date again"]
        case Disconnected(error=error):
            return [f"    -  {clean(error.sentence, 200)}; trying to go on"]
        case Reconnected():
            return ["    -  connected again"]
        case Presence(who=who):
            return [f"    -  {people.who_is_there(who)}"]
        case Said(line=line):
            return [f"    -  {talk.line(line).plain}"]


def _summary(view: TableView) -> str:
    """The table in a line."""
    status = word(TableStatus.DESCRIPTOR, view.status)
    waits = listed([f"seat {prompt.seat}" for prompt in view.prompts])
    return f"{clean(view.title, 60) or clean(view.game)}, {'paused' if view.paused else status}" + (
        f", waits for {waits}" if waits else ""
    )


def _draw(session: Session, view: TableView) -> None:
    from tableturn_client.drawing import Eyes, Look, draw

    session.console.print(draw(view, Look.of(session.console), Eyes(seat=view.viewer)))
