"""Those who guess at codes: whoever has tried too many wrong ones is refused, right ones too."""

import asyncio
import secrets

import pytest

from tableturn_server.service import codes
from tableturn_server.store import CodeStore
from tableturn_server.store.codes import MOST_TRIES
from tableturn_server.tables.commands import By
from tableturn_server.tables.refusals import Reason, Refused
from tests.service.company import a_device, forget_tries, join_code, resolve, sits_down
from tests.service.support import Running, outcome, refused, serving
from tests.store.support import Server, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
async def fresh_tries(running: Running) -> None:
    """All tests come from one address: none has used up its tries."""
    await forget_tries(running)


async def test_nobody_finds_a_code_by_trying(valkey: Server) -> None:
    """The limit holds over all processes, for both ways to try, and hides right codes too."""
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        host = await one.a_table(private=True)
        code = await join_code(host)
        guessers = [a_device((one, two)[n % 2], host.table_id) for n in range(MOST_TRIES)]
        for n, who in enumerate(guessers):
            wrong = codes.shown(codes.draw()) if n else "not even a code"
            with refused("UNKNOWN_CODE"):
                await (resolve(who, wrong) if n % 3 else sits_down(who, wrong, name="Eve"))
        for running in (one, two):
            for call in (
                resolve(running.caller(), code),
                sits_down(a_device(running, host.table_id), code, name="Eve"),
            ):
                with refused("LIMIT_REACHED", "RESOURCE_EXHAUSTED") as failure:
                    await call
                assert 0 < int(failure.details["retry_after_ms"]) <= 600_000
        # Whoever has a token is not kept from anything.
        assert await join_code(host) == code


def test_a_home_has_one_network_of_addresses() -> None:
    """As the peer of a call is named, without its port."""
    for one, other, is_same in (
        ("ipv6:%5B2001:db8:1:2::1%5D", "ipv6:%5B2001:db8:1:2:ffff::9%5D", True),
        ("ipv6:[2001:db8:1:2::1]", "ipv6:%5B2001:db8:1:2::1%5D", True),
        ("ipv6:%5B2001:db8:1:2::1%5D", "ipv6:%5B2001:db8:1:3::1%5D", False),
        ("ipv6:%5Bfe80::1%25eth0%5D", "ipv6:%5Bfe80::2%25eth1%5D", True),
        ("ipv6:%5B::ffff:192.0.2.1%5D", "ipv4:192.0.2.1", True),
        ("ipv6:%5B::ffff:192.0.2.1%5D", "ipv6:%5B::ffff:192.0.2.2%5D", False),
        ("ipv4:192.0.2.1", "ipv4:192.0.2.2", False),
        ("unix:/run/one", "unix:/run/other", False),
        ("ipv6:what", "ipv6:else", False),
    ):
        assert (codes.network_of(one) == codes.network_of(other)) is is_same, (one, other)


async def test_another_address_of_the_same_network_has_no_tries_of_its_own(
    running: Running,
) -> None:
    known = codes.Codes(running.service.keeper, CodeStore(running.store.connection, codes.draw))
    host = await running.a_table()
    code = await join_code(host)
    network = f"2001:db8:{secrets.randbelow(1 << 16):x}:{secrets.randbelow(1 << 16):x}"
    for n in range(MOST_TRIES):
        with pytest.raises(Refused) as raised:
            await known.resolve(codes.draw(), f"ipv6:%5B{network}::{n + 1:x}%5D", by=By())
        assert raised.value.reason is Reason.UNKNOWN_CODE
    with pytest.raises(Refused) as raised:
        await known.resolve(code, f"ipv6:%5B{network}::99%5D", by=By())
    assert raised.value.reason is Reason.LIMIT_REACHED
    found = await known.resolve(code, "ipv6:%5B2001:db9::1%5D", by=By())
    assert found.what.table_id == host.table_id


async def test_many_guesses_at_once_are_no_way_around(valkey: Server) -> None:
    async with serving(valkey.url) as one, serving(valkey.url) as two:
        guesses = [resolve((one, two)[n % 2].caller(), codes.draw()) for n in range(40)]
        found = await asyncio.gather(*map(outcome, guesses))
        assert found.count("UNKNOWN_CODE") == MOST_TRIES
        assert found.count("LIMIT_REACHED") == 40 - MOST_TRIES


async def test_right_codes_are_never_too_many(running: Running) -> None:
    host = await running.a_table()
    code = await join_code(host)
    for _ in range(3 * MOST_TRIES):
        await resolve(running.caller(), code)


@pytest.mark.case("D4")
async def test_without_a_store_no_code_is_wrong() -> None:
    with running_server() as server:
        async with serving(server.url) as running:
            host = await running.a_table()
            code = await join_code(host)
            server.process.kill()
            server.process.wait()
            with refused("STORE_UNAVAILABLE", "UNAVAILABLE"):
                await resolve(host, code)
