"""Points as text: what is read of it, to the number, and what is said of what is not."""

import pytest

from engine.data.sets.pasted import read_points, written_points
from engine.errors import DataError

NAMES = ("class 1", "class 2")


@pytest.mark.parametrize(
    "text",
    [
        "0.5 -1.2 1\n3 4 2",
        "0.5\t-1.2\t1\n3\t4\t2\n",
        "0,5\t-1,2\t1\r\n3\t4\t2\r\n",
        "0,5;-1,2;1\n3;4;2",
        "0.5,-1.2,1\n3,4,2",
        "0.5, -1.2, 1\n3, 4, 2",
        "0,5 -1,2 1\n3 4 2",
        "  0.5   \N{MINUS SIGN}1.2 1\n\n3 4 2\n\n",
        '"0.5","-1.2","1"\n"3","4","2"',
        "5e-1 -1.2 1\n3.0 4. 2",
        "0.5\t-1.2\tclass 1\t\t\n3\t4\tClass 2\t",
    ],
)
def test_every_way_of_writing_them(text):
    found = read_points(text, NAMES)
    assert found.points == ((0.5, -1.2, 0), (3.0, 4.0, 1))
    assert found.names == NAMES
    assert found.remarks == ()


def test_a_line_of_names_is_left_out_and_said():
    found = read_points("x;y;class\n1;2;2", NAMES)
    assert found.points == ((1.0, 2.0, 1),)
    assert found.remarks == ("The first line holds names and was left out.",)


def test_without_a_class_they_are_of_the_current_one():
    assert read_points("1 2\n3 4 1", NAMES, current=1).points == ((1.0, 2.0, 1), (3.0, 4.0, 0))


def test_classes_counted_from_zero_or_by_sign():
    found = read_points("1 2 0\n3 4 1", NAMES)
    assert [kind for _, _, kind in found.points] == [0, 1]
    assert found.remarks == ("The classes were counted from 0: 0 became class 1.",)
    found = read_points("1 2 -1\n3 4 1", ("no", "yes"))
    assert [kind for _, _, kind in found.points] == [0, 1]
    assert found.remarks == ("-1 became no, 1 became yes.",)


def test_new_names_go_to_free_classes_first_then_are_added():
    text = "1 2 red wine\n3 4 white\n5 6 rosé\n7 8 White"
    found = read_points(text, NAMES, free=(0, 1))
    assert found.names == ("red wine", "white", "rosé")
    assert [kind for _, _, kind in found.points] == [0, 1, 2, 1]
    assert read_points(text, NAMES).names == (*NAMES, "red wine", "white", "rosé")


def test_a_high_number_makes_the_classes_up_to_it():
    assert read_points("1 2 4", NAMES).names == ("class 1", "class 2", "class 3", "class 4")


def test_values_have_no_class():
    found = read_points("1 2\n3 4 b", NAMES, values=True)
    assert found.points == ((1.0, 2.0, 0), (3.0, 4.0, 0))
    assert found.remarks == ("The third column was left out: values have no class.",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", 'There is no text to paste: copy lines such as "0.5 -1.2 1" first.'),
        ("\n \n", 'There is no text to paste: copy lines such as "0.5 -1.2 1" first.'),
        ("1 2 1\nfoo bar 1", "Line 2, “foo bar 1”, is not x, y and a class; nothing was pasted."),
        (
            "1,2,1\n1\n2",
            "Line 2, “1”, is not x, y and a class; nothing was pasted. There is 1 more line like it.",
        ),
        ("1 2 1\n1 nan 1", "Line 2, “1 nan 1”, is not x, y and a class; nothing was pasted."),
        ("1 2 1\n1 1e999 1", "Line 2, “1 1e999 1”, is not x, y and a class; nothing was pasted."),
        ("1\t2\t3\t4", "Line 1, “1\t2\t3\t4”, is not x, y and a class; nothing was pasted."),
        ("1 2 11", "That makes 11 classes, and there may be 10; nothing was pasted."),
        ("1 2 -3", "-3 is no class: classes are counted from 1, or from 0."),
        ("hello", "Line 1, “hello”, is not x, y and a class; nothing was pasted."),
    ],
)
def test_what_is_no_point_is_said_with_its_line(text, sentence):
    with pytest.raises(DataError) as caught:
        read_points(text, NAMES)
    assert caught.value.message == sentence


def test_long_nonsense_is_shown_short():
    with pytest.raises(DataError, match=r"^Line 1, “a{37}\.\.\.”, is not"):
        read_points("a" * 100_000, NAMES)


def test_what_is_copied_out_is_read_back():
    points = ((0.1 + 0.2, -1e-7, 0), (3.0, 4.0, 1))
    text = written_points(points, ("one", "the other"))
    assert text == "0.30000000000000004\t-1e-07\tone\n3.0\t4.0\tthe other"
    assert read_points(text, ("one", "the other")).points == points
    assert read_points(written_points(points, (), values=True), (), values=True).points == (
        (0.1 + 0.2, -1e-7, 0),
        (3.0, 4.0, 0),
    )
