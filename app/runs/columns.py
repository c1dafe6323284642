"""What the table of runs can show: one column a setting or a recorded value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from app.charts.plot import number
from app.runs.names import differences_from_before, numbered
from engine.runs.index import RunRecord
from engine.runs.records import INTERRUPTED, RUNNING, UNREADABLE

TICK, TAGS, NOTE = "tick", "tags", "note"
EDITABLE = (TAGS, NOTE)
BEST, LAST = "best:", "last:"
STATE_WORDS = {
    RUNNING: "training",
    INTERRUPTED: "interrupted",
    UNREADABLE: "unreadable",
}
# Which colour of the theme marks a state; the word beside it says the same.
STATE_ROLES = {
    "finished": "good",
    RUNNING: "accent",
    INTERRUPTED: "warning",
    "failed": "bad",
    UNREADABLE: "bad",
}

Value = str | int | float | None


@dataclass(frozen=True)
class Column:
    """`text` is what stands in the cell, `value` what it is sorted by."""

    key: str
    title: str
    width: int
    text: Callable[[RunRecord], str]
    value: Callable[[RunRecord], Value]
    tip: str = ""
    right: bool = False


def columns_of(records: Iterable[RunRecord]) -> list[Column]:
    """Every column that has something to show, in the order of the table."""
    records = list(records)
    values = dict.fromkeys(name for record in records for name in record.last)
    shown = sorted(values, key=lambda name: (_kind(name), name != "val_loss"))
    last = [_value(name, LAST) for name in shown if not name.startswith("test_")]
    return [*_named(records), *_FIRST, *(_value(name, BEST) for name in shown), *last, *_THEN]


def _named(records: list[RunRecord]) -> list[Column]:
    """The box to tick, and what the runs are called."""
    names = numbered(records)
    differ = differences_from_before(records, names)

    def title(record: RunRecord) -> str:
        return names.get(record.name, record.title)

    def place(record: RunRecord) -> str:
        return f"{record.title.casefold()} {title(record).rpartition(' ')[2]:0>9}"

    def what(record: RunRecord) -> str:
        return differ.get(record.name, "")

    tip = "The project's title, and the number of the run"
    otherwise = "What the run was told otherwise than the one of this project before it"
    return [
        Column(TICK, "", 28, lambda r: "", lambda r: "", "Draw the curves of this run"),
        Column("title", "run", 84, title, place, tip),
        Column("differs", "what differs", 110, what, what, otherwise),
    ]


def first_choice(columns: Iterable[Column]) -> set[str]:
    """The keys of the columns on show before the user chooses: two values, the validation loss among them."""
    columns = list(columns)
    values = [column.key for column in columns if column.key.startswith(f"{BEST}val_")]
    loss = [key for key in values if "loss" in key]
    other = [key for key in values if "loss" not in key]
    chosen = (loss[:1] + other[:1]) if other else loss[:2]
    return {TICK, "title", "differs", "started", "state", "epochs", *chosen, "lr", TAGS, NOTE}


def value_words(name: str) -> str:
    """A recorded value as a heading: `val loss`, `test accuracy`."""
    return name.replace("_", " ")


def figure(value: float) -> str:
    """A recorded value as lists and comparisons show it: `0.9667`."""
    return f"{value:.4f}" if 1e-3 <= abs(value) < 100 else number(value)


def took(seconds: float) -> str:
    """Seconds in words: `8.3 s`, `2 min`, `1 h 05`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02}"


def when(moment: str) -> str:
    """The beginning of a run in local time: `today 11:20`, `28 Nov 11:20`, `28 Nov 2025`."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    now = datetime.now(found.tzinfo)
    if found.date() == now.date():
        return f"today {found:%H:%M}"
    this_year = found.year == now.year
    return f"{found.day} {found:%b} {found:%H:%M}" if this_year else f"{found.day} {found:%b %Y}"


def _kind(name: str) -> int:
    return next((i for i, prefix in enumerate(("val_", "test_", "train_")) if name.startswith(prefix)), 3)


def _value(name: str, which: str) -> Column:
    """A recorded value: the best of all epochs, or that of the last."""

    def value(record: RunRecord) -> Value:
        return (record.best if which == BEST else record.last).get(name)

    def text(record: RunRecord) -> str:
        found = value(record)
        if not isinstance(found, float | int):
            return ""
        return figure(found)

    words, tip = value_words(name), "on the test data"
    if not name.startswith("test_"):
        words = f"{which.rstrip(':')} {words}"
        tip = "the best of all epochs" if which == BEST else "after the last epoch"
    return Column(f"{which}{name}", words, 58, text, value, f"{value_words(name)}: {tip}", True)


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


_FIRST = (
    Column("started", "started", 86, lambda r: when(r.started), lambda r: r.started),
    Column("state", "state", 96, lambda r: STATE_WORDS.get(r.state, r.state), lambda r: r.state),
    Column(
        "epochs",
        "epochs",
        52,
        lambda r: f"{r.epochs_done}/{r.epochs}" if r.epochs else "",
        lambda r: r.epochs_done,
        "Epochs trained, of those planned",
        True,
    ),
)
_THEN = (
    Column("optimiser", "optimiser", 76, lambda r: r.optimiser, lambda r: r.optimiser),
    Column(
        "lr",
        "lr",
        58,
        lambda r: "" if r.lr is None else f"{r.lr:g}",
        lambda r: r.lr,
        "Learning rate at the beginning",
        True,
    ),
    Column(
        TAGS, "tags", 80, lambda r: ", ".join(r.tags), lambda r: ", ".join(r.tags), "Double-click to write"
    ),
    Column(NOTE, "note", 150, lambda r: r.note, lambda r: r.note, "Double-click to write"),
    Column("batch", "batch", 56, lambda r: _number(r.batch), lambda r: r.batch, "Examples a step", True),
    Column("seconds", "time", 66, lambda r: took(r.seconds), lambda r: r.seconds, "Without pauses", True),
    Column("steps", "steps", 64, lambda r: _number(r.steps), lambda r: r.steps, "Batches trained", True),
    Column("seed", "seed", 48, lambda r: str(r.seed), lambda r: r.seed, "", True),
    Column("device", "device", 60, lambda r: r.device, lambda r: r.device),
    Column("parameters", "weights", 78, lambda r: _number(r.parameters), lambda r: r.parameters, "", True),
    Column("branched_from", "branched from", 120, lambda r: r.branched_from, lambda r: r.branched_from),
    Column("name", "folder", 170, lambda r: r.name, lambda r: r.name),
)
