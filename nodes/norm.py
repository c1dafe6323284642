"""Normalisation, dropout and noise."""

from __future__ import annotations

from math import prod

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.symbols import carried, nn, without_defaults
from engine.catalogue.traits import LayerTraits, Preparation
from engine.errors import EmitError


class BatchNorm(Layer):
    """Gives each channel zero mean and unit variance over the batch, then a learned scale and shift.

    All pixels of a channel count, and all steps of a feature of a sequence.
    """

    common = True
    preparation = Preparation.SCALED
    family = "norm"
    traits = LayerTraits(batch_statistics=True)
    title = "Batch norm"
    aliases = ("batch normalisation", "bn")
    formula = "y = γ (x - μ) / √(σ² + ε) + β, μ and σ² of each channel over the batch and all places"
    source = "Ioffe and Szegedy, 2015"
    channels: str = param(
        "last",
        choices=("last", "first"),
        label="Channels of a sequence",
        doc="axis of what is normalised: last for steps × features, first behind a 1-D convolution",
    )
    momentum: float = param(0.1, above=0, maximum=1, doc="how fast the running mean and variance follow")
    epsilon: float = param(1e-5, above=0, doc="added to the variance so that nothing is divided by zero")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        kinds = {1: nn.BatchNorm1d, 2: nn.BatchNorm1d, 3: nn.BatchNorm2d, 4: nn.BatchNorm3d}
        if len(x.shape) not in kinds:
            raise EmitError("Batch norm needs features or channels, but one number an example comes in.")
        turned = self.turns(x.shape)
        size = x.features if turned else x.channels
        norm = e.module(without_defaults(kinds[len(x.shape)](size, eps=self.epsilon, momentum=self.momentum)))
        return norm(x.transpose(1, 2)).transpose(1, 2) if turned else norm(x)

    def least_rows(self, shape: tuple[int, ...]) -> int:
        return 2 if prod(shape[:-1] if self.turns(shape) else shape[1:]) == 1 else 1

    def turns(self, shape: tuple[int, ...]) -> bool:
        """Whether the channels of an example of this shape are its last axis; torch has them first."""
        return len(shape) == 2 and self.channels == "last"


