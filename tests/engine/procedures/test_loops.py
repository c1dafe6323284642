"""Each loop against a closed form, or another way to the same numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.layers.hopfield import Hopfield
from engine.procedures.attribution import attributed
from engine.procedures.codes import sampled, walked
from engine.procedures.excitation import excited
from engine.procedures.falling import recalled
from engine.procedures.predictions import predicted
from engine.procedures.reading import UnnamedTokens
from engine.procedures.series import running_free
from engine.procedures.text import beams, continued, next_probabilities

ATTRIBUTION = {"target": None, "steps": 256, "patch": 2, "stride": 1}
TEXT = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "width": 4, "prompt": ""}
UNNAMED = UnnamedTokens()


def last_window(scores: Callable[[Tensor], Tensor], longest: int) -> Callable[..., Tensor]:
    """The scores of what comes next by the last `longest` tokens alone."""

    def read(texts: Tensor, parents: Tensor | None = None) -> Tensor:
        return scores(texts[:, -longest:])

    return read


def written(
    scores: Callable[[Tensor], Tensor], window: Tensor, known: Any, **options: Any
) -> Iterator[dict[str, Any]]:
    """What a model writes that reads as many tokens as the window has."""
    return continued(last_window(scores, window.shape[1]), window, known, **options)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# -- recall


@torch.no_grad()
def test_a_stored_pattern_is_recalled_from_a_start_with_turned_units() -> None:
    pattern = torch.tensor([[1.0, -1, 1, 1, -1, 1, -1, -1, 1, 1, -1, 1]])
    memory = Hopfield(12, activation="sign", in_turn=True)
    memory.update(pattern)
    states = list(recalled(memory, pattern, draws=seeded(1), steps=4, turned=0.3))
    first, last = states[0]["state"], states[-1]["state"]
    assert 0 < int((first != pattern).sum()) < 6 and torch.equal(last, pattern)
    weight = pattern.T @ pattern - torch.eye(12)
    for state in states:
        x = state["state"][0]
        torch.testing.assert_close(state["energy"][0], -0.5 * x @ weight @ x)
    energies = [state["energy"].item() for state in states]
    assert energies == sorted(energies, reverse=True) and states[-1]["moved"].item() == 0


# -- text


def bigram(seed: int = 0, size: int = 3) -> tuple[Tensor, object]:
    """Scores (V, V) of the next token by the last one, and the function that gives them for windows."""
    table = torch.randn(size, size, generator=seeded(seed), dtype=torch.float64)
    return table, lambda windows: table[windows[:, -1]]


def test_probabilities_of_the_next_token_are_cut_and_scaled_as_defined() -> None:
    scores = torch.log(torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64))
    close = torch.testing.assert_close
    close(next_probabilities(scores), torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64))
    warm = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64).sqrt()
    close(next_probabilities(scores, 2.0), warm / warm.sum())
    close(next_probabilities(scores, top_k=2), torch.tensor([0, 4 / 7, 3 / 7, 0], dtype=torch.float64))
    # 0.4 alone is less than 0.5, with 0.3 it is enough
    close(next_probabilities(scores, top_p=0.5), torch.tensor([0, 4 / 7, 3 / 7, 0], dtype=torch.float64))
    close(next_probabilities(scores, top_p=0.39), torch.tensor([0.0, 1, 0, 0], dtype=torch.float64))
    tied = next_probabilities(torch.zeros(4), top_k=1)
    assert tied.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_beam_search_with_enough_beams_is_exhaustive(seed: int) -> None:
    table, scores = bigram(seed)
    start, length = 1, 4

    def total(text: tuple[int, ...]) -> float:
        steps = torch.log_softmax(table, 1)
        return float(sum(steps[a, b] for a, b in itertools.pairwise((start, *text))))

    every = sorted(itertools.product(range(3), repeat=length), key=total, reverse=True)
    read = last_window(scores, 2)
    *_, (found, totals, _) = beams(read, torch.tensor([[0, start]]), length, 3**length)
    assert {tuple(one) for one in found.tolist()} == set(every) and tuple(found[0].tolist()) == every[0]
    assert totals.tolist() == pytest.approx([total(one) for one in every])
    *_, (narrow, likely, _) = beams(read, torch.tensor([[0, start]]), length, 1)
    greedy, here = [], start
    for _ in range(length):
        here = int(table[here].argmax())
        greedy.append(here)
    assert narrow[0].tolist() == greedy and likely[0] <= totals[0] + 1e-12


def test_the_states_of_a_beam_search_are_its_tree() -> None:
    table, scores = bigram(1)
    steps = torch.log_softmax(table, 1)
    *levels, last = written(
        scores, torch.tensor([[0, 2]]), UNNAMED, draws=seeded(), length=6, method="beam", **TEXT
    )
    total, ends = torch.zeros(1, dtype=torch.float64), torch.tensor([2])
    for level in levels:  # every continuation of the level before, of which the best are kept
        every = total[:, None] + steps[ends]
        found, kept = level["log_probabilities"], level["kept"]
        assert found.tolist() == pytest.approx(every.flatten().sort(descending=True).values[:8].tolist())
        assert found.tolist() == pytest.approx(every[level["parents"], level["ends"]].tolist())
        assert kept.tolist() == [place < 4 for place in range(len(found))]
        assert level["names"] == [str(end) for end in level["ends"].tolist()]
        total, ends = found[kept], level["ends"][kept]
    at, path = 0, []
    for level in reversed(levels):
        path.append(int(level["ends"][at]))
        at = int(level["parents"][at])
    assert path[::-1] == last["tokens"] and last["log_probability"] == pytest.approx(float(total[0]))


@pytest.mark.parametrize(
    "cut", [{"top_k": 2}, {"top_p": 0.6}, {"temperature": 0.5}, {"top_k": 4, "top_p": 0.7}]
)
def test_cut_distributions_are_drawn_from_as_they_are_renormalised(cut: dict[str, Any]) -> None:
    """By brute force: sort, keep as many as are allowed, divide by their sum."""
    scores = torch.randn(6, generator=seeded(5), dtype=torch.float64)
    plain = [math.exp(score / cut.get("temperature", 1.0)) for score in scores.tolist()]
    order = sorted(range(6), key=lambda token: -plain[token])[: cut.get("top_k") or 6]
    share = {token: plain[token] / sum(plain[one] for one in order) for token in order}
    kept, reached = [], 0.0
    for token in order:
        if reached < cut.get("top_p", 1.0):
            kept.append(token)
            reached += share[token]
    wanted = [share[token] / reached if token in kept else 0.0 for token in range(6)]
    count = 6000
    *_, last = written(lambda one: scores.expand(len(one), -1), torch.zeros(1, 1, dtype=torch.int64), UNNAMED,
                       draws=seeded(6), length=count, method="sample", **{**TEXT, **cut})  # fmt: skip
    found = [last["tokens"].count(token) for token in range(6)]
    assert all(number == 0 for number, probability in zip(found, wanted, strict=True) if not probability)
    surprise = sum((f - count * p) ** 2 / (count * p) for f, p in zip(found, wanted, strict=True) if p)
    assert surprise < 20.5  # chi-squared of 5 degrees: 1 in 1000


def test_text_follows_the_ways_and_says_how_likely_it_is() -> None:
    table, scores = bigram(2)
    window = torch.tensor([[0, 0, 1]])
    steps = torch.log_softmax(table, 1)
    for method in ("greedy", "sample", "beam"):
        *states, last = written(scores, window, UNNAMED, draws=seeded(), length=5, method=method, **TEXT)
        assert len(states) == 5 and [one["step"] for one in states] == [1, 2, 3, 4, 5]
        text = [1, *last["tokens"]]
        wanted = float(sum(steps[a, b] for a, b in itertools.pairwise(text)))
        assert last["log_probability"] == pytest.approx(wanted)
    greedy = list(written(scores, window, UNNAMED, draws=seeded(), length=5, method="greedy", **TEXT))
    cold = {**TEXT, "top_k": 1}
    drawn = list(written(scores, window, UNNAMED, draws=seeded(9), length=5, method="sample", **cold))
    assert drawn[-1]["tokens"] == greedy[-1]["tokens"]


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    table, _ = bigram(4)
    alone = table[:1].repeat(3, 1)
    states = written(lambda one: alone[one[:, -1]], torch.tensor([[0]]), UNNAMED, draws=seeded(), length=4000,
                     method="sample", **TEXT)  # fmt: skip
    *_, last = states
    found = torch.bincount(torch.tensor(last["tokens"]), minlength=3) / 4000
    torch.testing.assert_close(found.double(), torch.softmax(table[0], 0), atol=0.025, rtol=0)


def test_a_text_begins_as_the_user_says_where_tokens_have_names() -> None:
    from engine.data.text.tokenisers import learned_characters

    tokeniser = learned_characters(["abc"], 8, False)
    seen: list[list[int]] = []

    def scores(windows: Tensor) -> Tensor:
        seen.append(windows[0].tolist())
        return torch.nn.functional.one_hot(windows[:, -1], 8).float() * 50

    options = {**TEXT, "prompt": "cb"}
    *_, last = written(scores, torch.zeros(1, 3, dtype=torch.int64), tokeniser, draws=seeded(), length=2,
                       method="greedy", **options)  # fmt: skip
    assert seen[0] == [0, 7, 6] and last["whole"] == "cbbb"
    with pytest.raises(ValueError, match="no names"):
        next(
            written(
                scores,
                torch.zeros(1, 3),
                UNNAMED,
                draws=seeded(),
                length=1,
                method="greedy",
                **options,
            )
        )


# -- series


def test_a_free_run_of_a_linear_recurrence_is_its_closed_form() -> None:
    """x[t] = x[t-1] + x[t-2]: Fibonacci's numbers."""
    states = running_free(
        lambda window: window[:, -2:].sum(1), torch.tensor([[[0.0], [1.0], [1.0]]]), draws=None, steps=10
    )
    assert [state["value"].item() for state in states] == [2, 3, 5, 8, 13, 21, 34, 55, 89, 144]


