"""How well the transformers of the gallery learn."""

from __future__ import annotations

from tests.bench.rows import row
from tests.bench.setting import gallery_project, trained


@row("vit-accuracy", "test accuracy of vit-mnist trained as its plan says", "share", ">= 0.97")
def vit() -> tuple[float, str]:
    run = trained(gallery_project("vit-mnist"))
    return run.results["test_accuracy"], f"{run.epoch} epochs in {run.seconds:.0f} s"


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
