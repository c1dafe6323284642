"""Text that a model writes: each token is drawn by its probability and joins the context of the next."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from time import thread_time

import torch
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.registry import Taken, probe_kind
from engine.look.sequences.attention import named_tokens
from engine.look.sight import Look
from engine.procedures.declare import Net
from engine.procedures.reading import GrowingText, UnnamedTokens
from engine.procedures.text import continued
from engine.shapes.heads import CLASSES, Head

WRITTEN, FEWEST = 240, 40  # tokens after those of the example; of a slow model while it trains
SECONDS = 0.3  # of the thread, after which fewer have to do while training goes on: it comes again sooner
COLDEST = 0.05


@probe_kind("written_text", every=3.0, apart=True)
def written_text(look: Look, probe: Probe) -> Taken | None:
    """The tokens `(n,)` that the model writes after those of the pinned example, 240 of them.

    While it trains, a model that writes slowly writes less, so that the text follows the steps.
    `detail` is (temperature in hundredths, seed of the draws). `begin` and `words` name the tokens of the
    example and those written.
    """
    head = look.head(probe.node_id)
    column = None if head is None else token_column(look, head)
    if head is None or column is None:
        raise NeuroloomError("Text is written by a model that predicts what comes next.")
    temperature = max(COLDEST, int(probe.detail[0]) / 100 if probe.detail else 1.0)
    draws = torch.Generator().manual_seed(int(probe.detail[1]) if len(probe.detail) > 1 else 0)
    window = look.batch(look.example, 1)[column][0]
    begin, written = named_tokens(look, column, window), []
    states = continued(
        _reading(look, head, column, len(window)),
        window[None],
        UnnamedTokens(),
        draws=draws,
        length=WRITTEN,
        method="sample",
        temperature=temperature,
        top_k=0,
        top_p=1.0,
        width=1,
        prompt="",
    )
    began = thread_time()
    for state in itertools.islice(states, WRITTEN):
        look.check()
        written.append(state["token"])
        if not look.standing and len(written) >= FEWEST and thread_time() - began > SECONDS:
            break
    tokens = torch.tensor(written)
    facts = {
        "begin": begin,
        "words": named_tokens(look, column, tokens),
        "temperature": temperature,
        "example": look.example,
        "split": look.split,
    }
    return tokens.to(torch.int32).numpy(), facts


def _reading(look: Look, head: Head, column: str, longest: int) -> Callable[..., Tensor]:
    """The scores of what comes next to a text that grows, as in *Generate*, where the layers allow it."""

    def scores(windows: Tensor) -> Tensor:
        batch = look.batch_with(column, windows)
        if head.places:  # what comes next is measured beside it
            batch[head.target[1]] = batch[head.target[1]][:, : windows.shape[1]]
        return _next_scores(look, head, batch)

    net = Net(look.program.project, look.program.book)
    wires = [wire for wire, one in net.inputs_of(head.prediction) if one.name == column]
    if head.places and wires and net.reads_on(wires[0]):
        return GrowingText(scores, longest, look.model, cache=False)
    return lambda texts: scores(texts[:, -longest:])


def _next_scores(look: Look, head: Head, batch: dict[str, Tensor]) -> Tensor:
    node, port = head.prediction
    found = look.value(node, batch, port)
    if found is None:
        raise NeuroloomError("Nothing in this plan computes the answer.")
    scores = head.by_class(found)
    return scores[:, :, -1] if scores.dim() == 3 else scores


def token_column(look: Look, head: Head) -> str | None:
    """The column of tokens `(T,)` that the head predicts the next of, from the same vocabulary."""
    columns = look.input_columns(head.prediction[0])
    if head.kind != CLASSES or len(columns) != 1:
        return None
    tokens = look.batch(look.example, 1).get(columns[0])
    if tokens is None or tokens.dim() != 2 or tokens.is_floating_point():
        return None
    names = named_tokens(look, columns[0], torch.arange(head.size))
    return columns[0] if names == tuple(head.labels) else None
