"""The landscape in which states of a layer fall, and what it recalls.

A layer is seen where it has `step(x)`, the next states `(N, units)`, and `energy(x)`, `(N,)` or `(N, 1)`. One
whose `activation` is "saturating" steps by x <- clip(`weight` x + `bias`, -1, 1), units `in_turn` or at once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array, rows_of
from engine.look.energy.descent import SAME, Basins, Step, basins, paths, steady
from engine.look.energy.equilibria import MOST_UNITS, equilibria
from engine.look.energy.sampling import arriving, shape_before
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

SIDE = 61
STARTS = 30
RECALLED = 10
MOST_STEPS = 60
MOST_NUMBERS = 60_000


@probe_kind("energy", every=1.0)
def energy(look: Look, probe: Probe) -> Taken | None:
    """The energy of the states that follow 30 starts: `(starts, steps + 1)`.

    `rests` `(m, units)` are fixed points, each `stable` or not, and `levels` `(m,)` their energies; `ends` is
    the number of the rest of each start, -1 for none. A few saturating units are `scanned`: all their fixed
    points are listed, reached or not, except for `lines` of them. In the plane also `paths`
    `(starts, steps + 1, 2)`, `plane` `(61, 61)` of energies and `basins` of numbers of rests, the first row
    at the smallest y, over -`reach` to `reach`.
    """
    module, starts = _falling(look, probe.node_id, STARTS)
    with torch.no_grad(), evaluating(module):
        steps = min(MOST_STEPS, int(getattr(module, "steps", 20)) or 20)
        way = paths(module.step, starts, steps)  # type: ignore[arg-type]
        energies = _energies(module, way.flatten(0, 1)).reshape(len(way), len(starts)).T
        size = starts.shape[1]
        facts: dict[str, Any] = {"units": size, "example": look.example, "split": look.split}
        if size != 2:
            found = basins(module.step, starts)  # type: ignore[arg-type]
            return array(energies), {**facts, "ends": found.number.tolist(), **_rests(module, found)}
        reach = 1.15 * max(1.0, float(way.abs().max()))
        line = torch.linspace(-reach, reach, SIDE, device=look.device)
        y, x = torch.meshgrid(line, line, indexing="ij")
        places = torch.cat([torch.stack([x.flatten(), y.flatten()], 1), starts])
        found = basins(module.step, places, counted=SIDE * SIDE)  # type: ignore[arg-type]
        grid = found.number[: SIDE * SIDE]
        facts |= {
            "paths": array(way.transpose(0, 1)),
            "plane": array(_energies(module, places[: SIDE * SIDE]).reshape(SIDE, SIDE)),
            "basins": grid.reshape(SIDE, SIDE).cpu().numpy(),
            "ends": found.number[SIDE * SIDE :].tolist(),
            "reach": reach,
            **_rests(module, found),
        }
        return array(energies), facts


@probe_kind("recall", every=1.0)
def recall(look: Look, probe: Probe) -> Taken | None:
    """What becomes of ten disturbed patterns: states `(steps + 1, n, units)` float16, the first as given.

    `stored` `(n, units)` are the patterns that are compared with the answer, where something compares them,
    and `right` `(steps + 1, n)` the fraction of units whose sign is theirs.
    """
    module, starts = _falling(look, probe.node_id, RECALLED)
    units = starts.shape[1]
    with torch.no_grad(), evaluating(module):
        steps = int(getattr(module, "steps", 20)) or 20
        steps = max(1, min(steps, MOST_NUMBERS // (len(starts) * units)))
        way = paths(module.step, starts, steps)  # type: ignore[arg-type]
    facts: dict[str, Any] = {
        "shape": shape_before(look, probe.node_id, units),
        "example": look.example,
        "split": look.split,
        "stored": None,
        "right": None,
    }
    stored = _stored(look, probe.node_id, _rows(look, RECALLED))
    if stored is not None:
        agree = (way.sign() == stored.sign()).float().mean(2)
        facts |= {"stored": array(stored), "right": array(agree)}
    return way.to(torch.float16).cpu().numpy(), facts


def _rests(module: nn.Module, found: Basins) -> dict[str, Any]:
    """The fixed points that states fall to, and behind them those that a scan finds beside them."""
    step: Step = module.step  # type: ignore[assignment]
    rests, stable = list(found.rests), steady(step, found.rests).tolist()
    facts: dict[str, Any] = {"scanned": False, "lines": False}
    if getattr(module, "activation", "") == "saturating" and found.rests.shape[1] <= MOST_UNITS:
        held = dict(module.named_parameters())
        scan = equilibria(held["weight"], held["bias"], bool(getattr(module, "in_turn", False)))
        points = scan.points.to(found.rests)
        judged = torch.where(scan.told, scan.stable, steady(step, points).cpu()).tolist()
        near: dict[int, list[bool]] = {}
        for point, attracts in zip(points, judged, strict=True):
            same = [at for at, rest in enumerate(found.rests) if (rest - point).abs().max() < SAME]
            for at in same:
                near.setdefault(at, []).append(attracts)
            if not same:
                rests.append(point)
                stable.append(attracts)
        for at, attracting in near.items():
            stable[at] = any(attracting)
        facts = {"scanned": True, "lines": scan.lines}
    places = torch.stack(rests) if rests else found.rests
    levels = array(_energies(module, places)) if len(places) else array(places[:, 0])
    return {"rests": array(places), "stable": stable, "levels": levels, **facts}


def _falling(look: Look, node_id: str, count: int) -> tuple[nn.Module, Tensor]:
    """A layer with an energy, and the states (n, units) from which examples start."""
    module = look.module(node_id)
    if module is None or not (hasattr(module, "step") and hasattr(module, "energy")):
        raise NeuroloomError("The states of this layer have no energy.", node_id=node_id)
    return module, arriving(look, node_id, _rows(look, count))


def _rows(look: Look, count: int) -> dict[str, Tensor]:
    """The pinned example, and others that are spread over the data; it may come in blocks or in turn."""
    total = look.rows()
    at = list(
        dict.fromkeys(
            [
                look.example,
                *(index * total // count + index % max(1, total // count) for index in range(count)),
            ]
        )
    )[:count]
    return rows_of(look, at)


def _energies(module: nn.Module, states: Tensor) -> Tensor:
    found: Tensor = module.energy(states)  # type: ignore[operator]
    return found.reshape(len(states))


def _stored(look: Look, node_id: str, batch: dict[str, Tensor]) -> Tensor | None:
    graph = look.program.project.graph
    for link in graph.outgoing(node_id):
        target = graph.feeding(link.target, "target")
        if target is not None and link.target_port == "prediction" and target.source_port in batch:
            value = batch[target.source_port]
            return value.reshape(len(value), -1).float()
    return None
