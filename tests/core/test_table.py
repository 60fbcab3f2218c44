"""Reading tables strictly: every key known, every value of its kind, or one clear sentence."""

import json
import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.errors import ConfigError, InputError
from tidewise.core.table import Table

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def table(**values: object) -> Table:
    return Table(values, "file.toml", ConfigError)


def test_each_kind_is_read() -> None:
    one = table(n=1.5, i=3, t="x", l=[1, 2], inner={"k": 1}, many=[{"k": 2}])
    assert (one.number("n"), one.integer("i"), one.text("t"), one.integers("l")) == (1.5, 3, "x", (1, 2))
    assert one.table("inner").integer("k") == 1
    assert [inner.integer("k") for inner in one.tables("many")] == [2]
    one.done()


def test_a_whole_number_is_a_number() -> None:
    assert table(n=2).number("n") == 2.0


def test_what_is_absent_takes_its_default_or_is_missed_by_name() -> None:
    assert table().number("n", 1.0) == 1.0
    assert table().text("t", "") == ""
    assert table().integers("l", ()) == ()
    with pytest.raises(ConfigError, match=r"^file\.toml: n is missing$"):
        table().number("n")


def test_a_key_that_nobody_took_is_refused_and_the_known_ones_are_told() -> None:
    one = table(period=1, perido=2)
    one.number("period")
    with pytest.raises(ConfigError, match=r"file\.toml: unknown key 'perido'; known: period"):
        one.done()


def test_inner_tables_say_where_they_are() -> None:
    with pytest.raises(ConfigError, match=r"^file\.toml \[planner\]: period_s is missing$"):
        table(planner={}).table("planner").number("period_s")
    with pytest.raises(ConfigError, match=r"^file\.toml inputs\[1\]: name is missing$"):
        table(inputs=[{"name": "x"}, {}]).tables("inputs")[1].text("name")
    with pytest.raises(ConfigError, match=r"\[device_types\.big\] must be a table"):
        table(device_types={"big": 3}).named_tables("device_types")


@pytest.mark.parametrize("value", [True, "1", [1], math.nan, math.inf, -math.inf, -1, 10**400])
def test_what_is_no_number_of_at_least_zero_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^file\.toml: n must be "):
        table(n=value).number("n")


@pytest.mark.parametrize("value", [True, 1.0, "1", -1, 2**60])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="i must be a whole number"):
        table(i=value).integer("i")


@pytest.mark.parametrize("value", [3, [1.5], [True], [-1], "12", {"a": 1}])
def test_what_is_no_list_of_whole_numbers_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="l must be a list of whole numbers of at least 0"):
        table(l=value).integers("l")


@pytest.mark.parametrize("value", ["", 0, False, {}, "x", 3, {"a": 1}])
def test_what_is_no_list_of_tables_is_refused_even_if_empty(value: object) -> None:
    with pytest.raises(ConfigError, match=r"must be a list of tables"):
        table(many=value).tables("many")


def test_bounds_and_choices_are_told() -> None:
    with pytest.raises(ConfigError, match="n must be a number between 0 and 1, not 2"):
        table(n=2).number("n", high=1)
    with pytest.raises(ConfigError, match="t must be one of a, b, not 'c'"):
        table(t="c").text("t", choices=("a", "b"))


@given(st.dictionaries(st.sampled_from(["n", "i", "t", "l", "one", "many", "named"]), values))
def test_any_value_is_read_or_refused_in_one_sentence_of_the_class_asked_for(found: dict[str, object]) -> None:
    for read in (
        lambda one: one.number("n"),
        lambda one: one.integer("i"),
        lambda one: one.text("t"),
        lambda one: one.integers("l"),
        lambda one: one.table("one"),
        lambda one: one.tables("many"),
        lambda one: one.named_tables("named"),
        lambda one: one.done(),
    ):
        try:
            read(Table(found, "f", ConfigError))
        except InputError as error:
            assert isinstance(error, ConfigError)
            assert str(error).startswith("f")


def test_the_outermost_value_must_be_a_table() -> None:
    for value in (json.loads("[1]"), json.loads("3"), None):
        with pytest.raises(ConfigError, match="must be a table of keys and values"):
            Table(value, "f", ConfigError)
    assert Table(tomllib.loads("a = 1"), "f").integer("a") == 1
