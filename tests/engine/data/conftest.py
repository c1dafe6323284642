"""The large set is read once for all tests of this folder."""

import pytest
from torch import Tensor

from engine.data.sets.mnist import load_mnist
from engine.document.shipped import datasets_folder


@pytest.fixture(scope="session")
def mnist() -> dict[str, dict[str, Tensor]]:
    return load_mnist(datasets_folder(), "cpu")
