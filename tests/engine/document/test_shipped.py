import pytest

from engine.document.shipped import datasets_folder, reading
from engine.errors import DataError


def test_the_shipped_folder_holds_the_sets():
    assert (datasets_folder() / "mnist" / "t10k-labels-idx1-ubyte.gz").is_file()
    assert (datasets_folder() / "santafe" / "santafe_laser.npy").is_file()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            FileNotFoundError("There is no a.gz: choose another folder."),
            "There is no a.gz: choose another folder.",
        ),
        (ValueError("a.gz is damaged."), "a.gz is damaged."),
        (ImportError("install scikit-learn"), "install scikit-learn"),
        (PermissionError(13, "Permission denied", "a.gz"), "a.gz cannot be used: Permission denied."),
    ],
)
def test_what_a_loader_raises_lands_on_the_node(error, sentence):
    with pytest.raises(DataError) as caught, reading("n3"):
        raise error
    assert (caught.value.message, caught.value.node_id) == (sentence, "n3")


def test_other_errors_pass_through():
    with pytest.raises(KeyError), reading("n3"):
        raise KeyError("x")