# -- codes


def test_samples_are_decoded_draws_and_lines_go_from_draw_to_draw() -> None:
    weight = torch.zeros(1)

    def decode(code: Tensor) -> Tensor:
        assert code.shape == (1, 2, 2)
        return 3 * code.flatten(1)

    def run(way: str, kind: str, count: int) -> list[dict[str, Tensor]]:
        return list(sampled(decode, weight, (2, 2), kind, 0.5, draws=seeded(3), count=count, way=way))

    draws = run("draws", "even", 4000)
    codes = torch.stack([one["code"] for one in draws])
    assert codes.abs().max() <= 0.5 and codes.var().item() == pytest.approx(1 / 12, rel=0.05)
    assert all(torch.equal(one["sample"], 3 * one["code"]) for one in draws)
    ends = [one["code"] for one in run("draws", "normal", 2)]
    line = [one["code"] for one in run("line", "normal", 5)]
    torch.testing.assert_close(line[0], ends[0])
    torch.testing.assert_close(line[-1], ends[1])


def test_the_way_between_two_examples_is_straight_and_needs_two() -> None:
    codes = torch.tensor([[0.0, 2.0], [4.0, 0.0]])
    states = list(walked(lambda code: code + 1, codes, (2,), draws=seeded(), count=5))
    assert [one["sample"].tolist() for one in states][2] == [3, 2]
    with pytest.raises(ValueError, match="name two rows"):
        next(walked(lambda code: code, codes[:1], (2,), draws=seeded(), count=5))


