"""Going up the gradient finds what a unit looks for."""

import torch
from torch import Tensor

from engine.look.images.excite import Rules, excite
from engine.procedures.excitation import first_noise


def test_a_linear_unit_is_excited_by_its_own_weights() -> None:
    weights = torch.randn(1, 8, 8, generator=torch.Generator().manual_seed(2))

    def score(rows: Tensor) -> Tensor:
        return (rows * weights).flatten(1).sum(1)

    before = torch.random.get_rng_state()
    own = torch.Generator().manual_seed(1)
    start = first_noise((1, 8, 8), 0.0, 1.0, own)
    plain = Rules(jitter=0, blur=0.0)
    found, scores = excite(score, start, 40, own, rules=plain)
    likeness = torch.cosine_similarity(found.flatten(), weights.flatten(), dim=0)
    assert likeness > 0.99 and scores[-1] > scores[0] + 10 and len(scores) == 40
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_same_seed_gives_the_same_picture_within_the_bounds() -> None:
    def score(rows: Tensor) -> Tensor:
        return rows[:, 0, 2:4, 2:4].flatten(1).sum(1)

    found = []
    for _ in range(2):
        own = torch.Generator().manual_seed(5)
        image, _ = excite(
            score, first_noise((1, 6, 6), 0.5, 0.3, own), 30, own, mean=0.5, spread=0.3, bounds=(0, 1)
        )
        found.append(image)
    assert torch.equal(found[0], found[1])
    assert found[0].min() >= 0 and found[0].max() <= 1
    assert found[0][0, 0, 2:4, 2:4].mean() > found[0].mean() + 0.2


def test_a_silent_unit_is_searched_for_until_it_answers() -> None:
    def score(rows: Tensor) -> Tensor:
        return (rows[:, 0, :2, :2].flatten(1).mean(1) - 0.4).relu()

    own = torch.Generator().manual_seed(5)
    start = first_noise((1, 4, 4), 0.0, 1.0, own)
    found, scores = excite(score, start, 60, own)
    assert scores[0] == 0 and scores[-1] > 0.2 and torch.isfinite(found).all()
    _, never = excite(lambda rows: 0 * rows.flatten(1).sum(1), start, 3, own)
    assert never == [0, 0, 0]
