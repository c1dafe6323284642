"""`python -m tests.bench [ROW ...] [--json] [--peer]`: measures the promised sizes, scores and speeds.

Each row runs in a process of its own, so that none pays for another's memory, threads or warm caches.
Exit code 0 when every bound holds, 1 when one does not, 2 for an unknown row.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys

from tests.bench import (  # noqa: F401  importing registers rows
    answers,
    canvas,
    curves,
    distributed,
    epochs,
    fast,
    image_files,
    loading,
    peer,
    pictures,
    quality,
    race,
    speed,
    tables,
    trainers,
    trying,
    ways,
    window,
)
from tests.bench.rows import ROWS, Result
from tests.bench.sequences import learning, writing  # noqa: F401

LONGEST_ROW_SECONDS = 1500


def measure_here(name: str) -> Result:
    """Measure a row in this process."""
    row = ROWS[name]
    value, remark = row.measure()
    # Of this process, or of the program that the row started.
    peak = (
        max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        / 1024
    )
    holds = row.target.holds(value) if row.target else None
    return Result(name, value, row.unit, str(row.target or ""), holds, round(peak, 1), remark)


def measure_apart(name: str) -> Result:
    """Measure a row in a process of its own."""
    command = [sys.executable, "-m", "tests.bench", "--here", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_ROW_SECONDS)
        found = [line for line in done.stdout.splitlines() if line.startswith('{"name"')]
        if done.returncode == 0 and found:
            return Result(**json.loads(found[-1]))
        why = (done.stderr.strip().splitlines() or ["no answer"])[-1]
    except subprocess.TimeoutExpired:
        why = f"took longer than {LONGEST_ROW_SECONDS} s"
    row = ROWS[name]
    return Result(name, None, row.unit, str(row.target or ""), False, 0.0, why)


def show(result: Result) -> str:
    """One line of the table."""
    value = "failed" if result.value is None else f"{result.value:,.4g}"
    if result.unit == "parameters" and result.value is not None:
        value = f"{result.value:,.0f}"
    holds = {True: "holds", False: "DOES NOT HOLD", None: ""}[result.holds]
    return (
        f"{result.name:<20} {value:>10} {result.unit:<12} {result.target:<10} {holds:<14}"
        f" {result.peak_mib:>6.0f} MiB  {result.remark}"
    )


def main() -> int:
    """Measure the rows asked for, print them, and say whether all hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument(
        "--peer", action="store_true", help="measure NodeGraphQt too, in an environment made for it"
    )
    parser.add_argument("--list", action="store_true", help="say what the rows measure")
    parser.add_argument("--here", metavar="ROW", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        print(json.dumps(measure_here(args.here).as_json()))
        return 0
    if args.list:
        for row in ROWS.values():
            print(f"{row.name:<20} {row.about} [{row.unit}] {row.target or ''}")
        return 0
    unknown = [name for name in args.rows if name not in ROWS]
    if unknown:
        parser.error(f"no row called {', '.join(unknown)}; there are {', '.join(ROWS)}")
    if args.peer:
        peer.prepare()
        trainers.prepare()
    else:
        sys.stderr.write("NodeGraphQt is NOT measured beside the rows of the canvas: --peer does that.\n")
    results = []
    for name in args.rows or ROWS:
        result = measure_apart(name)
        results.append(result)
        print(json.dumps(result.as_json()) if args.json else show(result), flush=True)
    return 1 if any(result.holds is False for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
