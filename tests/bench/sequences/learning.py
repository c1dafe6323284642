"""How well the transformers of the gallery learn."""

from __future__ import annotations

from tests.bench.rows import row
from tests.bench.setting import gallery_project, trained


@row("vit-accuracy", "test accuracy of vit-mnist trained as its plan says", "share", ">= 0.97")
def vit() -> tuple[float, str]:
    run = trained(gallery_project("vit-mnist"))
    return run.results["test_accuracy"], f"{run.epoch} epochs in {run.seconds:.0f} s"


def _of_table(label: str) -> tuple[float, str]:
    """Test accuracy of one of the ten vision transformers, seed 0."""
    from tests.reproductions.vision_transformers import run

    found = run(label, 0)
    assert found is not None
    return found["test_accuracy"], f"{found['epochs']} epochs in {found['seconds']} s"


@row(
    "vit-32-features", "test accuracy of the row with 32 features, by the protocol of ten", "share", ">= 0.98"
)
def vit_narrow() -> tuple[float, str]:
    return _of_table("32 features")


@row("vit-4-layers", "the same of the row with four layers", "share", ">= 0.98")
def vit_shallow() -> tuple[float, str]:
    return _of_table("4 layers")


@row("vit-64-units", "the same of the row with 64 hidden units", "share", ">= 0.98")
def vit_thin() -> tuple[float, str]:
    return _of_table("64 hidden units")


@row(
    "gpt-ngrams",
    "test loss of the best n-gram (n to 5) minus that of char-decoder, over the same letters",
    "nats",
    ">= 0.03",
)
def gpt() -> tuple[float, str]:
    import torch

    from engine.look.sequences.ngrams import ngram_losses

    run = trained(gallery_project("char-decoder"))
    splits = ("train", "test")
    texts = [torch.cat([run.data[one]["tokens"], run.data[one]["next"][:, -1:]], 1).numpy() for one in splits]
    counted = ngram_losses(*texts, 72)
    network = run.results["test_loss"]
    words = ", ".join(f"{loss:.3f}" for loss in counted)
    return min(counted) - network, f"network {network:.3f}, n-grams {words}, {run.seconds:.0f} s"
