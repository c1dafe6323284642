"""Which pixels of the pinned example the answer hangs on."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.inputs import drawn, flat_map, image_head, input_column, is_cloud, score_of, target_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.procedures import saliency as how
from engine.procedures.attribution import INTEGRATED, TIMES_INPUT

STEPS = 64


@probe_kind("attribution", every=1.0, apart=True)
def attribution(look: Look, probe: Probe) -> Taken | None:
    """How a score hangs on each place of the example: a signed map `(H, W)`, channels added up.

    `detail` is (method, target): "gradient", "gradient x input" or "integrated gradients" from 0; the target
    is -1 for the predicted class, -2 for the right one, or an index. `gap` is what integrated gradients lack
    of the difference of scores. `image` is the example `(H, W)` or `(H, W, 3)`, or the points of a `cloud`.
    """
    method, target = str(probe.detail[0]), int(probe.detail[1])
    head = image_head(look, probe.node_id)
    column = input_column(look, head.prediction[0])
    x = look.batch(look.example, 1)[column]
    index, facts = target_of(look, head, target)
    score = score_of(look, head, column, index)
    try:
        if method == INTEGRATED:
            found = how.integrated_gradients(score, x, steps=STEPS, check=look.check)
            with torch.no_grad():
                ends = score(torch.cat([x, torch.zeros_like(x)]))
            facts["gap"] = (ends[0] - ends[1] - found.sum()).item()
        elif method == TIMES_INPUT:
            found = how.gradient_times_input(score, x)
        else:
            found = how.saliency(score, x)
    except RuntimeError as error:
        raise _no_gradient(probe) from error
    facts["cloud"] = is_cloud(column, x)
    return flat_map(found), {**facts, "image": drawn(x[0]), "method": method}


@probe_kind("grad_cam", every=1.0, apart=True)
def grad_cam(look: Look, probe: Probe) -> Taken | None:
    """Where the maps of a node speak for a class, as large as the example: `(H, W)`, never below 0.

    `detail` is (target,), as for "attribution"; `size` is that of the maps.
    """
    head = image_head(look, "")
    index, facts = target_of(look, head, int(probe.detail[0]))
    batch = dict(look.batch(look.example, 1))
    column = input_column(look, probe.node_id)
    batch[column] = batch[column].clone().requires_grad_(True)
    node, port = head.prediction
    seen = look.values((probe.node_id, node), batch, gradients=True)
    maps = next((one for one in seen.get(probe.node_id, {}).values() if one.dim() == 4), None)
    answer = seen.get(node, {}).get(port)
    if maps is None or answer is None:
        raise NeuroloomError(
            "There are no maps between the image and the answer here.", node_id=probe.node_id
        )
    try:
        found = how.grad_cam(maps, answer.reshape(-1)[index].float())
    except RuntimeError as error:
        raise NeuroloomError("The answer does not hang on this layer.", node_id=probe.node_id) from error
    image = batch[column][0].detach()
    shown = how.enlarged(found, (image.shape[-2], image.shape[-1]))
    return array(shown), {**facts, "image": drawn(image), "size": tuple(maps.shape[1:])}


@probe_kind("occlusion", every=3.0, apart=True)
def occlusion(look: Look, probe: Probe) -> Taken | None:
    """How much a score falls where a patch of the example is covered by the data's mean: `(H, W)`.

    `detail` is (target, side of the patch, stride).
    """
    target, patch, stride = (int(value) for value in probe.detail[:3])
    head = image_head(look, probe.node_id)
    column = input_column(look, head.prediction[0])
    x = look.batch(look.example, 1)[column]
    index, facts = target_of(look, head, target)
    score = score_of(look, head, column, index)
    fill = _mean(look, column)
    found = how.occlusion(score, x, patch, max(1, stride), fill, look.check)
    return array(found), {**facts, "image": drawn(x[0]), "fill": fill, "patch": patch, "stride": stride}


def _mean(look: Look, column: str) -> float:
    rows: Tensor = look.batch(0, 256)[column]
    return rows.float().mean().item()


def _no_gradient(probe: Probe) -> NeuroloomError:
    return NeuroloomError("The answer has no gradient with respect to the image.", node_id=probe.node_id)
