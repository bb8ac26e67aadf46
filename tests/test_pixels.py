from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lightproof.errors import BadImage
from lightproof.pixels import read_grey, read_raw_grey

STEPS = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5

# How a camera stored an upright picture for each orientation it may note (EXIF tag 274).
STORED = {
    1: STEPS, 2: STEPS[:, ::-1], 3: STEPS[::-1, ::-1], 4: STEPS[::-1], 5: STEPS.T, 6: np.rot90(STEPS, 1),
    7: STEPS[::-1, ::-1].T, 8: np.rot90(STEPS, -1), 99: STEPS,
}  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "orientation"), [("tif", 6), ("tif", 7), *(("png", orientation) for orientation in STORED)]
)
def test_a_photo_comes_out_upright_however_the_camera_was_held(tmp_path, ending, orientation):
    note = Image.Exif()
    note[274] = orientation
    stored = Image.fromarray(np.ascontiguousarray(STORED[orientation]))
    # Pillow itself misreads TIFF files that are both sideways and uncompressed.
    stored.save(tmp_path / f"photo.{ending}", exif=note, compression="tiff_deflate")
    assert_array_equal(read_grey(tmp_path / f"photo.{ending}"), STEPS)


@pytest.mark.parametrize(
    "note", [b"Exif\0\0garbage", b"Exif\0\0II*\0\x08\0\0\0\xff\xff", b"Exif\0\0MM\0*\xff\xff\xff\xf0"]
)
def test_spoiled_notes_of_the_camera_do_not_spoil_the_picture(tmp_path, note):
    Image.fromarray(np.full((6, 8), 50, np.uint8)).save(tmp_path / "photo.jpg", exif=note)
    assert_array_equal(read_grey(tmp_path / "photo.jpg"), np.full((6, 8), 50))


def test_sixteen_bits_keep_their_upper_eight(tmp_path):
    Image.fromarray(STEPS.astype(np.uint16) * 256 + 3).save(tmp_path / "deep.png")
    assert_array_equal(read_grey(tmp_path / "deep.png"), STEPS)


@pytest.mark.parametrize("white", [1, 255, 65535])
def test_floats_are_read_with_the_white_that_fits_them(tmp_path, white):
    Image.fromarray(STEPS.astype(np.float32) * np.float32(white / 255)).save(tmp_path / "float.tif")
    assert_array_equal(read_grey(tmp_path / "float.tif"), STEPS)


def test_float_light_beyond_white_is_cut_off(tmp_path):
    Image.fromarray(np.array([[0, 0.5, 1, 3]], np.float32)).save(tmp_path / "bright.tif")
    assert_array_equal(read_grey(tmp_path / "bright.tif"), [[0, 128, 255, 255]])


def test_whole_numbers_of_32_bits_are_read_with_the_white_that_fits_them(tmp_path):
    Image.fromarray(np.array([[0, 1, 2, 255]], np.int32)).save(tmp_path / "8.tif")
    Image.fromarray(np.array([[0, 257, 514, 65535]], np.int32)).save(tmp_path / "16.tif")
    for name in ("8.tif", "16.tif"):
        assert_array_equal(read_grey(tmp_path / name), [[0, 1, 2, 255]])


@pytest.mark.parametrize(
    ("values", "legal", "got"),
    [
        (np.float32([[-1, 1]]), "1, 255, 65535", "values from -1 to 1"),
        (np.float32([[0, 70000]]), "1, 255, 65535", "values from 0 to 70000"),
        (np.float32([[0, np.nan]]), "1, 255, 65535", "values from nan to nan"),
        (np.float32([[0, np.inf]]), "1, 255, 65535", "values from 0 to inf"),
        (np.int32([[-5, 200]]), "255, 65535", "values from -5 to 200"),
        (np.int32([[0, 70000]]), "255, 65535", "values from 0 to 70000"),
    ],
)
def test_numbers_that_are_no_picture_are_named(tmp_path, values, legal, got):
    Image.fromarray(values).save(tmp_path / "odd.tif")
    expected = rf"odd\.tif must be a picture from 0 to white, which is one of {legal}; got {got}\.$"
    with pytest.raises(BadImage, match=expected):
        read_grey(tmp_path / "odd.tif")


def test_a_palette_with_transparency_is_read_without_a_warning(tmp_path):
    Image.fromarray(STEPS).convert("P").save(tmp_path / "flat.png", transparency=bytes(range(9)))
    assert_array_equal(read_grey(tmp_path / "flat.png"), STEPS)


@pytest.mark.parametrize("content", [b"", b"no picture", b"P5 8 6 255\n123", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    (tmp_path / "broken.png").write_bytes(content)
    with pytest.raises(BadImage, match=r"broken\.png must be a readable image file; got .+\.$"):
        read_grey(tmp_path / "broken.png")


@pytest.fixture
def colors(rng):
    """A smooth color picture with a little noise, as photos have."""
    rows, columns = np.mgrid[:48, :60]
    waves = [120 + 80 * np.sin(columns / a + c) * np.cos(rows / b) for a, b, c in ((9, 7, 0), (9, 7, 0.4), (11, 8, 1))]
    return np.clip(np.stack(waves, axis=2) + rng.normal(0, 4, (48, 60, 3)), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize("planar", [False, True])
def test_both_layouts_of_raw_bytes_give_the_same_picture(tmp_path, colors, planar, gray):
    if gray:
        colors = np.repeat(colors[:, :, :1], 3, axis=2)
    layout = colors.transpose(2, 0, 1) if planar else colors
    (tmp_path / "photo.raw").write_bytes(layout.tobytes())
    assert_array_equal(read_raw_grey(tmp_path / "photo.raw", 48, 60), np.asarray(Image.fromarray(colors).convert("L")))


def test_raw_bytes_of_another_number_are_refused(tmp_path):
    (tmp_path / "photo.raw").write_bytes(bytes(100))
    with pytest.raises(BadImage, match=r"photo\.raw must be a file of 6 x 8 x 3 bytes; got 100 bytes\.$"):
        read_raw_grey(tmp_path / "photo.raw", 6, 8)
    with pytest.raises(BadImage, match=r"none\.raw must be a file of 6 x 8 x 3 bytes; got .*No such file.*\.$"):
        read_raw_grey(tmp_path / "none.raw", 6, 8)
