"""JSON is read as Python reads it, but for what nests without end, which is refused with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.source.json_text import DEEPEST, TooDeepError, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_values_are_those_of_python(value: object, ascii_only: bool, encoding: str) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_json(text) == value
    assert read_json(text.encode(encoding, "surrogatepass")) == value


@given(st.text(alphabet='[]{}"\\:,1 a\n'))
def test_what_python_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # both have many
            read_json(text)
    else:
        assert read_json(text) == expected


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_has_a_limit_and_a_place(opening: str, closing: str) -> None:
    deepest = opening * DEEPEST + "1" + closing * DEEPEST
    assert read_json(deepest) == json.loads(deepest)
    with pytest.raises(TooDeepError) as caught:
        read_json(f"[{deepest}]")
    assert caught.value.pos == 1 + (DEEPEST - 1) * len(opening)
    with pytest.raises(TooDeepError):
        read_json(opening * 1_000_000)


def test_brackets_in_texts_nest_nothing() -> None:
    value = [{"a": '[{"\\' * 200, "b": ["}]" * 200]}] * 200
    assert read_json(json.dumps(value)) == value
