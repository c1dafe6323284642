"""How well the examples learn."""

from __future__ import annotations

from engine.document.shipped import datasets_folder
from tests.bench.rows import row
from tests.bench.setting import gallery_project, trained


@row(
    "cnn-accuracy",
    "test accuracy of mnist-cnn trained as its plan says (seed 000 §1.3.6)",
    "share",
    ">= 0.99",
)
def accuracy() -> tuple[float, str]:
    project = gallery_project("mnist-cnn")
    run = trained(project)
    optimiser = project.plan.optimiser.name
    return run.results["test_accuracy"], f"{optimiser}, batch {project.plan.batch}, {run.epoch} epochs"


def santa_fe() -> dict[str, float]:
    """Errors of the trained LSTM over the 100 readings after training, in raw intensity squared."""
    from engine.data.sets.laser import santa_fe_scale
    from engine.look.sequences.forecast import forecast_errors

    project = gallery_project("santa-fe-lstm")
    run = trained(project)
    if len(run.data["test"]["next"]) != 100:
        raise ValueError(f"the test split holds {len(run.data['test']['next'])} steps, not 100")
    _, deviation = santa_fe_scale(datasets_folder())
    return {**forecast_errors(run.model, run.data["test"], deviation), "epochs": float(run.epoch)}


@row("santa-fe-one-step", "mean squared error of 100 forecasts, each from the true past", "raw²")
def one_step() -> tuple[float, str]:
    found = santa_fe()
    return found["one_step_mse"], f"LSTM, lag 50, 100 hidden, {found['epochs']:.0f} epochs"


@row(
    "santa-fe-free-run", "mean squared error of 100 steps fed with its own forecasts (seed 000 §2.2)", "raw²"
)
def free_run() -> tuple[float, str]:
    found = santa_fe()
    return found["free_running_mse"], "the source prints 418.086 for this net and leaves the protocol out"
