from __future__ import annotations

import io
import json
import os
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lightproof import PRESETS, FaceRecognizer
from lightproof.errors import BadLabels, BadModelFile, CannotWrite
from lightproof.estimators.sklearn_contract import NotFitted
from tests.bounded import BOUNDED


@pytest.fixture
def saved(frontal, tmp_path):
    path = tmp_path / "people.lightproof"
    FaceRecognizer(**BOUNDED).fit(frontal.images, frontal.labels).save(path)
    return path


@pytest.fixture
def saved_floats(frontal, tmp_path):
    """A file whose directions are floats and whose vectors hold every point of a patch."""
    path = tmp_path / "people.lightproof"
    FaceRecognizer("authors").fit(frontal.images, frontal.labels).save(path)
    return path


def rewrite(path, edit_header=None, edit_array=None, compression=zipfile.ZIP_STORED):
    """Write the file again with something in it changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = {name: np.load(io.BytesIO(data)) for name, data in members.items()}
    if edit_header:
        header = json.loads(arrays["header.npy"].tobytes())
        edit_header(header)
        arrays["header.npy"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    if edit_array:
        edit_array(arrays)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            out = io.BytesIO()
            np.save(out, array)
            archive.writestr(name, out.getvalue())


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"preset": "fast"},
        BOUNDED,
        BOUNDED | {"dtype": "float64"},
        BOUNDED | {"light": "log", "cell": 8},
        BOUNDED | {"components": 2},
        BOUNDED | {"size": "as-is"},
        BOUNDED | {"storage": "float"},
        BOUNDED | {"storage": "float", "dtype": "float64"},
        BOUNDED | {"deformations": "all"},
        {"preset": "authors"},
        {"preset": "authors", "dtype": "float64"},
        {"preset": "authors", "light": "log", "cell": 8},
        {"preset": "authors", "components": 3},
        {"preset": "authors", "size": "as-is"},
        {"preset": "paper"},
    ],
)
def test_answers_after_a_round_trip_are_bit_equal(frontal, lit, tmp_path, overrides):
    recognizer = FaceRecognizer(**overrides).fit(frontal.images, frontal.labels)
    recognizer.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    assert_array_equal(loaded.distances(lit.images), recognizer.distances(lit.images))
    assert_array_equal(loaded.patch_distances(lit.images[:3]), recognizer.patch_distances(lit.images[:3]))
    assert_array_equal(loaded.classes_, recognizer.classes_)
    assert loaded.classes_.dtype == recognizer.classes_.dtype
    assert loaded.get_params() == recognizer.get_params()
    assert loaded.settings_ == recognizer.settings_


@pytest.mark.parametrize("preset", PRESETS)
def test_a_loaded_recognizer_enrolls_and_forgets_like_the_saved_one(frontal, lit, tmp_path, preset):
    known = frontal.take(frontal.labels != "person-04")
    new = frontal.images[frontal.labels == "person-04"]
    recognizer = FaceRecognizer(preset).fit(known.images, known.labels)
    recognizer.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    for one in (recognizer, loaded):
        one.enroll("person-04", new).forget("person-00")
    assert_array_equal(loaded.distances(lit.images), recognizer.distances(lit.images))


@pytest.mark.parametrize("names", [[7, 3], [1.5, 0.25], [True, False], ["ü", "a"]])
def test_labels_keep_their_type(frontal, tmp_path, names):
    FaceRecognizer().fit(frontal.images[:4], [names[0]] * 2 + [names[1]] * 2).save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people").classes_.tolist()
    assert loaded == sorted(names)
    assert [type(x) for x in loaded] == [type(x) for x in sorted(names)]


def test_the_chosen_number_of_components_is_kept(frontal, tmp_path):
    recognizer = FaceRecognizer("authors", components="validate").fit(frontal.images, frontal.labels)
    recognizer.save(tmp_path / "people")
    loaded = FaceRecognizer.load(tmp_path / "people")
    assert loaded.settings_["components"] == recognizer.settings_["components"]
    assert loaded.components == "validate"


def test_saving_a_label_that_json_cannot_hold_is_refused_and_leaves_nothing(frontal, tmp_path):
    recognizer = FaceRecognizer().fit(frontal.images[:2], [("a", 1), ("b", 2)])
    expected = r"^Label \('a', 1\) must be a str, int, float or bool to be saved; got a tuple\.$"
    with pytest.raises(BadLabels, match=expected):
        recognizer.save(tmp_path / "people")
    assert os.listdir(tmp_path) == []


def test_a_save_that_fails_half_way_leaves_the_old_file(frontal, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(member, array, allow_pickle):
        member.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    expected = r"people\.lightproof must be a place that can be written; got: disk full\.$"
    with pytest.raises(CannotWrite, match=expected):
        FaceRecognizer().fit(frontal.images[:2], ["x", "y"]).save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_saving_nobody_is_refused(tmp_path):
    with pytest.raises(NotFitted, match=r"^FaceRecognizer\.save must come after fit or enroll"):
        FaceRecognizer().save(tmp_path / "people")


def test_a_place_that_takes_no_file_is_named(frontal, tmp_path):
    recognizer = FaceRecognizer().fit(frontal.images[:2], ["x", "y"])
    with pytest.raises(CannotWrite, match=r"nowhere/people must be a place that can be written; got: No such file"):
        recognizer.save(tmp_path / "nowhere" / "people")
    with pytest.raises(CannotWrite, match=r"got: Is a directory\.$"):
        recognizer.save(tmp_path)
    assert os.listdir(tmp_path) == []


def test_settings_changed_after_fit_are_not_saved(frontal, tmp_path):
    recognizer = FaceRecognizer("paper").fit(frontal.images, frontal.labels)
    recognizer.set_params(cell=8).save(tmp_path / "people")
    assert FaceRecognizer.load(tmp_path / "people").cell is None


@pytest.mark.parametrize("keep", [0, 10, 1000, 0.5, 0.99])
def test_a_truncated_file_is_refused(saved, keep):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    expected = r"people\.lightproof must be a file written by FaceRecognizer\.save; got a foreign or truncated file\.$"
    with pytest.raises(BadModelFile, match=expected):
        FaceRecognizer.load(saved)


def test_a_flipped_byte_is_refused(saved):
    data = bytearray(saved.read_bytes())
    data[len(data) // 2] ^= 0xFF
    saved.write_bytes(bytes(data))
    with pytest.raises(BadModelFile, match=r"got a foreign or truncated file\.$"):
        FaceRecognizer.load(saved)


@pytest.mark.slow
def test_no_flipped_byte_of_the_zip_structure_escapes_the_family_or_changes_an_answer(frontal, lit, tmp_path):
    path = tmp_path / "people"
    FaceRecognizer(**BOUNDED | {"size": (8, 8)}).fit(frontal.images[:2], ["a", "b"]).save(path)
    data = path.read_bytes()
    expected = FaceRecognizer.load(path).distances(lit.images[:2])
    # The local header of the first member, and the directory at the end with its names, sizes and flags.
    for place in [*range(60), *range(len(data) - 400, len(data))]:
        for flip in (0x01, 0x80, 0xFF):
            spoiled = bytearray(data)
            spoiled[place] ^= flip
            path.write_bytes(bytes(spoiled))
            try:
                found = FaceRecognizer.load(path).distances(lit.images[:2])
            except BadModelFile:
                continue
            assert_array_equal(found, expected)


def test_a_saved_file_has_the_permissions_of_any_new_file(saved, tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    assert saved.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "foreign"
    with pytest.raises(BadModelFile, match=r"foreign must be a file written by .*; got no such file\.$"):
        FaceRecognizer.load(path)
    path.write_text("hello")
    with pytest.raises(BadModelFile, match=r"got a foreign or truncated file\.$"):
        FaceRecognizer.load(path)
    with open(path, "wb") as file:
        np.savez(file, x=np.zeros(3))
    with pytest.raises(BadModelFile, match=r"got an archive without a header\.$"):
        FaceRecognizer.load(path)
    with pytest.raises(BadModelFile, match=r"got a file that cannot be read \(Is a directory\)\.$"):
        FaceRecognizer.load(tmp_path)


def test_pickled_arrays_are_refused(saved):
    def plant(arrays):
        del arrays["own_0.npy"]

    rewrite(saved, edit_array=plant)
    out = io.BytesIO()
    np.save(out, np.array([{"a": 1}], object), allow_pickle=True)
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("own_0.npy", out.getvalue())
    with pytest.raises(BadModelFile, match=r"got a damaged file \(Object arrays cannot be loaded"):
        FaceRecognizer.load(saved)


def set_key(*keys_and_value):
    *keys, value = keys_and_value

    def edit(header):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return edit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_key("kind", "other"), r"got an archive of another kind\.$"),
        (set_key("format", 99), r"got format 99, where this version reads format 3\.$"),
        (set_key("format", 1), r"got format 1, where this version reads format 3\.$"),
        (set_key("labels", "abcde"), r"got labels that are not a list of str, int, float or bool\.$"),
        (set_key("labels", ["a", "a", "b", "c", "d"]), r"got no labels, or the same label twice\.$"),
        (set_key("labels", []), r"got no labels, or the same label twice\.$"),
        (set_key("labels", ["a", "b", "c", "d", "e", "f"]), r"got a damaged file"),
        (set_key("settings", "cell", -1), r"got settings that are not legal \(`cell` of FaceRecognizer must be"),
        (
            set_key("settings", "cell", 8),
            r"got arrays of other patches than the settings ask for, for 'person-00'\.$",
        ),
        (set_key("settings", "detail", 4), r"got arrays of other patches than the settings ask for\.$"),
        (set_key("settings", "detail", 35), r"got arrays of other patches than the settings ask for\.$"),
        (set_key("settings", "detail", 36), r"got settings that are not legal \(`detail` of FaceRecognizer must be"),
        (set_key("settings", "n_angles", 10**12), r"got arrays of other patches than the settings ask for\.$"),
        (
            set_key("settings", "overlap", 0),
            r"got arrays of other patches than the settings ask for, for 'person-00'\.$",
        ),
        (set_key("params", "preset", "best"), r"got settings that are not legal"),
        (set_key("settings", "storage", "float"), r"got int8 numbers where the settings say float32\.$"),
        (set_key("settings", "aggregate", 2), r"got settings that are not legal \(`aggregate` of FaceRecognizer must"),
        (set_key("arrays", ["own"]), r"got arrays of another kind\.$"),
        (set_key("params", "preset", "robust"), r"got settings that are not legal"),
        (set_key("settings", "weights", 2), r"got settings that are not legal \(`weights` of FaceRecognizer must be"),
        (set_key("settings", "copies", None), r"got settings that are not legal \(`copies` of FaceRecognizer must be"),
        (set_key("settings", None), r"got settings that are not legal"),
        (set_key("settings", {}), r"got settings that are not legal"),
        (set_key("settings", "components", "validate"), r"got settings that are not legal"),
        (set_key("shape", None), r"got settings that are not legal"),
        (set_key("params", "surprise", 1), r"got settings that are not legal"),
    ],
)
def test_a_header_that_lies_is_refused(saved, edit, message):
    rewrite(saved, edit_header=edit)
    with pytest.raises(BadModelFile, match=message):
        FaceRecognizer.load(saved)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_key("settings", "cell", 8), r"got arrays of other patches than the settings ask for\.$"),
        (set_key("settings", "detail", 8), r"got arrays of other patches than the settings ask for\.$"),
        (set_key("settings", "detail", 16), r"got settings that are not legal \(`detail` of FaceRecognizer must be"),
        (set_key("settings", "n_angles", 10**12), r"got arrays of other patches than the settings ask for\.$"),
        (set_key("settings", "dtype", "float64"), r"got float32 numbers where the settings say float64\.$"),
        (set_key("settings", "storage", "int8"), r"got settings that are not legal \(`storage` of FaceRecognizer must"),
        (set_key("settings", "components", "validate"), r"got settings that are not legal"),
    ],
)
def test_a_header_that_lies_about_floats_is_refused(saved_floats, edit, message):
    rewrite(saved_floats, edit_header=edit)
    with pytest.raises(BadModelFile, match=message):
        FaceRecognizer.load(saved_floats)


def test_arrays_that_do_not_fit_are_refused(saved):
    def flatten(arrays):
        arrays["own_0.npy"] = arrays["own_0.npy"].ravel()

    rewrite(saved, edit_array=flatten)
    with pytest.raises(BadModelFile, match=r"that do not fit each other\.$"):
        FaceRecognizer.load(saved)


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"preset": "authors"}, "own_0"), ({"preset": "authors"}, "coordinates_0"), (BOUNDED, "coordinates_0")],
)
def test_numbers_that_are_not_finite_are_refused(frontal, tmp_path, settings, name):
    path = tmp_path / "people.lightproof"
    FaceRecognizer(**settings).fit(frontal.images, frontal.labels).save(path)

    def spoil(arrays):
        numbers = arrays[f"{name}.npy"]
        arrays[f"{name}.npy"] = numbers * numbers.dtype.type(np.nan)

    rewrite(path, edit_array=spoil)
    with pytest.raises(BadModelFile, match=r"got numbers that are not finite\.$"):
        FaceRecognizer.load(path)


@pytest.mark.parametrize(
    ("name", "kind"), [("own_0", np.int16), ("own_0", np.float32), ("own_0", np.uint8), ("coordinates_0", np.float64)]
)
def test_numbers_of_another_kind_are_refused(saved, name, kind):
    """Whole numbers go with half precision, and nothing else does."""

    def change(arrays):
        arrays[f"{name}.npy"] = arrays[f"{name}.npy"].astype(kind)

    rewrite(saved, edit_array=change)
    with pytest.raises(BadModelFile, match=r"got arrays .* that do not fit each other\.$"):
        FaceRecognizer.load(saved)


def test_a_compressed_archive_is_refused_before_it_unpacks(saved):
    rewrite(saved, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(BadModelFile, match=r"got a compressed archive\.$"):
        FaceRecognizer.load(saved)


@pytest.fixture
def saved_engine(frontal, tmp_path):
    """A file that holds templates as galleries keep them."""
    path = tmp_path / "people.lightproof"
    FaceRecognizer("fast").fit(frontal.images, frontal.labels).save(path)
    return path


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_key("parameters", "other"), r"got templates of another version\.$"),
        (set_key("params", "preset", "robust"), r"got templates of another version\.$"),
        (set_key("params", "preset", "paper"), r"got settings that are not legal"),
        (
            set_key("params", "light", "log"),
            r"got settings that are not legal \(`light` of FaceRecognizer must be None",
        ),
    ],
)
def test_a_header_that_lies_about_templates_is_refused(saved_engine, edit, message):
    rewrite(saved_engine, edit_header=edit)
    with pytest.raises(BadModelFile, match=message):
        FaceRecognizer.load(saved_engine)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("templates_0", lambda array: array[:-1], r"got templates that are cut off\.$"),
        ("lengths_0", lambda array: array - 1, r"got templates that are cut off\.$"),
        ("lengths_0", lambda array: array[:0], r"got templates that are cut off\.$"),
        ("lengths_0", lambda array: array.astype(np.int32), r"got templates that are cut off\.$"),
        ("templates_0", lambda array: np.full_like(array, 255), r"got a damaged template"),
    ],
)
def test_templates_that_are_damaged_are_refused(saved_engine, name, change, message):
    def spoil(arrays):
        arrays[f"{name}.npy"] = change(arrays[f"{name}.npy"])

    rewrite(saved_engine, edit_array=spoil)
    with pytest.raises(BadModelFile, match=message):
        FaceRecognizer.load(saved_engine)
