"""A file's text after a change: the lines of the change differ, and no other character does."""

import difflib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies_edit_files import FILES, LAID_OUT, WINDOWS, at, content_of, document_of, places, with_value

from service.policies.read_yaml import Value
from service.policies.rewrite import is_same, rewrite
from service.policies.splice import Uneditable


def touched(before: str, after: str) -> set[int]:
    """Answer the numbers of the lines of `before` that are not in `after`, from 1."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return {
        line + 1
        for kind, i1, i2, _, _ in matcher.get_opcodes()
        if kind != "equal"
        for line in range(i1, max(i2, i1 + 1))
    }


@pytest.mark.parametrize("files", [FILES, WINDOWS], ids=["unix", "windows"])
def test_every_value_of_every_file_set_to_itself_changes_no_byte(files: Mapping[str, str]) -> None:
    count = 0
    for text in files.values():
        content = content_of(text)
        for path in places(content):
            count += 1
            assert rewrite(text, content, with_value(content, path, deepcopy(at(content, path)))) == text

    assert count > 3_000


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_value_set_and_set_back_is_the_original_and_touches_its_lines_alone(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FILES)))
    text = FILES[name].replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))
    content = content_of(text)
    scalars = [path for path in places(content) if not isinstance(at(content, path), dict | list)]
    path = data.draw(st.sampled_from(scalars))
    old = at(content, path)
    other: st.SearchStrategy[Value] = st.sampled_from(
        ["word", "NO", "1.10", "two words: here", "#x", "[a]", "", "ünï"]
    )
    if not isinstance(old, str):
        other = st.one_of(st.integers(0, 10**9), st.booleans(), st.sampled_from([0.5, 12.25]))
    changed_content = with_value(content, path, data.draw(other))

    changed = rewrite(text, content, changed_content)

    assert is_same(content_of(changed), changed_content)
    assert touched(text, changed) <= {document_of(text).place_of(path).line}
    assert rewrite(changed, changed_content, content) == text


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_an_entry_added_and_taken_out_again_leaves_the_original(data: st.DataObject) -> None:
    text = FILES[data.draw(st.sampled_from(sorted(FILES)))].replace(
        "\n", data.draw(st.sampled_from(["\n", "\r\n"]))
    )
    if data.draw(st.booleans()):
        text = text.rstrip("\r\n")
    content = content_of(text)
    holders = [
        path
        for path in [(), *places(content)]
        if isinstance(at(content, path), dict | list) and at(content, path)
    ]
    path = data.draw(st.sampled_from(holders))
    kinds: list[Any] = [1, "word", "NO", ["a", "b"], {"k": "v", "long": ["x" * 60, "y" * 60]}]
    new = data.draw(st.sampled_from(kinds))
    wanted: Any = deepcopy(content)
    if isinstance(at(wanted, path), dict):
        at(wanted, path)["added"] = new
    else:
        at(wanted, path).append(new)

    changed = rewrite(text, content, wanted)

    assert is_same(content_of(changed), wanted)
    assert rewrite(changed, wanted, content) == text


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_what_is_taken_out_takes_its_own_lines_and_no_comment_of_another(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([*FILES.values(), LAID_OUT]))
    content = content_of(text)
    path = data.draw(st.sampled_from([path for path in places(content) if len(path) > 1]))
    wanted: Any = deepcopy(content)
    del at(wanted, path[:-1])[path[-1]]

    changed = rewrite(text, content, wanted)

    assert is_same(content_of(changed), wanted)
    own = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    left = [line.strip() for line in changed.splitlines() if line.strip().startswith("#")]
    inside = touched(text, changed)
    lines = text.splitlines()
    gone = [one for one in own if left.count(one) < own.count(one)]
    assert all(any(lines[number - 1].strip() == one for number in inside) for one in gone)


JSON = st.recursive(
    st.one_of(
        st.integers(-(10**14), 10**14),
        st.booleans(),
        st.none(),
        st.floats(-1e6, 1e6).map(lambda n: round(n, 3)),
        st.text(max_size=30),
    ),
    lambda part: st.one_of(
        st.lists(part, max_size=4), st.dictionaries(st.text(min_size=1, max_size=8), part, max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.data(), JSON)
def test_whatever_value_is_read_back_as_it_is_or_refused(data: st.DataObject, value: Value) -> None:
    text = data.draw(
        st.sampled_from([LAID_OUT, LAID_OUT.replace("\n", "\r\n"), FILES["policies/access.yaml"]])
    )
    content = content_of(text)
    path = data.draw(st.sampled_from(list(places(content))))
    wanted = with_value(content, path, value)

    try:
        changed = rewrite(text, content, wanted)
    except Uneditable:
        return

    again = content_of(changed)
    # Keys that stay keep their order, and new ones follow.
    assert again == wanted
    assert str(again).count("True") == str(wanted).count("True")


def test_ordinary_values_are_never_refused() -> None:
    content = content_of(LAID_OUT)
    values: list[Any] = ["word", "NO", "a: b", 5, True, None, [], ["a", 1], {"a": {"b": ["c"]}}, ["x" * 200]]
    for path in places(content):
        for value in values:
            wanted = with_value(content, path, value)

            assert content_of(rewrite(LAID_OUT, content, wanted)) == wanted