class LayerNorm(Layer):
    """Gives each example zero mean and unit variance over its features, then a learned scale and shift.

    The steps of a sequence are normalised one by one, an image as a whole.
    """

    preparation = Preparation.SCALED
    family = "norm"
    title = "Layer norm"
    aliases = ("layer normalisation", "ln")
    formula = "y = γ (x - μ) / √(σ² + ε) + β, μ and σ² over the features of a row or step, or all of an image"
    source = "Ba, Kiros and Hinton, 2016"
    epsilon: float = param(1e-5, above=0, doc="added to the variance so that nothing is divided by zero")

    def treats_each_place(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == 2

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        over = x.features if len(x.shape) <= 2 else x.shape
        return e.module(without_defaults(nn.LayerNorm(over, eps=self.epsilon)))(x)


class RMSNorm(Layer):
    """Divides each example's features by their root mean square, then scales: layer norm's cheaper kin.

    The steps of a sequence are normalised one by one, an image as a whole.
    """

    preparation = Preparation.SCALED
    family = "norm"
    title = "RMS norm"
    aliases = ("root mean square", "llama", "layer norm")
    formula = "y = γ x / √(mean of x² + ε) over the features of a row or step, or all of an image"
    source = "Zhang and Sennrich, 2019"
    epsilon: float = param(1e-6, above=0, doc="added to the mean square so that nothing is divided by zero")

    def treats_each_place(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == 2

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        over = x.features if len(x.shape) <= 2 else x.shape
        return e.module(nn.RMSNorm(over, eps=self.epsilon))(x)


class GroupNorm(Layer):
    """Gives each group of channels of an example zero mean and unit variance, whatever the batch.

    One group for all channels is layer norm of an image; a group for each channel is instance norm.
    """

    preparation = Preparation.SCALED
    family = "norm"
    title = "Group norm"
    aliases = ("gn", "instance norm", "layer norm")
    formula = "y = γ (x - μ) / √(σ² + ε) + β, μ and σ² over a group of channels and all places"
    source = "Wu and He, 2018"
    groups: int = param(8, minimum=1, maximum=65_536, doc="of channels, of as many each")
    epsilon: float = param(1e-5, above=0, doc="added to the variance so that nothing is divided by zero")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if not x.shape:
            raise EmitError("Group norm needs channels, but one number an example comes in.")
        if x.channels % self.groups:
            raise EmitError(
                f"{x.channels} channels cannot be shared out evenly among {self.groups} groups.",
                fix="Let the number of groups divide that of the channels.",
            )
        return e.module(without_defaults(nn.GroupNorm(self.groups, x.channels, eps=self.epsilon)))(x)

    def summary(self) -> str:
        return f"{self.groups} groups"


class InstanceNorm(Layer):
    """Gives each channel of each example zero mean and unit variance over its places."""

    preparation = Preparation.SCALED
    family = "norm"
    title = "Instance norm"
    aliases = ("style transfer", "contrast normalisation")
    formula = "y = γ (x - μ) / √(σ² + ε) + β, μ and σ² of each channel over all places of an example"
    source = "Ulyanov, Vedaldi and Lempitsky, 2016"
    epsilon: float = param(1e-5, above=0, doc="added to the variance so that nothing is divided by zero")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        kinds = {2: nn.InstanceNorm1d, 3: nn.InstanceNorm2d, 4: nn.InstanceNorm3d}
        if len(x.shape) not in kinds or prod(x.shape[1:]) == 1:
            raise EmitError("Instance norm needs channels of several places each.")
        made = kinds[len(x.shape)](x.channels, eps=self.epsilon, affine=True)
        return e.module(without_defaults(made))(x)


class Dropout(Layer):
    """While training, sets a random fraction of the numbers to zero, so that none is relied on."""

    common = True
    places_from = 1
    family = "norm"
    formula = "y = m · x / (1 - p), m = 0 with probability p, else 1; y = x after training"
    source = "Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov, 2014"
    traits = LayerTraits(keeps_values=True)
    share: float = param(
        0.5, minimum=0, below=1, label="Drop rate", doc="probability of each number to be dropped"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return e.module(nn.Dropout(self.share))(x)

    def summary(self) -> str:
        return f"keeps {100 * (1 - self.share):g} %"


class GaussianDropout(Layer):
    """While training, multiplies each number by a normal one of mean 1: dropout without hard zeros."""

    places_from = 1
    family = "norm"
    title = "Gaussian dropout"
    aliases = ("multiplicative noise",)
    formula = "y = x · N(1, p / (1 - p)); y = x after training"
    source = "Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov, 2014"
    share: float = param(
        0.5, minimum=0, below=1, label="Drop rate", doc="noise as strong as dropout at this rate"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import GaussianDropout as Made

        return e.module(carried(Made)(self.share))(x)

    def summary(self) -> str:
        return f"rate {self.share:g}"


class AddNoise(Layer):
    """While training, adds normal noise: the corruption of a denoising autoencoder, or a regulariser."""

    places_from = 1
    family = "norm"
    title = "Add noise"
    shows = ("augmented",)
    aliases = ("gaussian noise", "corrupt", "denoising", "jitter")
    formula = "y = x + N(0, s²); y = x after training"
    source = "Bishop, 1995; Vincent, Larochelle, Bengio and Manzagol, 2008"
    deviation: float = param(0.1, minimum=0, label="Standard deviation", doc="how strong the noise is")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.noisy import AddedNoise

        return e.module(carried(AddedNoise)(self.deviation))(x)

    def summary(self) -> str:
        return f"deviation {self.deviation:g}"
