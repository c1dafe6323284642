"""Begins a run with weights that were learned elsewhere: a run's, a safetensors file's, a PyTorch file's.

A layer takes weights of the same name and shape; layers that are left are matched in their order, where all
shapes of a layer fit. Nothing is unpickled that could run code: a `.pt` file is read with weights_only.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.errors import TrainingError, reason_of
from engine.runs import checkpoints
from engine.runs.branch import run_of

if TYPE_CHECKING:
    from engine.emit.program import Program

PICKLED = (".pt", ".pth", ".bin", ".ckpt")
FILTER = "Weights (*.safetensors *.pt *.pth *.bin *.ckpt)"
_INSIDE = ("state_dict", "model_state_dict", "model", "weights", "net", "module")
_WRAPPED = ("module.", "_orig_mod.", "model.")
_COUNTERS = "num_batches_tracked"  # of batch norm: old files lack it

Tensors = dict[str, Tensor]
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Match:
    """One layer of the model: where its weights come from, or why it starts from first weights.

    `how` is name, order, part (only some of its weights fit) or none; `count` is its number of weights.
    """

    layer: str
    how: str
    source: str = ""
    why: str = ""
    count: int = 0
    node_id: str = ""


@dataclass(frozen=True)
class Report:
    """What came of matching. `pairs` are the names of tensors, the model's and the file's."""

    source: str
    layers: tuple[Match, ...]
    unused: tuple[str, ...]  # layers in the file that nothing here took
    pairs: tuple[tuple[str, str], ...]

    @property
    def matched(self) -> int:
        return sum(one.how != "none" for one in self.layers)

    def head(self) -> str:
        """What came of it, in one sentence."""
        total = sum(one.count for one in self.layers)
        taken = sum(one.count for one in self.layers if one.how in ("name", "order"))
        part = f"{taken:,} of {total:,} weights" if total else "no weights"
        return f"{self.matched} of {len(self.layers)} layers take weights from {self.source} ({part})."

    def lines(self) -> list[str]:
        """One line a layer, then what the file holds beside."""
        wide = max((len(one.layer) for one in self.layers), default=0)
        found = [f"{one.layer:{wide}}  {in_words(one)}" for one in self.layers]
        if self.unused:
            found.append(f"Not used: {', '.join(self.unused)}")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "layers": [
                {"layer": m.layer, "how": m.how, "from": m.source, "why": m.why, "node": m.node_id}
                for m in self.layers
            ],
            "unused": list(self.unused),
        }


def in_words(match: Match) -> str:
    """What happens to a layer."""
    return {
        "name": f"from {match.source}, by its name",
        "order": f"from {match.source}, by its place and shape",
        "part": f"in part from {match.source}: {match.why}",
    }.get(match.how, f"starts from first weights: {match.why}")


# -- reading


def read_weights(place: Path) -> Tensors:
    """The weights in a run's folder (best, else last), a kept checkpoint, a safetensors or a .pt file.

    Errors: `TrainingError` when there are none, or when the file holds more than weights.
    """
    if place.is_dir():
        if (place / "settings.json").is_file():
            return checkpoints.load_weights(checkpoints.weights_file(place))
        tensors, _ = checkpoints.load(place)
        return {n.removeprefix("model/"): t for n, t in tensors.items() if n.startswith("model/")}
    if not place.is_file():
        raise TrainingError(f"There is no file {place}.")
    found = _read_pickled(place) if place.suffix.casefold() in PICKLED else checkpoints.load_weights(place)
    if any(name.startswith("model/") for name in found):  # the tensors of a checkpoint
        found = {n.removeprefix("model/"): t for n, t in found.items() if n.startswith("model/")}
    return _unwrapped(found)


def _read_pickled(path: Path) -> Tensors:
    try:
        found: Any = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise TrainingError(
            f"{path.name} holds more than weights, and Neuroloom runs no code from a file.",
            fix="Save it in PyTorch with torch.save(model.state_dict(), path).",
        ) from error
    except Exception as error:  # a reader of strange bytes may raise anything
        raise TrainingError(f"The weights in {path.name} cannot be read: {reason_of(error)}.") from error
    for _ in range(3):
        if isinstance(found, Mapping) and not any(isinstance(value, Tensor) for value in found.values()):
            found = next((found[name] for name in _INSIDE if name in found), found)
    if not isinstance(found, Mapping):
        raise TrainingError(f"{path.name} holds no weights by name.", fix="Save a model's state_dict().")
    tensors = {str(name): value for name, value in found.items() if isinstance(value, Tensor)}
    if not tensors:
        raise TrainingError(f"{path.name} holds no weights.", fix="Save a model's state_dict().")
    return tensors


def _unwrapped(tensors: Tensors) -> Tensors:
    """Without the name that DataParallel, torch.compile or a wrapper class has put before all names."""
    for prefix in _WRAPPED:
        if tensors and all(name.startswith(prefix) for name in tensors):
            return _unwrapped({name.removeprefix(prefix): value for name, value in tensors.items()})
    return tensors


# -- matching


def match(mine: Shapes, found: Shapes, source: str, modules: Mapping[str, str] | None = None) -> Report:
    """Match tensors by name and shape, then whole layers by order and shape.

    `mine` and `found` are shapes by tensor name in order; `modules` gives the path of each node's module.
    """
    here, there = _by_layer(mine), _by_layer(found)
    pairs: dict[str, str] = {name: name for name in mine if name in found and mine[name] == found[name]}
    sources: dict[str, tuple[str, str]] = {}
    for layer, tensors in here.items():
        taken = [name for name in tensors if name in pairs]
        missing = [name for name in tensors if name not in pairs and not name.endswith(_COUNTERS)]
        if taken and not all(name.endswith(_COUNTERS) for name in taken):
            sources[layer] = ("part" if missing else "name", layer)
    free_here = [layer for layer in here if layer not in sources]
    free_there = [layer for layer in there if layer not in sources]
    tokens_here = [_token(layer, here[layer], mine) for layer in free_here]
    tokens_there = [_token(layer, there[layer], found) for layer in free_there]
    for block in SequenceMatcher(None, tokens_here, tokens_there, False).get_matching_blocks():
        for offset in range(block.size):
            layer, other = free_here[block.a + offset], free_there[block.b + offset]
            sources[layer] = ("order", other)
            named = {name[len(other) :]: name for name in there[other]}
            pairs |= {n: named[n[len(layer) :]] for n in here[layer] if n[len(layer) :] in named}
    nodes = {path: node_id for node_id, path in (modules or {}).items()}
    layers = tuple(_match(layer, here, mine, found, sources, pairs, nodes) for layer in here)
    used = {other for _, other in sources.values()}
    return Report(source, layers, tuple(one for one in there if one not in used), tuple(pairs.items()))


def _by_layer(shapes: Shapes) -> dict[str, list[str]]:
    layers: dict[str, list[str]] = {}
    for name in shapes:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    return layers


def _token(layer: str, names: list[str], shapes: Shapes) -> tuple[Any, ...]:
    return tuple(sorted((n[len(layer) :], shapes[n]) for n in names if not n.endswith(_COUNTERS)))


def _match(
    layer: str,
    here: Mapping[str, list[str]],
    mine: Shapes,
    found: Shapes,
    sources: Mapping[str, tuple[str, str]],
    pairs: Mapping[str, str],
    nodes: Mapping[str, str],
) -> Match:
    how, other = sources.get(layer, ("none", ""))
    count = sum(torch.Size(mine[name]).numel() for name in here[layer])
    left = [name for name in here[layer] if name not in pairs and not name.endswith(_COUNTERS)]
    why = "; ".join(_why(name, mine, found) for name in left)
    node_id = next((id for path, id in nodes.items() if layer == path or layer.startswith(f"{path}.")), "")
    return Match(layer or "the model itself", how, other, "" if how == "order" else why, count, node_id)


def _why(name: str, mine: Shapes, found: Shapes) -> str:
    part = name.rpartition(".")[2]
    if name in found:
        return f"its {part} is {_size(mine[name])} here and {_size(found[name])} there"
    return f"nothing there has its name or, in order, its shape ({part} {_size(mine[name])})"


def _size(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a single number"


# -- applying


def shapes_of(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}


def _source(place: Path) -> str:
    """What to call the weights in a sentence: a file by its name, those of a run with the run's."""
    run = run_of(place)
    if run == place and not place.is_dir():
        run = place.parent if (place.parent / "settings.json").is_file() else place
    return place.name if run == place else f"{place.name} of {run.name}"


