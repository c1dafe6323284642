"""An index over the folders of runs: a list of a thousand runs without reading a thousand folders.

A file `index.sqlite` beside the folders. It is a cache: the folders are the truth, each row remembers the
state of its folder's files, and a file that is lost or damaged is made again. Several programs may write.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.catalogue.training.optimisers import OPTIMISERS
from engine.document.files import load_project
from engine.errors import NeuroloomError, reason_of
from engine.runs.compare import defaults_and, graph_hash, plan_hash
from engine.runs.records import (
    CHECKPOINTS,
    INTERRUPTED,
    LABELS,
    METRICS,
    PROJECT,
    RUNNING,
    SETTINGS,
    UNREADABLE,
    Labels,
    kept_checkpoints,
    lower_is_better,
    read_labels,
    read_metrics,
    read_settings,
    reading,
    state_of,
)

log = logging.getLogger(__name__)

INDEX = "index.sqlite"
_VERSION = 2
_PATIENCE = 10.0  # seconds to wait for another program that writes
_NO_VALUES = ("epoch", "step", "seconds", "lr")


@dataclass(frozen=True)
class RunRecord:
    """What is known of one run. Times are ISO 8601, `seconds` is training time, `epochs` what was planned.

    `best` and `last` hold every value that was recorded: `train_loss`, `val_accuracy`, `test_loss` ...
    """

    name: str
    folder: Path
    title: str = ""
    state: str = UNREADABLE
    started: str = ""
    ended: str = ""
    epochs: int = 0
    epochs_done: int = 0
    steps: int = 0
    seconds: float = 0.0
    optimiser: str = ""
    lr: float | None = None
    batch: int = 0
    seed: int = 0
    device: str = ""
    parameters: int = 0
    tags: tuple[str, ...] = ()
    note: str = ""
    plan_hash: str = ""
    graph_hash: str = ""
    best_epoch: int = 0
    branched_from: str = ""
    checkpoints: tuple[str, ...] = ()
    error: str = ""
    higher: tuple[str, ...] | None = None  # values that improve as they grow, where the run says which
    best: Mapping[str, float] = field(default_factory=dict)
    last: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"folder": str(self.folder)}


_COLUMNS = {
    one.name: {"int": "INTEGER", "float": "REAL", "float | None": "REAL"}.get(str(one.type), "TEXT")
    for one in fields(RunRecord)
    if one.name not in ("folder", "best", "last")
}
_LISTS = ("tags", "checkpoints", "higher")


class RunIndex:
    """The runs in one folder; rebuilt where it can't be read. Use each object from one thread at a time."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._seen: tuple[dict[str, str], list[RunRecord]] = ({}, [])

    def refresh(self) -> list[RunRecord]:
        """Read what has changed in the folders, and return all runs, the newest first.

        A run whose program died while it was going on is "interrupted".
        Errors: `NeuroloomError` when the folder of the runs cannot be read.
        """
        try:
            found = dict(_folders(self.runs))
        except OSError as error:
            raise NeuroloomError(
                f"The runs in {self.runs} cannot be read: {error.strerror or error}."
            ) from error
        if not found:
            return []
        if found == self._seen[0]:  # a window asks every few seconds, and mostly nothing has changed
            return self._in_order(self._seen[1])
        try:
            records = self._caught_up(found)
        except (sqlite3.Error, OSError) as error:  # a folder that cannot be written to, or a long wait
            log.info("the index of the runs is not kept: %s", error)
            records = [_read(self.runs / name) for name in found]
        self._seen = (found, records)
        return self._in_order(records)

    @staticmethod
    def _in_order(records: list[RunRecord]) -> list[RunRecord]:
        return sorted((_alive(one) for one in records), key=_by_start, reverse=True)

    def note(self, folder: Path) -> None:
        """Take one run in, or out when its folder is gone. Does nothing where no index is kept."""
        if not (self.runs / INDEX).is_file():
            return
        try:
            with self._open() as base:
                stamp = _stamp(folder)
                if stamp is None:
                    _forget(base, [folder.name])
                else:
                    _keep(base, stamp, _read(folder))
        # A cache: the next refresh sees the folder itself.
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
            log.info("the index of the runs was not brought up to date: %s", error)

    def _caught_up(self, found: Mapping[str, str]) -> list[RunRecord]:
        try:
            with self._open() as base:
                return _catch_up(base, self.runs, found)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            log.info("the index of the runs is damaged and rebuilt: %s", error)
            (self.runs / INDEX).unlink(missing_ok=True)
            with self._open() as base:
                return _catch_up(base, self.runs, found)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = self.runs / INDEX
        try:
            base = _connected(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:  # not a database, or of another version
            log.info("the index of the runs is rebuilt: %s", error)
            path.unlink(missing_ok=True)
            base = _connected(path)
        with closing(base), base:
            yield base


def _connected(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        version = base.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"version {version}")
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS.items())
        base.execute(f"CREATE TABLE IF NOT EXISTS runs ({columns}, stamp TEXT, PRIMARY KEY (name))")
        base.execute(
            "CREATE TABLE IF NOT EXISTS figures "
            "(run TEXT, value TEXT, best REAL, last REAL, PRIMARY KEY (run, value))"
        )
        base.execute(f"PRAGMA user_version = {_VERSION}")
        base.execute("SELECT name, stamp FROM runs LIMIT 1")
    except sqlite3.Error:
        base.close()
        raise
    return base


