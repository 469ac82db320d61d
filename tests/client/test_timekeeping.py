"""Clocks are shown by the service's time, whatever the clock of this machine says (C2, C4)."""

from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from tableturn.v1 import clock_pb2, company_pb2, panel_pb2, table_pb2
from tableturn_client import Client, Machine, Timekeeping, connect, start_left, time_left, time_used
from tests.client.conftest import QUICK
from tests.client.fake import FakeService, snapshot, view

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def stamp(seconds: float) -> Timestamp:
    """The service's time so long after noon."""
    made = Timestamp()
    made.FromDatetime(NOON + timedelta(seconds=seconds))
    return made


class Evening:
    """A client's clock that stands wherever the test puts it, and a service's that goes on."""

    def __init__(self, ahead: float = 1_000.0) -> None:
        self.service = 0.0
        self.ahead = ahead
        self.kept = Timekeeping(lambda: self.service - self.ahead)

    def passes(self, seconds: float) -> None:
        self.service += seconds

    def hears(self, delay: float) -> None:
        """A message of a watch comes that was sent so long ago."""
        self.kept.told(stamp(self.service - delay))

    def asks(self, there: float, back: float) -> None:
        """A call, and its answer, that were so long on the way."""
        sent = self.service - self.ahead
        told = self.service + there
        self.passes(there + back)
        self.kept.answered(stamp(told), sent)

    @property
    def off(self) -> float:
        """How far the time that is shown is behind the service's."""
        time = self.kept.time()
        assert time is not None
        return round(self.service - (time - NOON).total_seconds(), 6)


@pytest.mark.case("C2")
def test_nothing_is_shown_before_the_service_has_said_what_time_it_is() -> None:
    assert Evening().kept.time() is None


@pytest.mark.case("C2")
def test_the_round_trip_of_a_call_is_halved() -> None:
    evening = Evening()
    evening.asks(there=0.2, back=0.2)
    assert evening.off == 0
    evening = Evening()
    evening.asks(there=0.0, back=0.4)
    assert evening.off == 0.2


@pytest.mark.case("C2")
def test_of_a_watch_the_message_that_came_quickest_counts() -> None:
    evening = Evening()
    for delay in (0.9, 0.1, 3.0, 0.5):
        evening.hears(delay)
        evening.passes(5)
    assert evening.off == 0.1


@pytest.mark.case("C2")
def test_a_slow_call_and_a_quick_message_are_put_together() -> None:
    evening = Evening()
    evening.asks(there=0.0, back=2.0)  # alone it would be a second off
    evening.hears(0.0)
    assert evening.off == 0.0


@pytest.mark.case("C2")
def test_a_clock_of_the_machine_that_is_set_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Timekeeping(lambda: 50.0)
    kept.told(stamp(0))
    before = kept.time()
    monkeypatch.setattr("time.time", lambda: 4_000_000_000.0)
    assert kept.time() == before == NOON


@pytest.mark.case("C2", "R9")
def test_after_a_sleep_of_the_machine_the_newer_stamps_are_right() -> None:
    evening = Evening()
    evening.asks(there=0.05, back=0.05)
    evening.hears(0.05)
    evening.ahead += 3_600  # the machine's clock stood still while it slept
    assert evening.off == 3_600
    evening.hears(0.2)
    assert evening.off == 0.2
    evening.asks(there=0.1, back=0.1)
    assert evening.off == 0


@pytest.mark.case("C2")
def test_a_service_whose_clock_is_behind_the_one_before_is_followed() -> None:
    """After a failover another process answers: its clock may be a bit behind."""
    evening = Evening()
    evening.asks(there=0.01, back=0.01)
    evening.service -= 0.5
    evening.ahead -= 0.5
    evening.asks(there=0.01, back=0.01)
    assert evening.off == 0
    watching = Evening()
    watching.hears(0.0)
    watching.service -= 0.5
    watching.ahead -= 0.5
    for _ in range(30):
        watching.passes(5)
        watching.hears(0.1)
    assert watching.off == 0.1  # what was heard two minutes ago doesn't count any more


