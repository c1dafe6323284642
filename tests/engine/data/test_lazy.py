"""Columns that stay in their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.data.lazy import Mapped


@pytest.fixture
def column(tmp_path: Path) -> Mapped:
    np.save(tmp_path / "a.npy", np.arange(24, dtype=np.uint8).reshape(6, 2, 2))
    return Mapped(np.load(tmp_path / "a.npy", mmap_mode="r"), "cpu", factor=0.5)


def test_a_mapped_column_looks_like_its_tensor(column: Mapped) -> None:
    whole = torch.arange(24).reshape(6, 2, 2) * 0.5
    assert (len(column), column.shape, column.dim(), column.dtype) == (6, (6, 2, 2), 3, torch.float32)
    assert column.is_floating_point() and column.numel() == 24 and column.device.type == "cpu"
    assert torch.equal(column[:], whole)
    assert torch.equal(column[torch.tensor([5, 0, 5])], whole[[5, 0, 5]])
    assert torch.equal(column[-1], whole[-1])
    assert torch.equal(column[4:99], whole[4:])
    with pytest.raises(IndexError):
        column[6]


def test_rows_of_rows_are_those_of_the_file(column: Mapped) -> None:
    part = column.at(torch.tensor([4, 2, 0])).at(torch.tensor([2, 1]))
    assert len(part) == 2 and part.shape == (2, 2, 2)
    assert torch.equal(part[:], column[torch.tensor([0, 2])])
    assert len(column) == 6


def test_whole_numbers_stay_whole() -> None:
    labels = Mapped(np.array([3, 1, 2], dtype=np.int32), "cpu", whole=True)
    assert labels.dtype == torch.int64 and not labels.is_floating_point()
    assert labels[torch.tensor([1, 0])].tolist() == [1, 3]
