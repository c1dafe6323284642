"""The same measurement with NodeGraphQt, in an environment of its own, for whoever asks with `--peer`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from engine.catalogue import Catalogue, load_catalogue
from engine.document.graph import Graph

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench-peer"
PACKAGES = ("NodeGraphQt==0.6.44", "PySide6-Essentials==6.7.3", "setuptools<80")
ASKED = "NEUROLOOM_BENCH_PEER"  # set for the rows' processes: the Python of the environment
LONGEST_SECONDS = 300


def prepare() -> None:
    """Make the environment if it is not there, and let the rows know. CalledProcessError if pip fails."""
    python = FOLDER / "bin" / "python"
    if not (FOLDER / "ready").exists():
        sys.stderr.write(f"Installing {', '.join(PACKAGES)} into {FOLDER.relative_to(ROOT)}\n")
        venv.create(FOLDER, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (FOLDER / "ready").write_text("\n".join(PACKAGES))
    os.environ[ASKED] = str(python)


def beside(measure: str, graph: Graph, unit: str) -> str:
    """What NodeGraphQt needs for the same, as a remark; says so when nobody asked for it."""
    python = os.environ.get(ASKED)
    if python is None:
        return "NodeGraphQt NOT MEASURED (--peer)"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for name in ("PYTHONPATH", "QT_PLUGIN_PATH", "VIRTUAL_ENV"):
        environment.pop(name, None)
    try:
        done = subprocess.run(
            [python, Path(__file__).with_name("peer_program.py")],
            input=json.dumps({"measure": measure, **_plain(graph, load_catalogue())}),
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"NodeGraphQt had not finished after {LONGEST_SECONDS} s"
    found = [line for line in done.stdout.splitlines() if line.startswith('{"value"')]
    if not found:
        return f"NodeGraphQt failed: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}"
    return f"NodeGraphQt {json.loads(found[-1])['value']:,.4g} {unit}"


def _plain(graph: Graph, catalogue: Catalogue) -> dict[str, list[list[object]]]:
    """The graph for a program that knows nothing of ours: every node with the ports that links use."""
    nodes: list[list[object]] = []
    for id, node in graph.nodes.items():
        kind = catalogue.get(node.type)
        made = kind(node.params) if kind is not None else None
        outputs = {link.source_port for link in graph.outgoing(id)}
        if made is not None:
            outputs |= {port.name for port in made.outputs()}
        inputs = sorted({link.target_port for link in graph.incoming(id)})
        nodes.append([id, inputs, sorted(outputs), *node.position])
    links: list[list[object]] = [
        [link.source, link.source_port, link.target, link.target_port] for link in graph.links
    ]
    return {"nodes": nodes, "links": links}