def _folders(runs: Path) -> Iterator[tuple[str, str]]:
    """The names of the runs' folders, each with what tells whether anything in it has changed."""
    if not runs.is_dir():
        return
    with os.scandir(runs) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_dir():
                stamp = _stamp(entry.path)
                if stamp is not None:
                    yield entry.name, stamp


def _stamp(folder: Path | str) -> str | None:
    parts = []
    place = os.fspath(folder)
    for name in (SETTINGS, METRICS, LABELS, CHECKPOINTS):
        try:
            found = os.stat(f"{place}/{name}")
            parts.append(f"{found.st_mtime_ns}/{found.st_size}")
        except FileNotFoundError:
            if name == SETTINGS:
                return None
            parts.append("")
        except OSError as error:  # a folder of somebody else, say: listed with the reason
            parts.append(f"error {error.errno}")
    return " ".join(parts)


def _catch_up(base: sqlite3.Connection, runs: Path, found: Mapping[str, str]) -> list[RunRecord]:
    known = dict(base.execute("SELECT name, stamp FROM runs"))
    _forget(base, [name for name in known if name not in found])
    unkept = []
    for name, stamp in found.items():
        if known.get(name) != stamp:
            record = _read(runs / name)
            try:
                _keep(base, stamp, record)
            except (OverflowError, UnicodeError):  # a number or a name that no database holds
                _forget(base, [name] if name in known else [])
                unkept.append(record)
    best: dict[str, dict[str, float]] = {}
    last: dict[str, dict[str, float]] = {}
    for name, value, low, end in base.execute("SELECT run, value, best, last FROM figures ORDER BY rowid"):
        best.setdefault(name, {})[value] = low
        last.setdefault(name, {})[value] = end
    rows = base.execute(f"SELECT {', '.join(_COLUMNS)} FROM runs")
    return [*(_record(runs, dict(zip(_COLUMNS, row, strict=True)), best, last) for row in rows), *unkept]


def _record(
    runs: Path,
    row: dict[str, Any],
    best: Mapping[str, Mapping[str, float]],
    last: Mapping[str, Mapping[str, float]],
) -> RunRecord:
    name = row["name"]
    lists = {key: json.loads(row[key]) for key in _LISTS}
    row |= {key: None if found is None else tuple(found) for key, found in lists.items()}
    return RunRecord(folder=runs / name, best=best.get(name, {}), last=last.get(name, {}), **row)


def _keep(base: sqlite3.Connection, stamp: str, record: RunRecord) -> None:
    marks = ", ".join("?" * (len(_COLUMNS) + 1))
    values = [
        json.dumps(getattr(record, name)) if name in _LISTS else getattr(record, name) for name in _COLUMNS
    ]
    base.execute(
        f"INSERT OR REPLACE INTO runs ({', '.join(_COLUMNS)}, stamp) VALUES ({marks})", [*values, stamp]
    )
    base.execute("DELETE FROM figures WHERE run = ?", [record.name])
    base.executemany(
        "INSERT INTO figures VALUES (?, ?, ?, ?)",
        [(record.name, value, record.best.get(value), end) for value, end in record.last.items()],
    )


def _forget(base: sqlite3.Connection, names: Iterable[str]) -> None:
    for name in names:
        base.execute("DELETE FROM runs WHERE name = ?", [name])
        base.execute("DELETE FROM figures WHERE run = ?", [name])


# -- one run


def read_run(folder: Path) -> RunRecord:
    """What is known of the run in a folder; one that can't be read says why in `error`."""
    return _alive(_read(folder))


