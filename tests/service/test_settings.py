"""The clock and the rest of how a table shall be, as a request says it."""

import pytest
from google.protobuf.duration_pb2 import Duration

from tableturn.v1 import clock_pb2, table_pb2
from tableturn_server.service import settings
from tableturn_server.service.tables import _asked_for, _wish
from tableturn_server.tables.making import make
from tableturn_server.tables.state import (
    Absence,
    AbsencePolicy,
    Clock,
    ClockKind,
    Making,
    TimeoutPolicy,
)
from tests.tables.play import HOST, SEED, refused


def span(seconds: float) -> Duration:
    return Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))


def request(**fields: object) -> table_pb2.CreateTableRequest:
    return table_pb2.CreateTableRequest(
        game="free-table",
        host_token_sha256=HOST.token,
        **fields,  # type: ignore[arg-type]
    )


def made(**fields: object) -> Making:
    table, _, _ = make(_wish(request(**fields), "the-table"), drawn_seed=SEED, now=0)
    return table.making


def test_a_clock_is_read() -> None:
    asked = clock_pb2.ClockSettings(
        kind=clock_pb2.CLOCK_KIND_INCREMENT,
        bank=span(600.5),
        step=span(10),
        timeout=clock_pb2.TIMEOUT_POLICY_BOT,
        start=span(60),
    )
    assert made(clock=asked).clock == Clock(
        kind=ClockKind.INCREMENT,
        bank=600_500,
        step=10_000,
        timeout=TimeoutPolicy.BOT,
        start=60_000,
    )


def test_what_is_not_said_is_as_it_is_without() -> None:
    assert settings.clock(request()) == Clock()
    assert settings.clock(request(clock=clock_pb2.ClockSettings())) == Clock()
    assert settings.absence(request()) == Absence()
    assert settings.spectator_delay(request()) == 0
    making = made()
    assert (making.private, making.host_stays) == (False, False)


def test_the_rest_is_read() -> None:
    absence = clock_pb2.AbsenceSettings(policy=clock_pb2.ABSENCE_POLICY_DROP, grace=span(30))
    making = made(absence=absence, private=True, spectator_delay=span(90), host_stays=True)
    assert making.absence == Absence(policy=AbsencePolicy.DROP, grace=30_000)
    assert (making.private, making.unlisted, making.host_stays) == (True, True, True)
    assert making.spectator_delay == 90_000


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"clock": clock_pb2.ClockSettings(kind=9)}, "clock.kind"),  # type: ignore[arg-type]
        ({"clock": clock_pb2.ClockSettings(timeout=9)}, "clock.timeout"),  # type: ignore[arg-type]
        ({"clock": clock_pb2.ClockSettings(bank=span(-1))}, "clock.bank"),
        ({"clock": clock_pb2.ClockSettings(step=Duration(nanos=-1))}, "clock.step"),
        ({"clock": clock_pb2.ClockSettings(start=span(10**10))}, "clock.start"),
        (
            {
                "clock": clock_pb2.ClockSettings(
                    kind=clock_pb2.CLOCK_KIND_PER_TURN, bank=span(5), step=span(5)
                )
            },
            "clock.bank",
        ),
        ({"absence": clock_pb2.AbsenceSettings(policy=4)}, "absence.policy"),  # type: ignore[arg-type]
        ({"absence": clock_pb2.AbsenceSettings(grace=span(4))}, "absence.grace"),
        ({"spectator_delay": span(3601)}, "spectator_delay"),
        ({"spectator_delay": Duration(nanos=2_000_000_000)}, "spectator_delay"),
    ],
)
def test_what_can_not_be_is_refused_with_its_field(fields: dict[str, object], field: str) -> None:
    with refused("BAD_FIELD", field=field):
        made(**fields)


def test_another_clock_or_absence_is_another_table() -> None:
    asked = [
        made(),
        made(clock=clock_pb2.ClockSettings(kind=clock_pb2.CLOCK_KIND_COUNT_UP)),
        made(absence=clock_pb2.AbsenceSettings(grace=span(60))),
        made(absence=clock_pb2.AbsenceSettings(policy=clock_pb2.ABSENCE_POLICY_BOT)),
        made(private=True),
        made(spectator_delay=span(1)),
    ]
    assert len({str(_asked_for(making)) for making in asked}) == len(asked)
    assert _asked_for(made()) == _asked_for(made(absence=clock_pb2.AbsenceSettings()))
