"""Where the window of a convolution or a pool stands, and what it makes of the numbers in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

Two = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Window:
    """A window over a map: height and width of `kernel`, `stride`, `dilation`, and cells added at each side.

    `before` are the rows above and the columns at the left that padding adds, `behind` those below and at
    the right. A sequence is a map of one row.
    """

    kernel: Two
    stride: Two = (1, 1)
    before: Two = (0, 0)
    behind: Two = (0, 0)
    dilation: Two = (1, 1)

    def made(self, size: Two) -> Two:
        """The size of what comes out: floor((n + before + behind - d(k - 1) - 1) / s) + 1 along each axis."""
        found = [
            (size[a] + self.before[a] + self.behind[a] - self.dilation[a] * (self.kernel[a] - 1) - 1)
            // self.stride[a]
            + 1
            for a in (0, 1)
        ]
        return found[0], found[1]

    def fitted(self, size: Two, made: Two) -> Window:
        """The same with as much added behind as it takes to make `made` of `size`, never less than now."""
        behind = [
            max(
                self.behind[a],
                (made[a] - 1) * self.stride[a]
                + self.dilation[a] * (self.kernel[a] - 1)
                + 1
                - size[a]
                - self.before[a],
            )
            for a in (0, 1)
        ]
        return replace(self, behind=(behind[0], behind[1]))

    def rows(self, row: int) -> range:
        """The rows of the input under the window for a row of the output; some may lie in the padding."""
        return self._places(row, 0)

    def columns(self, column: int) -> range:
        """The columns of the input under the window for a column of the output."""
        return self._places(column, 1)

    def _places(self, at: int, axis: int) -> range:
        first = at * self.stride[axis] - self.before[axis]
        return range(first, first + self.dilation[axis] * self.kernel[axis], self.dilation[axis])
