"""A training thread allocates as cheaply as a script does."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys, threading
from engine.train.memory import share_one_heap

if sys.argv[1] == "shared":
    assert share_one_heap()
import torch

torch.set_num_threads(1)

def batches():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 16, 3))
    images = torch.rand(64, 1, 28, 28)
    for batch in range(24):
        model(images).square().mean().backward()
        if batch % 6 == 5:
            seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)

seen = []
thread = threading.Thread(target=batches)
thread.start()
thread.join()
# The heap may still grow in one stretch; without sharing it is mapped anew in each.
print(min(after - before for before, after in zip(seen, seen[1:])) // 6)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other C libraries keep one heap anyway")
def test_buffers_that_come_and_go_with_each_batch_are_not_mapped_anew() -> None:
    def faults(heap: str) -> int:
        found = subprocess.run(
            [sys.executable, "-c", PROGRAM, heap], capture_output=True, text=True, check=True
        )
        return int(found.stdout)

    assert faults("shared") < 100  # pages a batch; its buffers have 5,000


SCATTERED = """
from pathlib import Path
from engine.train.memory import give_back, share_one_heap

assert share_one_heap()

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

pieces = [b"1" * 2**16 for _ in range(1600)]
kept = pieces[::40]
del pieces
before = resident()
assert give_back()
print(round(before - resident()), len(kept))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other C libraries have no such call")
def test_what_is_free_between_what_is_kept_is_given_back() -> None:
    found = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True)
    freed, kept = map(int, found.stdout.split())
    assert freed >= 80 and kept == 40
