"""Rollout against products written out, and patches where they lie on the image."""

import numpy as np
import torch

from engine.emit.program import compile_program
from engine.feed.feed import Probe
from engine.look.pixels import PatchGrid, patches_behind
from engine.look.registry import probe_kinds
from engine.look.sequences.rollout import rolled_out
from engine.look.sight import Look
from engine.shapes.shapes import check
from tests.engine.sketches import Sketch, catalogue, gallery


def small(times: int = 2, *, own_weights: bool = True) -> Look:
    """Three random images, not trained, through the attention (n23) of a block that is repeated."""
    project = gallery("vit-mnist")
    node = next(one for one in project.graph.nodes.values() if one.type == "Block")
    node.params["times"], node.params["own_weights"] = times, own_weights
    program = compile_program(project, catalogue())
    torch.manual_seed(0)
    rows = {"image": torch.rand(3, 1, 28, 28), "digit": torch.zeros(3, dtype=torch.int64)}
    return Look(program, program.make_model("cpu"), {"validation": rows}, (), "cpu", 1, 0)


def taken(look: Look, what: str, node_id: str, *detail: int) -> tuple[np.ndarray, dict[str, object]]:
    found = probe_kinds()[what].take(look, Probe(node_id, what, detail))
    assert isinstance(found, tuple)
    return found[0], dict(found[1])


def test_it_is_the_product_of_attention_and_skips_written_out() -> None:
    first = torch.tensor(
        [[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]
    )  # two heads: mean 1/2 everywhere
    second = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])
    found = rolled_out([first, second])
    # (A + I) / 2 is [[3/4, 1/4], [1/4, 3/4]], then [[1/2, 1/2], [0, 1]] times that
    expected = [[[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75]]]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_the_repeats_of_a_block_are_its_layers_one_by_one() -> None:
    look = small()
    ways = [taken(look, "attention", "n23", number)[0].astype(float).mean(0) for number in (0, 1)]
    found, facts = taken(look, "attention_rollout", "n23")
    depths = [(ways[0] + np.eye(17)) / 2]
    depths.append((ways[1] + np.eye(17)) / 2 @ depths[0])
    np.testing.assert_allclose(found, depths, atol=1e-3)
    np.testing.assert_allclose(found.sum(2), 1, atol=1e-5)
    assert facts["grid"] == (4, 4, 1)
    np.testing.assert_array_equal(facts["image"], look.data["validation"]["image"][1, 0])


def test_weights_that_are_used_twice_are_two_layers() -> None:
    look = small(3, own_weights=False)
    assert taken(look, "attention_rollout", "n23")[0].shape == (3, 17, 17)
    assert taken(look, "attention", "n23")[1]["modules"] == ("",)


def sketched(*, token: bool) -> PatchGrid | None:
    """How the patches lie that arrive at attention."""
    sketch = Sketch()
    data = sketch.add("Input", params={"shape": (1, 6, 8), "whole": False})
    wire = sketch.add("Patches", params={"size": (3, 2)}, x=data)
    wire = sketch.add("ClassToken", x=wire) if token else wire
    last = sketch.add("SelfAttention", params={"heads": 1, "causal": False}, x=wire)
    return patches_behind(sketch.project, check(sketch.project, catalogue()), last)


def test_patches_are_known_by_rows_and_columns_and_what_stands_before_them() -> None:
    assert sketched(token=False) == PatchGrid("n2", 2, 4, 0)
    assert sketched(token=True) == PatchGrid("n2", 2, 4, 1)


def test_other_steps_are_no_patches() -> None:
    assert patches_behind(gallery("char-decoder"), check(gallery("char-decoder"), catalogue()), "n23") is None
