"""What holds for all tests: Hypothesis profiles, asyncio without lost tasks, marks with ids."""

import gc
import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from pytest_asyncio import is_async_test

settings.register_profile("default", deadline=None)
# CI proves a commit, so it tries the same examples each time; the nightly run looks for new ones.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile(
    "nightly",
    settings.get_profile("default"),
    max_examples=2_000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "default"),
)

# asyncio only logs these: a task that was lost while it ran, and an error that nobody saw (G6).
LOST = ("Task was destroyed but it is pending", "exception was never retrieved")


class LostTasks(logging.Handler):
    """Collects what asyncio says of tasks that the code under test has lost."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if any(words in message for words in LOST):
            self.messages.append(message)

    def take(self) -> list[str]:
        messages, self.messages = self.messages, []
        return messages


lost_tasks = LostTasks()


def pytest_configure() -> None:
    logging.getLogger("asyncio").addHandler(lost_tasks)


def pytest_unconfigure() -> None:
    logging.getLogger("asyncio").removeHandler(lost_tasks)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in ("clause", "case"):
            for mark in item.iter_markers(name):
                if not mark.args or not all(isinstance(arg, str) for arg in mark.args):
                    raise pytest.UsageError(f"{item.nodeid}: @{name} takes ids, as {name}('G5')")


def pytest_collection_finish() -> None:
    # What has been imported by now stays; collecting after each test need not look at it again.
    gc.collect()
    gc.freeze()


def fail_if_tasks_were_lost() -> None:
    if messages := lost_tasks.take():
        pytest.fail("asyncio tasks were lost:\n" + "\n".join(messages), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield
    if is_async_test(item):
        # The loop still lives. At its end it cancels what is left, and nothing would be said.
        gc.collect()
    fail_if_tasks_were_lost()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown() -> Iterator[None]:
    yield
    fail_if_tasks_were_lost()
