"""The large set is read once for all tests of this folder."""

import pytest
from torch import Tensor

from engine.data.mnist import load_mnist
from engine.data.shipped import datasets_folder


@pytest.fixture(scope="session")
def mnist() -> dict[str, dict[str, Tensor]]:
    return load_mnist(datasets_folder(), "cpu")
