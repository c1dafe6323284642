"""Which words have vectors nearest to those of others, in an embedding."""

from __future__ import annotations

import torch

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.registry import Taken, probe_kind
from engine.look.sequences.attention import named_tokens
from engine.look.sight import Look
from engine.procedures.declare import Net
from engine.procedures.nearest import first_word, nearest_rows, terms_of, token_column

MOST = 20
SPECIAL = 5  # tokens that stand for no word


@probe_kind("nearest_words", every=1.0)
def nearest_words(look: Look, probe: Probe) -> Taken | None:
    """The cosines `(20,)` of the words nearest to what is asked for; `names` are those words.

    `detail` is (question,) as in the procedure of that name, the first word where it is empty; `words` is
    the vocabulary, `question` what was asked. Errors: `NeuroloomError` for a word that it lacks.
    """
    table = look.weights(probe.node_id).get("weight")
    column = token_column(Net(look.program.project, look.program.book), probe.node_id)
    if table is None or not column:
        return None
    words = named_tokens(look, column, torch.arange(len(table)))
    question = str(probe.detail[0]).strip() if probe.detail else ""
    question = question or first_word(words[SPECIAL:] or words)
    try:
        terms = terms_of(question, {name: row for row, name in enumerate(words)})
    except ValueError as error:
        raise NeuroloomError(str(error), node_id=probe.node_id) from error
    rows, cosines = nearest_rows(table, terms, MOST, SPECIAL)
    facts = {
        "names": tuple(words[row] for row in rows.tolist()),
        "question": question,
        "words": words,
        "size": tuple(table.shape),
    }
    return cosines.cpu().numpy(), facts