# -- attribution and excitation


def net(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(2 * 16, 3)).eval()


def test_integrated_gradients_add_up_to_the_difference_of_scores() -> None:
    model, x = net(), torch.randn(2, 1, 6, 6, generator=seeded())
    states = list(attributed(model, x, 1, draws=seeded(), method="integrated gradients", **ATTRIBUTION))
    with torch.no_grad():
        scores, blank = model(x), model(torch.zeros(1, 1, 6, 6))[0]
    for row, state in enumerate(states):
        index = int(scores[row].argmax())
        assert state["target"] == index and state["attribution"].shape == (1, 6, 6)
        difference = (scores[row, index] - blank[index]).item()
        assert state["attribution"].sum().item() == pytest.approx(difference, abs=2e-4)
        assert abs(state["gap"]) < 2e-4


def test_the_gradient_of_a_linear_score_is_its_weights_and_covering_takes_them_away() -> None:
    weights = torch.linspace(-1, 1, 16).reshape(1, 4, 4)

    def scores(x: Tensor) -> Tensor:
        return torch.stack([(x * weights).sum((1, 2, 3)), x.sum((1, 2, 3))], 1)

    x = torch.full((1, 1, 4, 4), 2.0)
    options = {**ATTRIBUTION, "target": 0, "patch": 1}
    found = {
        method: next(attributed(scores, x, 0, draws=seeded(), method=method, **options))["attribution"]
        for method in ("gradient", "gradient x input", "occlusion")
    }
    torch.testing.assert_close(found["gradient"], weights)
    torch.testing.assert_close(found["gradient x input"], 2 * weights)
    torch.testing.assert_close(found["occlusion"], 2 * weights[0], atol=1e-5, rtol=0)
    with pytest.raises(ValueError, match="There are 2 scores"):
        next(attributed(scores, x, 0, draws=seeded(), method="gradient", **{**options, "target": 2}))


