"""A procedure's states, one after the other, for a view that steps through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.emit.procedures import Compiled
from engine.errors import NeuroloomError, reason_of
from engine.feed.feed import Probe
from engine.look.asking import array, rows_of
from engine.look.generation.generation import as_images
from engine.look.predictions.boxes import images_before
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating
from engine.procedures.declare import Offer
from engine.procedures.registry import offer_called, offers
from engine.procedures.rows import state_in_words

MOST_STATES = 400
MOST_NUMBERS = 400_000


def asked_for(offer: Offer, values: dict[str, Any], seed: int) -> tuple[str | int | float, ...]:
    """The detail of a probe that runs a procedure with these values."""
    typed = ((spec.name, spec.format(values[spec.name])) for spec in offer.params if spec.name in values)
    return (offer.name, seed, *(text for pair in typed for text in pair))


@probe_kind("procedure", every=2.0, apart=True)
def procedure(look: Look, probe: Probe) -> Taken | None:
    """What a procedure yields: of each state what it shows, `(states, ...)`, images as they are drawn.

    `detail` is (name, seed, then each parameter and its value as text). `words` are the states in words,
    `texts` what they say where they show a text; `tree` are the levels of a beam search, of each continuation
    (parent, token, log-probability, whether it is kept); `inputs` are the images that boxes were found in,
    and `found` their number, class, corners and probability; `cut` says that more states would have come.
    """
    name, seed = str(probe.detail[0]), int(probe.detail[1])
    offer = offer_called(offers(look.program.project, look.program.book), name)
    texts = [str(one) for one in probe.detail[2:]]
    given = {spec.name: spec for spec in offer.params}
    typed = dict(zip(texts[::2], texts[1::2], strict=True))
    values = offer.checked({key: given[key].parse(text) for key, text in typed.items() if key in given})
    split = str(values.get("split", look.split))
    rows = [row for row in values.get("rows", (0,)) if row < look.rows(split)]
    if not rows:
        raise NeuroloomError(f"Rows of the {split} split are numbers from 0 to {look.rows(split) - 1}.")
    kept: list[dict[str, Any]] = []
    numbers, cut = 0, False
    try:
        with evaluating(look.model):
            batch = rows_of(look, rows, split)
            for state in Compiled(look.program, offer).states(look.model, batch, values, seed):
                look.check()
                cut = len(kept) >= MOST_STATES or numbers > MOST_NUMBERS
                if cut:
                    break
                kept.append(state)
                numbers += sum(value.numel() for value in state.values() if isinstance(value, Tensor))
    except (ValueError, RuntimeError) as error:
        raise NeuroloomError(reason_of(error), node_id=offer.bound.node_id) from error
    facts = {"name": name, "cut": cut, "split": split, "rows": tuple(rows), "seed": seed}
    if kept and all("box" in state for state in kept):
        facts |= _boxes(kept, images_before(look, offer.bound.node_id, batch))
    return _shown(offer, kept, facts)


def _tree(states: list[dict[str, Any]]) -> dict[str, Any]:
    if not all("parents" in state for state in states):
        return {}
    tree = []
    for state in states:
        listed = [state[name].tolist() for name in ("parents", "log_probabilities", "kept")]
        tree.append(tuple(zip(listed[0], state["names"], *listed[1:], strict=True)))
    best = tuple(state["log_probability"] for state in states)
    return {"tree": tuple(tree), "log_probabilities": best}


def _boxes(states: list[dict[str, Any]], images: Tensor | None) -> dict[str, Any]:
    if images is None:
        return {}
    found = [[one["row"], one["class"], *one["box"].tolist(), one["probability"]] for one in states]
    return {"inputs": array(images), "found": np.array(found, np.float32)}


def _shown(offer: Offer, states: list[dict[str, Any]], facts: dict[str, Any]) -> Taken | None:
    key = next((one for one in offer.procedure.shows if states and one in states[0]), "")
    states = [state for state in states if key in state]
    if not states:
        return None
    told = "" if "found" in facts else key  # boxes are told as well, as they are few numbers
    rest = [{name: value for name, value in state.items() if name != told} for state in states]
    facts |= {"key": key, "words": tuple(state_in_words(state) for state in rest)}
    values = [state[key] for state in states]
    if not isinstance(values[0], Tensor):
        texts = {"texts": tuple(map(str, values)), "tags": tuple(str(one.get("tag", "")) for one in states)}
        return np.arange(len(states)), facts | texts | _tree(states)
    found = torch.stack(values).detach().float().cpu()
    single = found.dim() == 2 or (found.dim() == 4 and found.shape[1] in (1, 3))  # of one example
    by_example = found[:, None] if single else found
    shape = tuple(by_example.shape[2:])
    if len(shape) == 3 or (len(shape) == 1 and shape[0] > 16):
        flat = by_example.flatten(0, 1)
        images = as_images(flat, shape)
        if images.ndim > 2 and len(images) == len(flat):
            return images.reshape(*by_example.shape[:2], *images.shape[1:]), {**facts, "images": True}
    return by_example.flatten(2).numpy(), {**facts, "images": False}