@pytest.mark.case("C2")
async def test_answers_and_watches_of_a_client_keep_its_time(fake: FakeService) -> None:
    machine = Machine(now=lambda: 7.0)
    async with connect(fake.address, retry=QUICK, machine=machine) as client:
        table = client.table("t1")
        answer = table_pb2.GetTableResponse(table=view(4), time=stamp(0))
        fake.expect("GetTable", answer)
        await table.view()
        assert table.time.time() == client.time.time() == NOON
        later = snapshot(4)
        later.time.CopyFrom(stamp(60))
        fake.expect("WatchTable", later)
        async with table.watch() as watch:
            await anext(watch)
        assert client.time.time() == NOON + timedelta(seconds=60)


async def test_a_service_that_says_no_time_is_no_trouble(fake: FakeService, client: Client) -> None:
    fake.expect("GetTable", table_pb2.GetTableResponse(table=view(4)))
    await client.table("t1").view()
    assert client.time.time() is None


@pytest.mark.case("C4")
def test_no_request_has_a_place_for_what_a_client_thinks_the_time_is() -> None:
    durations = set()
    for module in (table_pb2, company_pb2, panel_pb2):
        for message in module.DESCRIPTOR.message_types_by_name.values():
            if message.name.endswith("Request"):
                for field in message.fields:
                    if field.type == FieldDescriptor.TYPE_MESSAGE:
                        assert field.message_type.full_name != "google.protobuf.Timestamp"
                        if field.message_type.full_name == "google.protobuf.Duration":
                            durations.add(f"{message.name}.{field.name}")
    assert durations == {"CreateTableRequest.spectator_delay", "AddTimeRequest.time"}


# ---------------------------------------------------------------- what a seat has left


def clock(**fields: object) -> table_pb2.TableView:
    seat = table_pb2.SeatView(seat=1, clock=clock_pb2.SeatClock(**fields))  # type: ignore[arg-type]
    return table_pb2.TableView(seats=[seat], update_time=stamp(0))


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_what_is_left_follows_from_the_deadline() -> None:
    runs = clock(running=True, deadline=stamp(90))
    assert time_left(runs, 1) == timedelta(seconds=90)
    assert time_left(runs, 1, at(30)) == timedelta(seconds=60)
    assert time_left(runs, 1, at(500)) == timedelta()


def test_a_clock_that_stands_has_what_it_has() -> None:
    left = timedelta(minutes=3)
    stands = clock(left=left)
    assert time_left(stands, 1, at(500)) == left


@pytest.mark.parametrize(
    "view",
    [table_pb2.TableView(), clock(), clock(running=True), clock(running=True, ran_out=True)],
)
def test_a_clock_that_never_runs_out_has_nothing_left(view: table_pb2.TableView) -> None:
    assert time_left(view, 1, at(5)) is None


def test_what_was_used_grows_while_the_clock_runs() -> None:
    used = timedelta(seconds=20)
    runs = clock(running=True, running_since=stamp(0), used=used)
    assert time_used(runs, 1, at(30)) == timedelta(seconds=50)
    assert time_used(runs, 1, at(-5)) == used
    assert time_used(clock(used=used), 1, at(30)) == used
    assert time_used(runs, 2) == timedelta()


def test_whoever_sees_the_table_late_sees_the_clocks_of_then() -> None:
    """Ten minutes ago the clock had run for half a minute (`TableView.behind`)."""
    runs = clock(running=True, running_since=stamp(0), deadline=stamp(90))
    runs.behind.FromTimedelta(timedelta(minutes=10))
    assert time_left(runs, 1, at(630)) == timedelta(seconds=60)
    assert time_used(runs, 1, at(630)) == timedelta(seconds=30)
    assert time_left(runs, 1) == timedelta(seconds=90)  # the view's own time is that of then


def test_the_start_clock_is_a_part_of_what_is_left() -> None:
    stands = clock(left=timedelta(minutes=15), start_left=timedelta(minutes=5))
    assert start_left(stands, 1, at(500)) == timedelta(minutes=5)
    runs = clock(
        running=True, running_since=stamp(0), deadline=stamp(900), start_left=timedelta(minutes=5)
    )
    assert start_left(runs, 1, at(60)) == timedelta(minutes=4)
    assert start_left(runs, 1, at(400)) == timedelta()
    assert start_left(runs, 2) == timedelta()
