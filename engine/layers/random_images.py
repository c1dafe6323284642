"""Layers that change images at random while training only. Portable: exports carry this source.

Each image (N, C, H, W) of a batch gets a draw of its own, from torch's own generator, with no loop over them.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def each(values: Tensor) -> Tensor:
    """(N,) as (N, 1, 1, 1): one number for each image."""
    return values[:, None, None, None]


def drawn_between(smallest: float, largest: float, count: int, device: torch.device) -> Tensor:
    """`count` numbers drawn evenly between two bounds: (count,)."""
    return smallest + (largest - smallest) * torch.rand(count, device=device)


def bordered(x: Tensor, size: tuple[int, int, int, int], mode: str, value: float) -> Tensor:
    """Images with `size` pixels more at the left, right, top and bottom; `mode` is one of F.pad."""
    return F.pad(x, size, mode, value) if mode == "constant" else F.pad(x, size, mode)


def cut_at_random(x: Tensor, height: int, width: int) -> Tensor:
    """A window of that size at a random place of each image."""
    top = torch.randint(x.shape[2] - height + 1, (len(x),), device=x.device)
    left = torch.randint(x.shape[3] - width + 1, (len(x),), device=x.device)
    windows = x.unfold(2, height, 1).unfold(3, width, 1)
    return windows[torch.arange(len(x), device=x.device), :, top, left]


class RandomFlip(nn.Module):
    """While training, mirrors images left to right and top to bottom, each with a probability of its own."""

    def __init__(self, horizontal: float = 0.5, vertical: float = 0.0) -> None:
        super().__init__()
        self.horizontal = horizontal
        self.vertical = vertical

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        for axis, probability in ((3, self.horizontal), (2, self.vertical)):
            if probability:
                mirrored = torch.rand(len(x), device=x.device) < probability
                x = torch.where(each(mirrored), x.flip(axis), x)
        return x


class RandomQuarterTurn(nn.Module):
    """While training, turns square images by 0, 90, 180 or 270 degrees, each as often."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        turned = torch.stack([x.rot90(quarter, (2, 3)) for quarter in range(4)])
        quarters = torch.randint(4, (len(x),), device=x.device)
        return turned[quarters, torch.arange(len(x), device=x.device)]


class RandomShift(nn.Module):
    """While training, moves images by up to `rows` and `columns` whole pixels; `mode` fills what is left."""

    def __init__(self, rows: int, columns: int, mode: str = "constant", value: float = 0.0) -> None:
        super().__init__()
        self.border = (columns, columns, rows, rows)
        self.mode = mode
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        return cut_at_random(bordered(x, self.border, self.mode, self.value), x.shape[2], x.shape[3])


class RandomCrop(nn.Module):
    """While training, a random window of the bordered image; after, the middle of the image itself."""

    def __init__(
        self, height: int, width: int, border: int = 0, mode: str = "constant", value: float = 0.0
    ) -> None:
        super().__init__()
        self.height = height
        self.width = width
        self.border = border
        self.mode = mode
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            top, left = (x.shape[2] - self.height) // 2, (x.shape[3] - self.width) // 2
            return x[:, :, top : top + self.height, left : left + self.width]
        around = (self.border,) * 4
        return cut_at_random(bordered(x, around, self.mode, self.value), self.height, self.width)


class RandomAffine(nn.Module):
    """While training, turns, resizes, moves and shears images, all in one resampling about the centre.

    `degrees` and `shear` bound angles, `shift` is a fraction of the size, `smallest` and `largest` bound the
    size that comes out against the one that came in; all are drawn evenly, the size evenly in its logarithm.
    """

    def __init__(
        self,
        degrees: float = 0.0,
        smallest: float = 1.0,
        largest: float = 1.0,
        shift: float = 0.0,
        shear: float = 0.0,
        mode: str = "bilinear",
        outside: str = "zeros",
        value: float = 0.0,
    ) -> None:
        super().__init__()
        self.degrees = degrees
        self.smallest = smallest
        self.largest = largest
        self.shift = shift
        self.shear = shear
        self.mode = mode
        self.outside = outside
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        count, device = len(x), x.device
        turn = math.pi / 180 * drawn_between(-self.degrees, self.degrees, count, device)
        slant = torch.tan(math.pi / 180 * drawn_between(-self.shear, self.shear, count, device))
        size = torch.exp(drawn_between(math.log(self.smallest), math.log(self.largest), count, device))
        down = drawn_between(-self.shift, self.shift, count, device)
        right = drawn_between(-self.shift, self.shift, count, device)
        return resampled(x, turn, size, slant, down, right, self.mode, self.outside, self.value)


