import pytest
import torch
from torch import Tensor, nn

from engine.look.sequences.forecast import forecast, forecast_errors, one_step


class SumOfLastTwo(nn.Module):
    def forward(self, window: Tensor) -> Tensor:  # (N, lag, 1)
        return window[:, -1] + window[:, -2]


class Persistence(nn.Module):
    """Tomorrow is like today, but noise while training."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.9)

    def forward(self, window: Tensor) -> Tensor:
        return self.dropout(window[:, -1])


def test_a_free_run_feeds_on_itself():
    found = forecast(SumOfLastTwo(), torch.tensor([[1.0], [1.0], [2.0]]), 6)
    assert found.flatten().tolist() == [3, 5, 8, 13, 21, 34]
    assert found.shape == (6, 1)


def test_one_step_sees_the_true_past():
    windows = torch.tensor([[[1.0], [2.0]], [[10.0], [20.0]]])
    assert one_step(SumOfLastTwo(), windows).tolist() == [[3], [30]]


def test_errors_are_in_raw_units():
    series = torch.tensor([0.0, 1.0, 3.0, 6.0, 10.0])
    split = {"window": series.unfold(0, 2, 1)[:3, :, None], "next": series[2:, None]}
    found = forecast_errors(Persistence(), split, deviation=10.0)
    assert found["one_step_mse"] == pytest.approx(100 * (2**2 + 3**2 + 4**2) / 3)
    assert found["free_running_mse"] == pytest.approx(100 * (2**2 + 5**2 + 9**2) / 3)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_left_in_the_mode_it_was_in(training):
    model = Persistence().train(training)
    found = forecast(model, torch.ones(4, 1), 3)
    assert found.flatten().tolist() == [1, 1, 1]
    assert not found.requires_grad
    one_step(model, torch.ones(2, 4, 1))
    assert model.training is training
