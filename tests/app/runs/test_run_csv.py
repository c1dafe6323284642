"""The table of a run has a column for each thing that training lowers."""

from __future__ import annotations

from app.runs.run_csv import metrics_csv
from engine.feed.feed import Feed


def game(validated: bool) -> Feed:
    """Two objectives, the second at every other step; two epochs of two steps."""
    feed = Feed()
    for step in range(1, 5):
        feed.append("train_critic", step, step / 2, step / 10, float(step))
        if step % 2:
            feed.append("train_generator", step, step / 2, step / 10, 10.0 * step)
    if validated:
        feed.append("val_loss", 2, 1.0, 0.2, 0.5)
        feed.append("val_loss", 4, 2.0, 0.4, 0.25)
        feed.append("test_loss", 4, 2.0, 0.4, 0.125)
    return feed


def test_a_row_a_step_before_the_first_epoch_has_ended() -> None:
    assert metrics_csv(game(False)).splitlines() == [
        "epoch,step,seconds,train_critic,train_generator",
        "0.5,1,0.1,1.0,10.0",
        "1.0,2,0.2,2.0,",
        "1.5,3,0.3,3.0,30.0",
        "2.0,4,0.4,4.0,",
    ]


def test_a_row_an_epoch_with_the_mean_of_each_objective() -> None:
    assert metrics_csv(game(True)).splitlines() == [
        "epoch,step,seconds,train_critic,train_generator,val_loss,test_loss",
        "1,2,0.200,1.5,10.0,0.5,",
        "2,4,0.400,3.5,30.0,0.25,0.125",
    ]