def resampled(
    x: Tensor,
    turn: Tensor,
    size: Tensor,
    slant: Tensor,
    down: Tensor,
    right: Tensor,
    mode: str = "bilinear",
    outside: str = "zeros",
    value: float = 0.0,
) -> Tensor:
    """Images turned counter-clockwise by `turn` (radians), `size` times as large, sheared and moved.

    `slant` is columns a row, `down` and `right` are fractions of the height and the width; each is (N,).
    Where nothing was, `outside` says what comes (as in F.grid_sample); `value` is what "zeros" stands for.
    """
    height, width = x.shape[2:]
    # Where each pixel comes from, in pixels from the centre; not by a product, which autocast would round.
    rows = torch.arange(height, device=x.device) - (height - 1) / 2
    columns = torch.arange(width, device=x.device) - (width - 1) / 2
    y = rows[None, :, None] - (down * height)[:, None, None]
    x_ = columns[None, None, :] - (right * width)[:, None, None]
    cosine, sine = ((part / size)[:, None, None] for part in (torch.cos(turn), torch.sin(turn)))
    y, x_ = sine * x_ + cosine * y, cosine * x_ - sine * y
    x_ = x_ - slant[:, None, None] * y
    grid = torch.stack((x_ * 2 / width, y * 2 / height), 3)
    found = F.grid_sample(x.float() - value, grid, mode, outside, align_corners=False) + value
    return found.to(x.dtype)


class RandomErase(nn.Module):
    """While training, covers a rectangle of an image with `value`, or with noise where that is None.

    Its area is a fraction of the image, its height over its width at most `stretch`, at least the inverse.
    """

    def __init__(
        self,
        probability: float,
        smallest: float,
        largest: float,
        stretch: float = 1.0,
        value: float | None = 0.0,
    ) -> None:
        super().__init__()
        self.probability = probability
        self.smallest = smallest
        self.largest = largest
        self.stretch = stretch
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        count, device = len(x), x.device
        area = drawn_between(self.smallest, self.largest, count, device)
        ratio = torch.exp(drawn_between(-math.log(self.stretch), math.log(self.stretch), count, device))
        covered = rectangles(x, area, ratio) & each(torch.rand(count, device=device) < self.probability)
        if self.value is None:
            return torch.where(covered, torch.randn_like(x), x)
        return x.masked_fill(covered, self.value)


def rectangles(x: Tensor, area: Tensor, ratio: Tensor) -> Tensor:
    """Where a rectangle lies in each image, (N, 1, H, W) of bool: at a random place, all of it inside.

    `area` (N,) is its fraction of the image, `ratio` (N,) its height over its width, as near as pixels allow.
    """
    height, width = x.shape[2:]
    tall = (height * (area * ratio).sqrt()).round().clamp(0, height)
    wide = (width * (area / ratio).sqrt()).round().clamp(0, width)
    top = (torch.rand(len(x), device=x.device) * (height - tall + 1)).floor()
    left = (torch.rand(len(x), device=x.device) * (width - wide + 1)).floor()
    rows = torch.arange(height, device=x.device)[None, None, :, None] - each(top)
    columns = torch.arange(width, device=x.device)[None, None, None, :] - each(left)
    return (rows >= 0) & (rows < each(tall)) & (columns >= 0) & (columns < each(wide))


class RandomColour(nn.Module):
    """While training, changes brightness, contrast, saturation and hue by random amounts, in this order.

    The first three are fractions: 0.4 multiplies by 0.6 to 1.4. `hue` is a fraction of the colour circle,
    which is turned about the grey axis. Saturation and hue are for three channels. `clip` keeps numbers in
    0..1 after.
    """

    def __init__(
        self,
        brightness: float = 0.0,
        contrast: float = 0.0,
        saturation: float = 0.0,
        hue: float = 0.0,
        clip: bool = True,
    ) -> None:
        super().__init__()
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue
        self.clip = clip

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        if self.brightness:
            x = x * self.factor(self.brightness, x)
        if self.contrast:
            middle = grey(x).mean((1, 2, 3), keepdim=True)
            x = middle + (x - middle) * self.factor(self.contrast, x)
        if self.saturation:
            x = grey(x) + (x - grey(x)) * self.factor(self.saturation, x)
        if self.hue:
            x = hue_turned(x, drawn_between(-self.hue, self.hue, len(x), x.device))
        return x.clamp(0, 1) if self.clip else x

    def factor(self, most: float, x: Tensor) -> Tensor:
        return each(drawn_between(1 - most, 1 + most, len(x), x.device)).to(x.dtype)


def grey(x: Tensor) -> Tensor:
    """Images (N, 3, H, W) as (N, 1, H, W), each colour as bright as the eye finds it (ITU-R BT.601).

    Any other number of channels counts evenly.
    """
    if x.shape[1] != 3:
        return x.mean(1, keepdim=True)
    return 0.299 * x[:, :1] + 0.587 * x[:, 1:2] + 0.114 * x[:, 2:]


def hue_turned(x: Tensor, fraction: Tensor) -> Tensor:
    """Images (N, 3, H, W) whose colours turn about the grey axis by a `fraction` (N,) of the circle.

    A third makes red of blue, green of red and blue of green. Source: Rodrigues' formula.
    """
    turn = each(2 * math.pi * fraction).to(x.dtype)
    middle = x.mean(1, keepdim=True)
    across = (x.roll(1, 1) - x.roll(2, 1)) / math.sqrt(3)
    return middle + (x - middle) * torch.cos(turn) + across * torch.sin(turn)
