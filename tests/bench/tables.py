"""How fast a large table is opened, beside polars' own reading of it, and how it trains from disk."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from engine.data.open.opening import open_data
from engine.data.watch import Stopped, Watch
from tests.bench.rows import row

ROWS = int(os.environ.get("NEUROLOOM_BENCH_ROWS", 10_000_000))
PIECE = 500_000
COLOURS = np.array(["red", "green", "blue"])
READ = """
import sys, time, polars
began = time.perf_counter()
polars.read_csv(sys.argv[1])
print(time.perf_counter() - began)
"""


def write_table(path: Path, rows: int) -> None:
    """A number of the row, four measurements, a whole number, a class, a yes or no; about 100 bytes a row."""
    import polars as pl

    made = np.random.default_rng(0)
    with open(path, "wb") as file:
        for at in range(0, rows, PIECE):
            n = min(PIECE, rows - at)
            columns = {"id": np.arange(at, at + n), **{f"x{one}": made.normal(size=n) for one in range(4)}}
            columns |= {"few": made.integers(0, 9, n), "colour": COLOURS[made.integers(0, 3, n)]}
            columns["y"] = made.integers(0, 2, n)
            pl.DataFrame(columns).write_csv(file, include_header=at == 0)


@row("csv-1gb", "opening a CSV of 10 M rows, 1 GB: speed to polars' own read", "", ">= 0.5")
def csv_1gb() -> tuple[float, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_table(path, ROWS)
        size = path.stat().st_size
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass  # into the page cache, for both alike
        looks: list[float] = []
        began = time.perf_counter()
        opened = open_data(path, Watch(lambda share, doing: looks.append(time.perf_counter())))
        own = time.perf_counter() - began
        assert opened.params["rows"] == ROWS
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        )
        theirs = float(done.stdout)
        longest = max(later - earlier for earlier, later in pairwise(looks))
        left = iter(range(5))
        began = time.perf_counter()
        try:
            open_data(path, Watch(stopped=lambda: next(left, None) is None))
        except Stopped:
            stopped = time.perf_counter() - began
    return theirs / own, (
        f"{size / 1e9:.2f} GB, {ROWS:,} rows: {own:.1f} s, polars {theirs:.1f} s; at most {longest:.2f} s "
        f"between two signs of progress, cancelled at the fifth after {stopped:.1f} s; peak {peak:,.0f} MiB"
    )


@row("table-streamed", "an epoch of a CSV of 10 M rows, 1 GB, from disk: peak memory", "MiB", "<= 2048")
def table_streamed() -> tuple[float, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_table(path, ROWS)
        size = path.stat().st_size
        command = [sys.executable, "-m", "tests.bench.tables_program", str(path)]
        home = {**os.environ, "NEUROLOOM_HOME": folder}
        found = []
        for memory in ("64", "64", "100000"):  # the second time the numbers are there already
            done = subprocess.run([*command, memory], capture_output=True, text=True, check=True, env=home)
            found.append(json.loads(done.stdout))
        kept = sum(one.stat().st_size for one in (Path(folder) / "tables").glob("*/numbers"))
    (opened, reading, epoch, peak), again, whole = found
    rows = 0.6 * ROWS
    return peak, (
        f"{size / 1e9:.2f} GB, {ROWS:,} rows; opening took up to {opened:,.0f} MiB, reading {reading:.1f} s "
        f"({again[1]:.1f} s when its {kept / 1e6:,.0f} MB of numbers are kept already), an epoch in batches "
        f"of 512 {epoch:.1f} s, {rows / epoch:,.0f} training rows/s with validation; all in memory: peak "
        f"{whole[3]:,.0f} MiB, reading {whole[1]:.1f} s, {rows / whole[2]:,.0f} rows/s"
    )