def preview(program: Program, place: Path) -> Report:
    """What `warm_start` would do with a program's model, without making its weights.

    Errors: `TrainingError` as for `warm_start`, except that nothing need fit.
    """
    found = read_weights(place)
    # On the meta device: a run that trains beside must not lose random numbers to these layers.
    with torch.device("meta"):
        model = program.Model()
    return match(shapes_of(model.state_dict()), shapes_of(found), _source(place), program.modules)


def warm_start(model: nn.Module, place: Path, modules: Mapping[str, str] | None = None) -> Report:
    """Give the layers of a model the weights that fit them; the others keep those they began with.

    Errors: `TrainingError` when the weights cannot be read or none of them fit.
    """
    found = read_weights(place)
    state = model.state_dict()
    report = match(shapes_of(state), shapes_of(found), _source(place), modules)
    if not report.matched:
        raise TrainingError(
            f"None of the weights in {place.name} fit this network.",
            fix="Layers fit where their names and shapes are the same, or their shapes in the same order.",
        )
    with torch.no_grad():
        for name, other in report.pairs:
            state[name].copy_(found[other])
    return report


def recorded(report: Report, place: Path) -> dict[str, Any]:
    """What a run remembers of the weights that it began with."""
    return {"file": str(place), "layers": report.matched, "of": len(report.layers)}
