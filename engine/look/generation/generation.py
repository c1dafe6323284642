"""What a network generates from codes, and how two players stand."""

from __future__ import annotations

from math import isqrt, prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.catalogue import Loss
from engine.catalogue.traits import Player
from engine.data.batch import rows_at
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.generation.latent import spaced, two_directions
from engine.look.layers.geometry import classes_of, labelled, split_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.procedures.codes import between
from engine.procedures.latents import Latent, latent_of

CODES = 256
ROWS = 64
SAMPLES = 16
MOST_MOMENTS = 400
MOST_PIXELS = 50_000
SEEDS = 1_000_003


# -- codes and what is made of them


@probe_kind("codes", every=1.0)
def codes(look: Look, probe: Probe) -> Taken | None:
    """Codes of examples in the plane of two numbers: `(n, 3)` x, y and label; draws of a source.

    `detail` is (i, j), the numbers, or (-1, -1) for the two directions in which codes vary most. The label is
    NaN where there is none; `classes` are their names.
    """
    latent = _latent(look, probe)
    i, j = _axes(probe.detail, latent)
    known = _codes(look, latent)
    facts: dict[str, Any] = {"size": latent.size, "drawn": latent.spread is not None, "names": _names(i, j)}
    places = array(_to_plane(known, known, i, j))
    if latent.spread is not None:
        return np.column_stack([places, np.full(len(places), np.nan)]).astype(np.float32), facts
    return labelled(look, places, len(places)), {**facts, **classes_of(look, len(places))}


@probe_kind("decoding", every=0.25)
def decoding(look: Look, probe: Probe) -> Taken | None:
    """Samples that the network generates from codes: images `(n, h, w)` or `(n, h, w, 3)`, or rows `(n, k)`.

    `detail` is (way, i, j, base, ...): the codes go through place (x, y) of the plane of numbers i and j
    ("point"), over a grid of so many that have equal parts of the prior between them ("grid", count), or
    from one example or draw to another ("way", from, to, count). Without x and y the point is where the base
    is. What the plane leaves open is 0, or the
    mean of the codes; with a base of k, it is as in the k-th draw or example.
    """
    latent = _latent(look, probe)
    way = str(probe.detail[0])
    i, j = _axes(probe.detail[1:3], latent)
    base = int(probe.detail[3])
    rest = [float(value) for value in probe.detail[4:]]
    known = _codes(look, latent)
    facts: dict[str, Any] = {"size": latent.size, "shape": latent.shape, "names": _names(i, j)}
    if way == "way":
        first, last, count = (int(value) for value in rest[:3])
        ends = known[first % len(known)], known[last % len(known)]
        asked = between(*ends, count, round_=latent.spread is not None and latent.spread[0] == "normal")
        facts["ends"] = (first % len(known), last % len(known))
        facts["drawn"] = latent.spread is not None
    else:
        fixed = known[(base - 1) % len(known)] if base else _middle(known, latent)
        if way == "grid":
            places = _grid(known, latent, i, j, int(rest[0]))
        else:
            places = torch.tensor([rest[:2]]) if rest else _to_plane(fixed[None], known, i, j)
        asked = _from_plane(places.to(known), fixed, known, i, j)
        facts["places"] = places.cpu().numpy()
    return as_images(_made(look, latent, asked), latent.shape), facts


def _latent(look: Look, probe: Probe) -> Latent:
    found = latent_of(look.program.project, look.program.book, probe.node_id)
    if found is None:
        raise NeuroloomError("Nothing here is generated from a few numbers.", node_id=probe.node_id)
    return found


def _axes(detail: tuple[Any, ...], latent: Latent) -> tuple[int, int]:
    i, j = (int(value) for value in detail[:2]) if len(detail) > 1 else (-1, -1)
    inside = 0 <= i < latent.size and 0 <= j < latent.size and i != j
    return (i, j) if inside else (-1, -1)


def _names(i: int, j: int) -> tuple[str, str]:
    return ("direction 1", "direction 2") if i < 0 else (f"number {i + 1}", f"number {j + 1}")


def _codes(look: Look, latent: Latent) -> Tensor:
    """Codes (n, size): of the first examples, or draws that are always the same."""
    if latent.spread is None:
        node, port = latent.code
        value = look.value(node, look.batch(0, CODES, split_of(look)), port)
        if value is None:
            raise NeuroloomError("Nothing in this plan computes the codes.")
        return value.detach().reshape(len(value), -1).float()
    kind, size = latent.spread
    own = torch.Generator().manual_seed(SEEDS)
    if kind == "even":
        drawn = (2 * torch.rand(CODES, latent.size, generator=own) - 1) * size
    else:
        drawn = torch.randn(CODES, latent.size, generator=own) * size
    return drawn.to(look.device)


def _middle(known: Tensor, latent: Latent) -> Tensor:
    return known.mean(0) if latent.spread is None else torch.zeros_like(known[0])