def test_what_excites_a_linear_unit_goes_along_its_weights() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 2))
    rows = torch.randn(64, 6, generator=seeded())
    options = {"draws": seeded(), "steps": 400, "rate": 0.5}
    *_, last = excited(model, {"first": "0"}, model, rows, layer="first", unit=2, **options)
    weights = model[0].weight[2]  # type: ignore[union-attr]
    expected = torch.where(weights > 0, rows.max(), rows.min())
    torch.testing.assert_close(last["input"], expected, atol=0.1, rtol=0)
    for unit, forward, words in ((9, model, "has 4 units"), (0, model[1], "does not pass first")):
        x = rows if forward is model else rows[:, :4]
        with pytest.raises(ValueError, match=words):
            next(excited(model, {"first": "0"}, forward, x, layer="first", unit=unit, **options))
    assert not model[0]._forward_hooks  # type: ignore[union-attr]


# -- predictions


def test_predictions_are_the_likeliest_class_a_yes_or_the_values() -> None:
    scores = torch.log(torch.tensor([[0.2, 0.5, 0.3]]))
    (found,) = predicted(scores, "classes", -1, ("a", "b", "c"), draws=seeded())
    assert (found["class"], found["name"]) == (1, "b") and found["probability"].item() == pytest.approx(0.5)
    (found,) = predicted(torch.tensor([[math.log(3)]]), "logit", -1, (), draws=seeded())
    assert found["yes"] == [True] and found["probability"].item() == pytest.approx(0.75)
    (found,) = predicted(torch.tensor([[0.25]]), "probability", -1, (), draws=seeded())
    assert found["yes"] == [False]
    (found,) = predicted(torch.tensor([[0.0, 9.0], [4.0, 1.0]])[None], "classes", 0, (), draws=seeded())
    assert found["class"] == [1, 0]
    (found,) = predicted(torch.tensor([[5.0, 7.0]]), "values", -1, (), draws=seeded())
    assert found["value"].tolist() == [5, 7]
