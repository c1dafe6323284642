"""Opens a large table and trains one epoch of it, alone, so that the memory it takes can be told.

Prints as JSON: peak MiB of opening, seconds of reading and of the epoch, peak MiB of all.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from engine.catalogue import load_catalogue
from engine.data.open.opening import open_data
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.train.headless import run_headless


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def project_of(path: Path, memory: int) -> Project:
    """Scores for the two classes of the column y."""
    nodes = [
        Node("n1", "TableFile", params={**open_data(path).params, "memory": memory}),
        Node("n2", "Linear", params={"units": 2}),
        Node("n3", "CrossEntropy"),
    ]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", "y", "n3", "target"),
    ]
    return Project(
        title="Large", graph=Graph(nodes, links), plan=Plan().with_(batch=512, epochs=1), next_id=4
    )


def main(path: Path, memory: int) -> None:
    project = project_of(path, memory)
    opened, started, began = peak(), [], time.perf_counter()
    run_headless(
        project,
        load_catalogue(),
        datasets_folder(),
        seed=0,
        device="cpu",
        on_start=lambda run: started.append(time.perf_counter() - began),
        on_line=lambda record: None,
    )
    epoch = time.perf_counter() - began - started[0]
    print(json.dumps([opened, started[0], epoch, peak()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
