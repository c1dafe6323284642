"""Rules every test lives under: private settings, no stray log record, nothing left running.

What a test leaves behind is reported at that test, with the line that started it, because the next
test to trip over it is never the guilty one.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Before torch is loaded: several threads that wait for each other make tiny networks a hundred times slower
# on a busy computer. What needs more threads says so.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples on every machine; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile(
    "search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# From pure to window, so that the first failure is the one nearest the cause. The many short files of the
# window come last: a worker that took a long one at the end would be waited for.
ORDER = (
    *("engine", "nodes", "test_project.py", "test_glossary.py", "test_packaging.py", "warm"),
    *("gallery", "test_smoke.py", "real_window", "bench", "app"),
)
THREAD_GRACE_SECONDS = 5.0
MODULES_TO_FREEZE = 20  # so many new ones are worth it
MOST_WORKERS = 4  # each holds up to two gigabytes


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A worker a core for folders; for a file, a test and the smoke test this process, with its debugger."""
    named = any("::" in given or given.endswith(".py") for given in config.args)
    return 0 if named or config.option.markexpr == "smoke" else min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Only the smoke test when it is asked for: importing the others takes longer than it does."""
    others = collection_path.suffix == ".py" and collection_path.name != "test_smoke.py"
    return True if others and config.option.markexpr == "smoke" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort tests by floor, keeping the order within a file."""
    here = Path(__file__).parent

    def floor(item: pytest.Item) -> int:
        try:
            first = item.path.relative_to(here).parts[0]
        except ValueError:
            return len(ORDER)
        return ORDER.index(first) if first in ORDER else len(ORDER)

    items.sort(key=floor)


_modules_frozen = 0


def pytest_collection_finish() -> None:
    gc.collect()
    _freeze_imports()


def _freeze_imports() -> None:
    """Take what importing has made out of the collector's sight: it stays for the whole run anyway.

    Walking over it took a third of the time of tests that use Qt.
    """
    global _modules_frozen
    if len(sys.modules) > _modules_frozen + MODULES_TO_FREEZE:
        gc.freeze()
        _modules_frozen = len(sys.modules)


_survivors_of: Path | None = None


def _freeze_survivors(file: Path) -> None:
    """Before the first test of a file that uses Qt: what is alive stays, as caches and modules do.

    Looking through all of it twice after each test took a tenth of the time of the whole run.
    """
    global _survivors_of
    if file != _survivors_of:
        gc.collect()
        gc.freeze()
        _survivors_of = file


_numbers_of_homes = itertools.count()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests have their folders: `mktemp` looks through all earlier ones for the next free number."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def private_folders(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point settings, caches, runs and recovery files of this test at a folder of its own."""
    home = homes / str(next(_numbers_of_homes))
    home.mkdir()
    for name, folder in (("CONFIG", "config"), ("CACHE", "cache"), ("DATA", "data"), ("STATE", "state")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    monkeypatch.setenv("NEUROLOOM_HOME", str(home / "neuroloom"))
    core = sys.modules.get("PySide6.QtCore")
    if core is not None:
        for form in (core.QSettings.Format.NativeFormat, core.QSettings.Format.IniFormat):
            core.QSettings.setPath(form, core.QSettings.Scope.UserScope, str(home / "config"))
    return home


class _Records(logging.Handler):
    """Keeps what is logged at WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(f"{record.name}: {record.levelname}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_stray_records(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail on a log record of WARNING or above unless `@pytest.mark.logs(pattern)` expects it."""
    expected = [re.compile(mark.args[0]) for mark in request.node.iter_markers("logs")]
    records = _Records()
    logging.getLogger().addHandler(records)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(records)
    stray = [text for text in records.kept if not any(pattern.search(text) for pattern in expected)]
    if stray:
        pytest.fail("unexpected log records:\n  " + "\n  ".join(stray), pytrace=False)


@pytest.fixture(autouse=True)
def no_stray_threads() -> Iterator[None]:
    """Fail when a thread that the test started is still alive after its fixtures are gone."""
    before = set(threading.enumerate())
    yield
    stray = [thread for thread in threading.enumerate() if thread not in before]
    for thread in stray:
        thread.join(THREAD_GRACE_SECONDS)
    alive = [thread.name for thread in stray if thread.is_alive()]
    if alive:
        pytest.fail(f"threads left running: {', '.join(alive)}; close what started them", pytrace=False)


@pytest.fixture(autouse=True)
def no_stray_qt(request: pytest.FixtureRequest) -> Iterator[None]:
    """In tests that use Qt: fail on active timers, running QThreads and visible windows left behind.

    The collector runs between such tests and never inside one: collecting Qt's wrappers while an event is
    being delivered has crashed other Qt programs.
    """
    if "qapp" not in request.fixturenames:
        yield
        return
    from tests.qt_leftovers import StartedObjects  # only tests that use Qt may load it

    _freeze_survivors(request.path)
    gc.disable()
    watch = StartedObjects()
    watch.begin()
    try:
        yield
    finally:
        watch.end()
        stray = watch.settle_and_list()
        _freeze_imports()
        gc.enable()
    if stray:
        pytest.fail("left behind in Qt:\n  " + "\n  ".join(stray), pytrace=False)


@pytest.fixture
def warm_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program starts as a Python of its own has torch already."""
    from tests.warm import python

    monkeypatch.setattr(sys, "executable", python())
