"""Weights learned elsewhere go where they fit, and the report says where."""

import pickle
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.emit.program import compile_program
from engine.errors import TrainingError
from engine.train.headless import run_headless
from engine.train.run_folder import Keep, read_settings
from engine.train.warm_start import Report, in_words, match, preview, read_weights, warm_start
from tests.engine.train.networks import DATASETS, catalogue, iris


def net(*sizes: int) -> nn.Sequential:
    torch.manual_seed(sum(sizes))
    return nn.Sequential(*(nn.Linear(a, b) for a, b in pairwise(sizes)))


def renamed(state: dict[str, Tensor], **names: str) -> dict[str, Tensor]:
    return {f"{names[name.split('.')[0]]}.{name.split('.')[1]}": value for name, value in state.items()}


def how(report: Report) -> dict[str, str]:
    return {one.layer: one.how for one in report.layers}


def test_the_same_names_and_shapes_are_taken(tmp_path: Path) -> None:
    source, target = net(4, 5, 3), net(4, 5, 3)
    for weight in target.parameters():
        nn.init.zeros_(weight)
    save_file(source.state_dict(), tmp_path / "net.safetensors")
    report = warm_start(target, tmp_path / "net.safetensors")
    assert how(report) == {"0": "name", "1": "name"} and not report.unused
    assert all(torch.equal(a, b) for a, b in zip(source.parameters(), target.parameters(), strict=True))


def test_other_names_are_matched_in_order_and_by_whole_layers(tmp_path: Path) -> None:
    source, target = net(4, 5, 5, 3), net(4, 5, 5, 2)
    state = renamed(source.state_dict(), **{"0": "in", "1": "middle", "2": "out"})
    save_file(state, tmp_path / "net.safetensors")
    report = warm_start(target, tmp_path / "net.safetensors")
    assert [(one.layer, one.how, one.source) for one in report.layers] == [
        ("0", "order", "in"),
        ("1", "order", "middle"),
        ("2", "none", ""),
    ]
    assert report.unused == ("out",)
    assert torch.equal(target[1].weight, state["middle.weight"])
    assert "starts from first weights" in in_words(report.layers[2]) and "2×5" in in_words(report.layers[2])


def test_a_layer_of_another_size_says_both_sizes() -> None:
    report = match({"a.weight": (3, 4), "a.bias": (3,)}, {"a.weight": (7, 4), "a.bias": (7,)}, "file")
    assert report.layers[0].why == "its weight is 3×4 here and 7×4 there; its bias is 3 here and 7 there"
    assert not report.matched and report.unused == ("a",)


def test_part_of_a_layer_is_taken_and_said() -> None:
    report = match({"a.weight": (3, 4), "a.bias": (3,)}, {"a.weight": (3, 4)}, "file")
    assert how(report) == {"a": "part"} and "bias" in report.layers[0].why


def test_old_batch_norm_without_a_counter_is_whole() -> None:
    mine = {"n.weight": (3,), "n.running_mean": (3,), "n.num_batches_tracked": ()}
    report = match(mine, {"n.weight": (3,), "n.running_mean": (3,)}, "file")
    assert how(report) == {"n": "name"}


@pytest.mark.parametrize("wrap", ["plain", "state_dict", "module", "compiled"])
def test_pytorch_files_in_their_usual_wrappings(wrap: str, tmp_path: Path) -> None:
    state = dict(net(4, 3).state_dict())
    prefix = {"module": "module.", "compiled": "_orig_mod."}.get(wrap, "")
    inside = {prefix + name: value for name, value in state.items()}
    torch.save({"state_dict": inside, "epoch": 3} if wrap == "state_dict" else inside, tmp_path / "net.pt")
    found = read_weights(tmp_path / "net.pt")
    assert found.keys() == state.keys() and torch.equal(found["0.weight"], state["0.weight"])


class Opens:
    """Unpickled, it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_a_file_that_would_run_code_is_refused_and_runs_none(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "raw.pt").write_bytes(pickle.dumps(Opens(trap), protocol=2))
    torch.save({"a": Opens(trap)}, tmp_path / "net.pt")
    for name in ("net.pt", "raw.pt"):
        with pytest.raises(TrainingError) as caught:
            read_weights(tmp_path / name)
        assert "net.pt" not in name or "runs no code" in caught.value.message
    torch.save(net(4, 3), tmp_path / "whole.pt")
    with pytest.raises(TrainingError, match="state_dict"):
        read_weights(tmp_path / "whole.pt")
    assert not trap.exists()


@pytest.mark.parametrize("content", [b"", b"junk", b"junk" * 50])
@pytest.mark.parametrize("name", ["w.safetensors", "w.pt"])
def test_files_that_are_no_weights_are_one_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrainingError):
        read_weights(tmp_path / name)


def test_nothing_that_fits_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    save_file(net(9, 9).state_dict(), tmp_path / "net.safetensors")
    target = net(4, 3)
    before = target[0].weight.clone()
    with pytest.raises(TrainingError, match="None of the weights"):
        warm_start(target, tmp_path / "net.safetensors")
    assert torch.equal(target[0].weight, before)


def test_a_run_begins_with_the_weights_of_another_and_remembers_it(tmp_path: Path) -> None:
    def train(folder: Path, seed: int, weights: Path | None = None, classes: int = 3) -> list[Report]:
        reports: list[Report] = []
        run_headless(
            iris(epochs=3, classes=classes), catalogue(), DATASETS, device="cpu", seed=seed, folder=folder,
            weights=weights, on_match=reports.append, keep=Keep(1, 9),
        )  # fmt: skip
        return reports

    train(tmp_path / "one", 0)
    (report,) = train(tmp_path / "two", 1, tmp_path / "one")
    assert how(report) == {"hidden": "name", "classes": "name"}
    assert {one.layer: one.node_id for one in report.layers} == {"hidden": "n2", "classes": "n4"}
    assert read_settings(tmp_path / "two")["weights"]["layers"] == 2
    (report,) = train(tmp_path / "three", 1, tmp_path / "one" / "checkpoints" / "epoch-2")
    assert how(report) == {"hidden": "name", "classes": "name"}


def test_a_preview_says_the_same_and_takes_no_random_numbers(tmp_path: Path) -> None:
    program = compile_program(iris(), catalogue())
    save_file(program.Model().state_dict(), tmp_path / "net.safetensors")
    torch.manual_seed(5)
    state = torch.get_rng_state()
    report = preview(program, tmp_path / "net.safetensors")
    assert torch.equal(torch.get_rng_state(), state)
    assert report == warm_start(program.Model(), tmp_path / "net.safetensors", program.modules)
