"""How fast a decoder writes, and how fast it trains beside a loop written by hand."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from engine.catalogue import load_catalogue
from engine.document.graph import Project
from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.speed import compare

if TYPE_CHECKING:
    from tests.bench.reference import HandWritten

WRITTEN = 256
ROUNDS = 2


def wide_decoder() -> Project:
    """The example of a decoder with a window of 256 letters, four layers, 256 features and 8 heads."""
    project = gallery_project("char-decoder")
    changes: dict[str, dict[str, Any]] = {
        "play": {"length": 256},
        "letters": {"size": 256},
        "layers": {"times": 4},
        "attention": {"heads": 8},
        "wide": {"units": 1024},
        "narrow": {"units": 256},
    }
    for _, graph in project.graphs():
        for node in graph.nodes.values():
            node.params.update(changes.get(node.name, {}))
    return project


@row(
    "kv-cache",
    "256 tokens with the cache of keys and values against without, the same tokens",
    "times",
    ">= 5",
)
def kv_cache() -> tuple[float, str]:
    """In the application and in an exported script, in turns in one process; the slower of the two counts."""
    import torch

    from engine.document.shipped import datasets_folder
    from engine.emit.procedures import Compiled
    from engine.emit.program import compile_program
    from engine.emit.script import export_script
    from engine.procedures.registry import offer_called, offers

    project, catalogue = wide_decoder(), load_catalogue()
    program = compile_program(project, catalogue)
    torch.manual_seed(0)
    model = program.make_model("cpu").eval()
    batch = {name: rows[:1] for name, rows in program.load(datasets_folder())["validation"].items()}
    offer = offer_called(offers(program.project, program.book), "generate")
    options = {"length": WRITTEN, "method": "greedy"}
    made = Compiled(program, offer)

    def here(cache: bool) -> Iterator[dict[str, Any]]:
        return made.states(model, batch, {**options, "cache": cache})

    module = sys.modules["exported"] = ModuleType("exported")  # where a dataclass looks for its module
    module.__file__ = "exported.py"
    script = vars(module)
    exec(compile(export_script(project, catalogue).text, "exported.py", "exec"), script)
    alone = script["Model"]().eval()
    alone.load_state_dict(model.state_dict())
    given = {spec.name: spec.default for spec in offer.options} | options

    def exported(cache: bool) -> Iterator[dict[str, Any]]:
        taken = {**given, "cache": cache}
        found: Iterator[dict[str, Any]] = script["generate"](alone, batch, torch.Generator(), **taken)
        return found

    ratios, words = [], []
    for title, write in (("application", here), ("export", exported)):
        seconds, texts = _timed(write)
        if texts[True] != texts[False]:
            raise RuntimeError(f"The {title} writes another text with the cache.")
        ratios.append(seconds[False] / seconds[True])
        words.append(f"{title} {ratios[-1]:.1f}: {seconds[False]:.1f} s to {seconds[True]:.2f} s")
    return min(ratios), "; ".join(words)


def _timed(
    write: Callable[[bool], Iterator[dict[str, Any]]],
) -> tuple[dict[bool, float], dict[bool, list[int]]]:
    """The least seconds that writing takes with and without the cache, and the tokens."""
    seconds: dict[bool, float] = {}
    texts: dict[bool, list[int]] = {}
    for _ in range(ROUNDS):
        for cache in (True, False):
            began = time.perf_counter()
            *_, last = write(cache)
            passed = time.perf_counter() - began
            seconds[cache] = min(passed, seconds.get(cache, passed))
            texts[cache] = last["tokens"]
    return seconds, texts


def gpt_by_hand() -> HandWritten:
    """The loop over the text of the example char-decoder, with the network that it draws."""
    from engine.document.shipped import datasets_folder
    from engine.emit.program import compile_program
    from tests.bench.reference import Gpt, HandWritten, OfEachToken

    project = gallery_project("char-decoder")
    data = compile_program(project, load_catalogue()).load(datasets_folder())
    batch = project.plan.batch
    return HandWritten(Gpt(), OfEachToken(), data, ("tokens", "next"), batch=batch)


@row(
    "speed-gpt",
    "steps per second of char-decoder in the window against a hand-written loop",
    "ratio",
    ">= 0.95",
)
def gpt() -> tuple[float, str]:
    return compare(gallery_project("char-decoder"), gpt_by_hand)
