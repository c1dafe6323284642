"""Throughput of training without a window against a hand-written loop, Lightning and Keras 3 on torch.

Lightning and Keras are installed by `--peer` into environments of their own, beside a link to our torch. All
sides train the same network on the same data for a few epochs, validation included, Lightning with its
TensorBoard logger; each in a process of its own, in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tests.bench.rows import row

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench-trainers"
PEERS = {
    "lightning": ("lightning==2.6.6", "tensorboard"),
    "keras": ("keras==3.15.1",),
}
ASKED = "NEUROLOOM_BENCH_TRAINERS"  # set for the rows' processes: the folder of the environments
PROGRAM = Path(__file__).with_name("trainers_program.py")
LONGEST_SECONDS = 400
ROUNDS = 3


def prepare() -> None:
    """Make the environments that are not there, and let the rows know. CalledProcessError if pip fails."""
    for name, packages in PEERS.items():
        place = FOLDER / name
        if not (place / "ready").exists():
            sys.stderr.write(f"Installing {', '.join(packages)} into {place.relative_to(ROOT)}\n")
            venv.create(place, with_pip=True, clear=True)
            # Our torch, so that all sides compute with the same one.
            inside = next((place / "lib").glob("python*")) / "site-packages"
            (inside / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
            subprocess.run(
                [place / "bin" / "python", "-m", "pip", "install", "--quiet", *packages], check=True
            )
            (place / "ready").write_text("\n".join(packages))
    os.environ[ASKED] = str(FOLDER)


def steps_per_second(side: str, network: str) -> float:
    """One measurement of a side in a process of its own. Errors: `RuntimeError` when it fails."""
    python = sys.executable if side in ("ours", "fast", "hand") else f"{os.environ[ASKED]}/{side}/bin/python"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "torch"}
    done = subprocess.run(
        [python, PROGRAM, side, network],
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        env=environment,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith('{"steps_per_second"')]
    if not found:
        raise RuntimeError(f"{side}: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
    return float(json.loads(found[-1])["steps_per_second"])


def compare(network: str, rounds: int = ROUNDS) -> tuple[float, str]:
    """Our plain path by the hand-written loop, the others in the remark; medians of the rounds."""
    sides = ["hand", "ours", *(["fast"] if network == "cnn" else [])]
    missing = "" if ASKED in os.environ else "; Lightning and Keras NOT MEASURED (--peer)"
    sides += [] if missing else list(PEERS)
    found: dict[str, list[float]] = {side: [] for side in sides}
    failed = {}
    for _ in range(rounds):
        for side in list(found):
            try:
                found[side].append(steps_per_second(side, network))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                if side in ("hand", "ours"):
                    raise
                failed[side] = str(error)
                del found[side]
    loop = statistics.median(found["hand"])
    shares = {side: statistics.median(speeds) / loop for side, speeds in found.items() if side != "hand"}
    words = [f"{side} {share:.2f} of the loop" for side, share in shares.items()]
    words += [f"{side} failed: {why}" for side, why in failed.items()]
    return shares["ours"], f"loop {loop:,.1f} steps/s; {', '.join(words)}{missing}"


@row("trainers-mlp", "training without a window, 20-32-4 MLP, against a hand-written loop", "ratio")
def mlp() -> tuple[float, str]:
    return compare("mlp")


@row("trainers-cnn", "training without a window, mnist-cnn, against a hand-written loop", "ratio")
def cnn() -> tuple[float, str]:
    return compare("cnn")
