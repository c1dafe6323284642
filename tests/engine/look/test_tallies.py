"""What is counted in passing costs a run no more than its counting."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from engine.train.headless import run_headless
from tests.engine.train.networks import DATASETS, catalogue, iris
run_headless(iris(epochs=1), catalogue(), DATASETS, device="cpu")
print(sorted(name for name in sys.modules if name.startswith("engine.look.") and name.count(".") == 3))
"""


def test_a_run_without_views_imports_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['engine.look.predictions.confusion']"