def _to_plane(codes: Tensor, known: Tensor, i: int, j: int) -> Tensor:
    return (codes - known.mean(0)) @ two_directions(known).T if i < 0 else codes[:, [i, j]]


def _from_plane(places: Tensor, fixed: Tensor, known: Tensor, i: int, j: int) -> Tensor:
    """The codes (n, size) at places (n, 2) of the plane that are as `fixed` in all that it leaves open."""
    if i < 0:
        directions = two_directions(known)
        return fixed + (places - (fixed - known.mean(0)) @ directions.T) @ directions
    asked = fixed.repeat(len(places), 1)
    asked[:, i], asked[:, j] = places[:, 0], places[:, 1]
    return asked


def _grid(known: Tensor, latent: Latent, i: int, j: int, count: int) -> Tensor:
    """Places (count², 2), row by row from the top, spaced as the prior is or as the codes are."""
    if latent.spread is not None:
        across = down = spaced(count, latent.spread)
    else:
        flat = _to_plane(known, known, i, j).cpu()
        across, down = (
            flat[:, axis].mean() + spaced(count) * flat[:, axis].std(correction=0) for axis in (0, 1)
        )
    y, x = torch.meshgrid(down.flip(0), across, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], 1)


def _made(look: Look, latent: Latent, asked: Tensor) -> Tensor:
    """Samples that the network generates from codes (n, size): `(n, ...)`."""
    node, port = latent.code
    signature = look.program.book.signature(node, port)
    shape = signature.shape if signature is not None else (latent.size,)
    batch = look.repeated(len(asked))
    with look.program.giving({(node, port): asked.reshape(len(asked), *shape)}):
        found = look.value(latent.made[0], batch, latent.made[1])
    if found is None:
        raise NeuroloomError("Nothing in this plan generates examples from the codes.")
    return found.detach()


def as_images(value: Tensor, shape: tuple[int, ...]) -> NDArray[Any]:
    """Images as they are drawn, 50,000 numbers at most; a square number in a row is taken for an image."""
    value = value.float()
    if len(shape) == 3 and shape[0] in (1, 3):
        value = value[:, 0] if shape[0] == 1 else value.permute(0, 2, 3, 1)
    else:
        side = isqrt(prod(shape))
        flat = value.reshape(len(value), -1)
        value = flat.reshape(len(value), side, side) if side * side == prod(shape) and side > 3 else flat
    most = max(1, MOST_PIXELS // prod(value.shape[1:]))
    return array(value[:most])


# -- two players


@probe_kind("players", every=0.5)
def players(look: Look, probe: Probe) -> Taken | None:
    """How a discriminator and a generator stand, through time: `(moments, 5)`.

    Step, mean D(x), mean D(G(z)), and the two losses, for 64 examples at each moment since somebody looks.
    `samples` are images generated now from draws that stay the same. D is the sigmoid of the
    score. Source: Goodfellow et al. 2014.
    """
    graph, types = look.program.project.graph, look.program.book.types
    trained = {made.traits.trains: one for one, made in reversed(types.items()) if isinstance(made, Loss)}
    judge, maker = trained.get(Player.DISCRIMINATOR), trained.get(Player.GENERATOR)
    if judge is None:
        raise NeuroloomError("There is no discriminator here.")
    wires = {port: graph.feeding(judge, port) for port in ("real", "made")}
    losses = [judge, maker] if maker is not None else [judge]
    wanted = {link.source for link in wires.values() if link is not None} | set(losses)
    own = torch.Generator().manual_seed(look.step)
    rows = torch.randint(max(1, look.rows()), (min(ROWS, look.rows()),), generator=own)
    batch = rows_at(look.data[look.split], rows.to(look.device))
    seen = look.values(wanted, batch)
    row: list[float] = [float(look.step)]
    for port in ("real", "made"):
        link = wires[port]
        value = None if link is None else seen.get(link.source, {}).get(link.source_port)
        row.append(float("nan") if value is None else value.float().sigmoid().mean().item())
    for one in (judge, maker):
        value = None if one is None else next(iter(seen.get(one, {}).values()), None)
        row.append(float("nan") if value is None else value.float().mean().item())
    past: list[list[float]] = [one for one in look.memory.get("players", []) if one[0] < look.step]
    past.append(row)
    if len(past) > MOST_MOMENTS:
        past = [*past[:-1:2], past[-1]]
    look.memory["players"] = past
    facts: dict[str, Any] = {"samples": None, "names": ("D(x)", "D(G(z))")}
    source = _source(look, judge)
    if source is not None:
        facts["samples"] = as_images(_made(look, source, _codes(look, source)[:SAMPLES]), source.shape)
    return np.array(past, np.float64), facts


def _source(look: Look, judge: str) -> Latent | None:
    for one, made in look.program.book.types.items():
        if made.kind == "source" and judge in look.program.project.graph.descendants(one):
            return latent_of(look.program.project, look.program.book, one)
    return None