def _alive(record: RunRecord) -> RunRecord:
    """The same, interrupted if it was left running by a program that is gone."""
    if record.state != RUNNING or state_of(record.folder, {"state": RUNNING}) == RUNNING:
        return record
    return RunRecord(
        **{**{one.name: getattr(record, one.name) for one in fields(record)}, "state": INTERRUPTED}
    )


def _by_start(record: RunRecord) -> tuple[str, str]:
    return record.started, record.name


def _read(folder: Path) -> RunRecord:
    """What is known of a run. However it is damaged, the others are listed beside it."""
    try:
        settings, history, labels = read_settings(folder), read_metrics(folder), read_labels(folder)
        with reading(folder, SETTINGS):
            return _made(folder, settings, history, labels)
    except NeuroloomError as error:
        log.info("%s is not understood", folder, exc_info=error)
        return RunRecord(folder.name, folder, title=folder.name, error=reason_of(error))


def _made(
    folder: Path, settings: Mapping[str, Any], history: list[dict[str, int | float]], labels: Labels
) -> RunRecord:
    higher = settings.get("higher")
    best, last = _figures(history, settings.get("results") or {}, higher)
    newest = history[-1] if history else {}
    optimiser, rate = _optimiser(settings.get("plan") or {})
    origin = settings.get("branched_from") or {}
    plan, graph = settings.get("plan_hash"), settings.get("graph_hash")
    if not (plan and graph):  # written before runs kept these
        plan, graph = _hashes(folder)
    return RunRecord(
        name=folder.name,
        folder=folder,
        title=str(settings.get("title") or folder.name),
        state=str(settings.get("state") or UNREADABLE),
        started=str(settings.get("started") or ""),
        ended=str(settings.get("ended") or ""),
        epochs=_whole(settings, "epochs"),
        epochs_done=_whole(settings, "epochs_done", len(history)),
        steps=_whole(settings, "steps", newest.get("step", 0)),
        seconds=_number(settings, "seconds", newest.get("seconds", 0.0)),
        optimiser=optimiser,
        lr=rate,
        batch=_whole(settings, "batch"),
        seed=_whole(settings, "seed"),
        device=str(settings.get("device") or ""),
        parameters=_whole(settings, "parameters"),
        tags=labels.tags,
        note=labels.note,
        plan_hash=str(plan),
        graph_hash=str(graph),
        best_epoch=_whole(settings, "best_epoch"),
        branched_from=str(origin.get("run", "")) if isinstance(origin, dict) else str(origin),
        checkpoints=tuple(kept_checkpoints(folder)),
        error=str(settings.get("error") or ""),
        higher=None if higher is None else tuple(map(str, higher)),
        best=best,
        last=last,
    )


def _number(settings: Mapping[str, Any], name: str, otherwise: float = 0.0) -> float:
    number = float(settings.get(name) or otherwise)
    if not -(2.0**63) < number < 2.0**63:
        raise ValueError(f"{name} is no number that a run can have")
    return number


def _whole(settings: Mapping[str, Any], name: str, otherwise: float = 0) -> int:
    _number(settings, name, otherwise)
    return int(settings.get(name) or otherwise)


def _figures(
    history: list[dict[str, int | float]], results: Mapping[str, Any], higher: Sequence[str] | None
) -> tuple[dict[str, float], dict[str, float]]:
    best: dict[str, float] = {}
    last: dict[str, float] = {}
    for record in history:
        for name, value in record.items():
            if name in _NO_VALUES or value != value:
                continue
            last[name] = value
            choose = min if lower_is_better(name, higher) else max
            best[name] = choose(best[name], value) if name in best else value
    for name, value in results.items():
        if isinstance(value, (int, float)) and value == value:
            best[name] = last[name] = float(value)
    return best, last


def _optimiser(plan: Mapping[str, Any]) -> tuple[str, float | None]:
    """The optimisers of a plan in words, and the learning rate of the first."""
    chosen = [
        objective["optimiser"]
        for phase in plan.get("phases", [])
        for objective in phase.get("objectives", [])
        if isinstance(objective.get("optimiser"), dict)
    ]
    names = dict.fromkeys(str(one.get("name")) for one in chosen)
    titles = ", ".join(getattr(OPTIMISERS.get(name), "title", name) for name in names)
    if not chosen:
        return titles, None
    rate = defaults_and(OPTIMISERS.get(chosen[0].get("name")), chosen[0].get("params", {})).get("lr")
    return titles, None if rate is None else float(rate)


def _hashes(folder: Path) -> tuple[str, str]:
    try:
        project = load_project(folder / PROJECT)
    except NeuroloomError:
        return "", ""
    return plan_hash(project), graph_hash(project)
