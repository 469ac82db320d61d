"""The test set-up itself: a lost asyncio task fails the test that lost it."""

import pytest

pytest_plugins = ["pytester"]

LOSES_A_TASK = """
import asyncio

async def test_loses_a_task():
    loop = asyncio.get_running_loop()
    assert loop.get_debug()

    async def waits_for_nothing():
        await loop.create_future()

    asyncio.create_task(waits_for_nothing())
    await asyncio.sleep(0)

async def test_keeps_its_task():
    await asyncio.create_task(asyncio.sleep(0))
"""

LOSES_AN_ERROR = """
import asyncio

async def test_loses_an_error():
    async def fails():
        raise ValueError("unseen")

    asyncio.create_task(fails())
    await asyncio.sleep(0)
"""


@pytest.mark.case("G6")
@pytest.mark.parametrize(
    ("source", "passed"), [(LOSES_A_TASK, 1), (LOSES_AN_ERROR, 0)], ids=["task", "error"]
)
def test_a_lost_task_fails_its_test(
    pytester: pytest.Pytester, request: pytest.FixtureRequest, source: str, passed: int
) -> None:
    pytester.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_debug = true\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    pytester.makeconftest((request.config.rootpath / "tests" / "conftest.py").read_text())
    pytester.makepyfile(source)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=passed, failed=1)
    result.stdout.fnmatch_lines(["*asyncio tasks were lost:*"])
