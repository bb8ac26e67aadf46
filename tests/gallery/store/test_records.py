from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightproof.errors import BadLabels
from lightproof.gallery.store.records import check_name, storable


@pytest.mark.parametrize(
    "name",
    [
        "Ada",
        "O'Neil",
        "山田\u3000太郎",
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
        "x" * 200,
        "\U0001f600",
        "a\u00a0b",
        "%_'\";--",
    ],
)
def test_names_of_the_world_are_taken_as_they_are(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "got"),
    [
        ("", "''"),
        (" ", "' '"),
        ("Ada ", "'Ada '"),
        ("\u3000Ada", r"'\\u3000Ada'"),
        ("A\nB", r"'A\\nB'"),
        ("A\0", r"'A\\x00'"),
        ("A\u202eB", r"'A\\u202eB'"),
        ("A\ud800", r"'A\\ud800'"),
        ("A\ue000", r"'A\\ue000'"),
        ("x" * 201, "201 letters"),
        (" " * 1000, "space at its ends"),
        (7, "a int"),
        (None, "a NoneType"),
        (b"Ada", "a bytes"),
    ],
)
def test_what_nobody_can_be_called_is_told_in_one_line(name, got):
    said = rf"^The name of a person must be a str of 1 to 200 visible letters without space at its ends; got {got}\.$"
    with pytest.raises(BadLabels, match=said):
        check_name(name)


@given(st.text(max_size=20))
def test_a_name_that_was_taken_is_taken_again_unchanged(name):
    try:
        once = check_name(name)
    except BadLabels:
        return
    assert check_name(once) == once == unicodedata.normalize("NFC", name)


@given(st.text(st.characters(categories=["L", "Cs", "Cc", "So"])))
def test_all_text_becomes_text_that_a_database_holds_and_clean_text_stays(text):
    made = storable(text)
    assert "\0" not in made
    assert made.encode().decode() == made
    assert storable(made) == made
    if "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert made == text
