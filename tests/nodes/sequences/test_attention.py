"""What the node of attention constructs, and what it refuses."""

from __future__ import annotations

import pytest

from tests.engine.sketches import Sketch


def attending(features: int, heads: int) -> list[str]:
    sketch = Sketch()
    steps = sketch.add("Input", "steps", {"shape": (5, features)})
    sketch.add("SelfAttention", "attention", {"heads": heads}, x=steps)
    return [one.message for one in sketch.check().errors]


def test_heads_share_the_features_evenly() -> None:
    assert attending(12, 4) == []
    [message] = attending(12, 5)
    assert message.startswith("5 heads cannot share 12 features evenly.")


@pytest.mark.parametrize("shape", [(6,), (3, 8, 8)])
def test_it_takes_sequences(shape: tuple[int, ...]) -> None:
    sketch = Sketch()
    sketch.add("SelfAttention", "attention", {"heads": 1}, x=sketch.add("Input", "x", {"shape": shape}))
    [problem] = sketch.check().errors
    assert problem.message.startswith("Self-attention needs steps × features, but ")
