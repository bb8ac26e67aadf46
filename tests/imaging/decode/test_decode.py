from __future__ import annotations

import io
import json
import os
import stat
import struct
import subprocess
import sys
import time
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image, ImageFile

from lightproof.errors import BadImage, TooManyPixels
from lightproof.imaging import decode
from lightproof.imaging.decode import files, format_guards, pnm, read_grey, read_raw_grey
from tests.hostile import interlaced_png, sound_files, write_hostile_files

STEPS = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
COLORS = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 255], [0, 0, 0], [10, 200, 30]]], np.uint8)
GREYS = np.array([[76, 150, 29], [255, 0, 124]], np.uint8)  # 0.299 red + 0.587 green + 0.114 blue

# How a camera stored an upright picture for each orientation it may note (EXIF tag 274).
STORED = {
    1: STEPS, 2: STEPS[:, ::-1], 3: STEPS[::-1, ::-1], 4: STEPS[::-1], 5: STEPS.T, 6: np.rot90(STEPS, 1),
    7: STEPS[::-1, ::-1].T, 8: np.rot90(STEPS, -1),
}  # fmt: skip


def saved(picture, kind, **how):
    file = io.BytesIO()
    (picture if isinstance(picture, Image.Image) else Image.fromarray(np.ascontiguousarray(picture))).save(
        file, kind, **how
    )
    return file.getvalue()


def tiff(tags, data, order="<"):
    """Write a TIFF file by hand: tag -> whole numbers; the data follow at byte 400."""
    tags = {256: [8], 257: [6], 259: [1], 262: [1], 273: [400], 277: [1], 278: [6], 279: [len(data)]} | tags
    entries, beyond = b"", b""
    for tag, numbers in sorted(tags.items()):
        packed = struct.pack(f"{order}{len(numbers)}H", *numbers)
        if len(packed) > 4:
            packed, beyond = struct.pack(order + "L", 300 + len(beyond)), beyond + packed
        entries += struct.pack(order + "HHL", tag, 3, len(numbers)) + packed.ljust(4, b"\0")
    start = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "LH", 8, len(tags))
    return ((start + entries + bytes(4)).ljust(300, b"\0") + beyond).ljust(400, b"\0") + data


# What is read right.


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("PNG", {}), ("BMP", {}), ("PPM", {}), ("GIF", {}), ("TIFF", {}), ("TIFF", {"compression": "tiff_lzw"}),
        ("TIFF", {"compression": "tiff_deflate"}), ("TIFF", {"compression": "packbits"}), ("TIFF", {"big_tiff": True}),
        ("WEBP", {"lossless": True}),
    ],
)  # fmt: skip
def test_every_format_gives_the_grey_values_that_were_written(tmp_path, kind, how):
    contents = saved(Image.fromarray(STEPS).convert("RGB" if kind == "WEBP" else "L"), kind, **how)
    (tmp_path / "named.anything").write_bytes(contents)
    for source in (contents, tmp_path / "named.anything", str(tmp_path / "named.anything")):
        grey = read_grey(source)
        assert_array_equal(grey, STEPS, strict=True)
        assert grey.flags.c_contiguous
        assert grey.flags.writeable


@pytest.mark.parametrize("how", [{}, {"progressive": True}, {"restart_marker_rows": 1}, {"optimize": True}])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_a_jpeg_is_read_as_its_grey(mode, how):
    smooth = np.add.outer(np.arange(40), np.arange(52)).astype(np.uint8) * 2
    contents = saved(Image.fromarray(smooth).convert(mode), "JPEG", quality=95, **how)
    assert_allclose(read_grey(contents).astype(int), smooth, atol=4)


def test_ink_in_a_jpeg_is_read_by_the_convention_of_its_writer():
    adobe = saved(Image.fromarray(np.full((8, 8), 200, np.uint8)).convert("CMYK"), "JPEG", quality=95)
    marker = adobe.index(b"\xff\xee")
    length = int.from_bytes(adobe[marker + 2 : marker + 4])
    others = adobe[:marker] + adobe[marker + 2 + length :]  # without Adobe's mark ink is ink: 55 of 255 is all light
    assert_allclose(read_grey(adobe).astype(int), 200, atol=1)
    assert_allclose(read_grey(others).astype(int), 0, atol=1)


def test_of_several_pictures_the_first_is_read():
    first, second = Image.fromarray(STEPS).convert("RGB"), Image.new("RGB", (8, 6), "white")
    for kind, how in {"GIF": {}, "PNG": {}, "TIFF": {}, "WEBP": {"lossless": True}}.items():
        assert_array_equal(read_grey(saved(first, kind, save_all=True, append_images=[second], **how)), STEPS)
    several = read_grey(saved(first, "MPO", quality=100, save_all=True, append_images=[second]))
    assert_allclose(several.astype(int), STEPS, atol=3)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "PPM", "TIFF", "WEBP"])
def test_colors_become_the_light_that_the_eye_sees(kind):
    contents = saved(COLORS, kind, **({"lossless": True} if kind == "WEBP" else {}))
    assert_array_equal(read_grey(contents), GREYS)


def test_a_palette_is_looked_up():
    picture = Image.fromarray(COLORS).quantize(6, dither=Image.Dither.NONE)
    for kind in ("PNG", "BMP", "GIF", "TIFF"):
        assert_array_equal(read_grey(saved(picture, kind)), GREYS)


def test_one_bit_is_black_or_white():
    chess = np.indices((6, 9)).sum(axis=0) % 2 == 0
    for kind in ("PNG", "BMP", "PPM", "TIFF", "GIF"):
        assert_array_equal(read_grey(saved(Image.fromarray(chess), kind)), np.where(chess, 255, 0))
    assert_array_equal(read_grey(saved(Image.fromarray(chess), "TIFF", compression="group4")), np.where(chess, 255, 0))


def test_other_spaces_of_color_are_read_as_grey():
    grey = Image.fromarray(np.tile(np.uint8([0, 60, 119, 255]), (4, 1)))
    assert_array_equal(read_grey(saved(grey.convert("CMYK"), "TIFF")), grey)
    assert_allclose(read_grey(saved(grey.convert("RGB").convert("YCbCr"), "TIFF")).astype(int), grey, atol=1)
    lightness = Image.merge("LAB", [grey, *[Image.new("L", grey.size, 128)] * 2])  # 119 of 255 is L* = 46.7
    assert_allclose(read_grey(saved(lightness, "TIFF"))[0].astype(int), [0, 56, 111, 255], atol=2)


def test_sixteen_bits_keep_their_upper_eight():
    deep = STEPS.astype(np.uint16) * 256 + 3
    for kind in ("PNG", "TIFF", "PPM"):
        assert_array_equal(read_grey(saved(deep, kind)), STEPS)
    assert_array_equal(read_grey(saved(deep, "TIFF", compression="tiff_lzw")), STEPS)
    assert_array_equal(read_grey(tiff({258: [16]}, deep.astype(">u2").tobytes(), ">")), STEPS)
    colors = np.repeat(deep[:, :, None], 3, axis=2)
    for order in "<>":
        data = colors.astype(order + "u2").tobytes()
        assert_array_equal(read_grey(tiff({258: [16] * 3, 262: [2], 277: [3]}, data, order)), STEPS)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in colors)
    header, data = struct.pack(">2I5B", 8, 6, 16, 2, 0, 0, 0), zlib.compress(rows)
    parts = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts]
    assert_array_equal(read_grey(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)), STEPS)


def test_a_dark_photo_of_sixteen_bits_stays_dark():
    dark = np.full((4, 4), 200, np.uint16)  # of 65535
    for kind in ("PNG", "TIFF", "PPM"):
        assert_array_equal(read_grey(saved(dark, kind)), np.zeros((4, 4)))
    assert_array_equal(read_grey(b"P2 2 1 65535\n200 65535\n"), [[0, 255]])


def test_twelve_bits_keep_their_upper_eight():
    packed = bytes([0x12, 0x3F, 0xFF, 0x00, 0x00, 0x80])  # 0x123, 0xfff, 0x000, 0x080
    assert_array_equal(read_grey(tiff({256: [4], 257: [1], 258: [12], 278: [1]}, packed)), [[0x12, 0xFF, 0, 0x08]])


def test_where_zero_is_white_it_is_read_so():
    deep = STEPS.astype("<u2") * 256
    assert_array_equal(read_grey(tiff({258: [8], 262: [0]}, STEPS.tobytes())), 255 - STEPS)
    assert_array_equal(read_grey(tiff({258: [16], 262: [0]}, deep.tobytes())), 255 - STEPS)


@pytest.mark.parametrize(
    "head", [b"P5 3 2 255\n", b"P5\n3\t2\n255 ", b"P5  003 2\r\n255\r", b"P5\n# by hand\n3 2 255\n"]
)
def test_a_bare_file_of_grey_bytes_is_read_as_pillow_reads_it(head):
    contents = head + bytes(range(10, 70, 10))
    with Image.open(io.BytesIO(contents)) as image:
        expected = np.asarray(image)
    for found in (read_grey(contents), read_grey(contents + b"more")):
        assert_array_equal(found, expected)
        assert (found.dtype, found.flags.writeable, found.flags.c_contiguous) == (np.uint8, True, True)


@pytest.mark.parametrize(
    ("contents", "got"),
    [
        (b"P5 3 2 255\n12345", "truncated"),
        (b"P5 0 2 255\n12345", "."),
        (b"P5 99999 1 255\n1", "99999"),
        (b"P5 60000 60000 255\n1", "60000"),
    ],
)
def test_a_bare_file_that_cannot_be_right_is_refused(contents, got):
    with pytest.raises(BadImage, match=f"^the picture must be .*{got}"):
        read_grey(contents)


def test_a_pnm_file_may_have_any_white_and_may_be_a_text():
    assert_array_equal(read_grey(b"P5 4 1 100\n\x00\x32\x64\x14"), [[0, 128, 255, 51]])
    assert_array_equal(read_grey(b"P5 2 1 1000\n\x01\xf4\x03\xe8"), [[128, 255]])
    assert_array_equal(read_grey(b"P6 1 1 5\n\x05\x05\x05"), [[255]])
    assert_array_equal(read_grey(b"P2 # a remark\n3 1\n10\n0 5 # another\n10\n"), [[0, 128, 255]])
    assert_array_equal(read_grey(b"P3 1 1 255\n255 0 0\n"), [[76]])
    assert_array_equal(read_grey(b"P1 4 1\n0 1 10\n"), [[255, 0, 0, 255]])
    assert_array_equal(read_grey(b"Pf\n2 1\n-1.0\n" + np.float32([0, 0.5]).tobytes()), [[0, 128]])


@pytest.mark.parametrize("white", [1, 255, 65535])
def test_floats_are_read_with_the_white_that_fits_them(white):
    assert_array_equal(read_grey(saved(STEPS.astype(np.float32) * np.float32(white / 255), "TIFF")), STEPS)


def test_float_light_beyond_white_is_cut_off():
    assert_array_equal(read_grey(saved(np.float32([[0, 0.5, 1, 3]]), "TIFF")), [[0, 128, 255, 255]])


def test_whole_numbers_of_32_bits_are_read_with_the_white_that_fits_them():
    for values in ([[0, 1, 2, 255]], [[0, 257, 514, 65535]]):
        assert_array_equal(read_grey(saved(np.int32(values), "TIFF")), [[0, 1, 2, 255]])


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


def test_transparent_pixels_are_seen_before_mid_grey():
    alpha = np.uint8([[255, 0, 51, 255]])
    grey = np.uint8([[200, 200, 100, 0]])
    expected = [[200, 128, 122, 0]]  # 122.4 = (51 * 100 + 204 * 128) / 255
    for mode in ("LA", "RGBA"):
        picture = Image.fromarray(grey).convert(mode)
        picture.putalpha(Image.fromarray(alpha))
        for kind in ("PNG", "TIFF"):
            assert_array_equal(read_grey(saved(picture, kind)), expected)
    assert_array_equal(read_grey(saved(picture, "WEBP", lossless=True)), expected)


def test_a_color_that_means_transparent_is_seen_before_mid_grey():
    levels = Image.fromarray(np.uint8([[0, 1, 2, 3]]))
    assert_array_equal(read_grey(saved(levels, "PNG", transparency=2)), [[0, 1, 128, 3]])
    assert_array_equal(read_grey(saved(levels.convert("RGB"), "PNG", transparency=(1, 1, 1))), [[0, 128, 2, 3]])
    palette = levels.convert("P")
    for kind in ("PNG", "GIF"):
        assert_array_equal(read_grey(saved(palette, kind, transparency=0)), [[128, 1, 2, 3]])
    assert_array_equal(read_grey(saved(palette, "PNG", transparency=bytes([0, 255, 0]))), [[128, 1, 128, 3]])


@pytest.mark.parametrize("orientation", STORED)
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("PNG", {}), ("TIFF", {}), ("TIFF", {"compression": "tiff_deflate"}), ("WEBP", {"lossless": True}),
        ("JPEG", {"quality": 100}),
    ],
)  # fmt: skip
def test_a_photo_comes_out_upright_however_the_camera_was_held(kind, how, orientation):
    note = Image.Exif()
    note[274] = orientation
    stored = Image.fromarray(np.ascontiguousarray(STORED[orientation]))
    contents = saved(stored.convert("RGB") if kind == "WEBP" else stored, kind, exif=note, **how)
    grey = read_grey(contents)
    assert_allclose(grey.astype(int), STEPS, atol=2 if kind == "JPEG" else 0)
    assert grey.flags.c_contiguous


def test_an_orientation_that_is_none_leaves_the_photo_as_it_is():
    note = Image.Exif()
    note[274] = 99
    assert_array_equal(read_grey(saved(STEPS, "PNG", exif=note)), STEPS)


@pytest.mark.parametrize(
    "note",
    [
        b"garbage",
        b"II*\0\x08\0\0\0\xff\xff",
        b"MM\0*\xff\xff\xff\xf0",
        b"II*\0\x08\0\0\0\1\0\x12\1\7\0\xff\xff\xff\xff",
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_spoiled_notes_of_the_camera_do_not_spoil_the_picture(kind, note):
    note = b"Exif\0\0" + note if kind == "JPEG" else note
    assert_allclose(read_grey(saved(np.full((6, 8, 3), 50, np.uint8), kind, exif=note)).astype(int), 50, atol=1)


def test_notes_of_the_camera_beyond_the_limit_are_not_unpacked():
    note = Image.Exif()
    note[274] = 3
    for surplus, expected in ((0, STEPS[::-1, ::-1]), (format_guards.MOST_NOTES, STEPS)):
        assert_array_equal(read_grey(saved(STEPS, "PNG", exif=note.tobytes() + bytes(surplus))), expected)


def test_what_follows_a_picture_does_not_matter():
    for name, contents in sound_files().items():
        if name.startswith("text"):  # the number might go on
            continue
        assert_array_equal(read_grey(contents + b"\xff\xda and a film" * 300), read_grey(contents), err_msg=name)


@pytest.mark.parametrize("size", [(64, 48), (61, 43), (8, 8), (1, 1)])
def test_a_whole_jpeg_that_ends_in_mid_grey_is_read(size):
    for mode in ("L", "RGB", "CMYK"):
        for how in ({}, {"progressive": True}, {"restart_marker_rows": 1}, {"subsampling": 0}, {"optimize": True}):
            picture = Image.new(mode, size, 128 if mode == "L" else (127, 127, 127, 0)[: len(mode)])
            picture.paste(0, (0, 0, size[0] // 2, size[1] // 2))
            contents = saved(picture, "JPEG", quality=95, **how)
            assert_allclose(read_grey(contents)[-1, -1], 128, atol=1)


def test_a_whole_png_that_ends_in_black_is_read():
    for mode in ("1", "L", "P", "RGB", "RGBA", "I;16"):
        assert read_grey(saved(Image.new(mode, (13, 7), (0, 0, 0, 255) if mode == "RGBA" else 0), "PNG")).max() == 0


def test_an_interlaced_png_of_any_size_is_read():
    for height, width in ((1, 1), (1, 5), (2, 3), (3, 2), (5, 1), (8, 8), (9, 17)):
        for value in (0, 200):
            grey = np.full((height, width), value, np.uint8)
            assert_array_equal(read_grey(interlaced_png(grey)), grey)
    assert_array_equal(read_grey(interlaced_png(STEPS)), STEPS)


def test_a_tiff_directory_that_leads_back_to_itself_is_read():
    assert_array_equal(read_grey(tiff({258: [8], 0x8769: [8]}, STEPS.tobytes())), STEPS)


def test_many_quick_scans_over_a_small_jpeg_are_read():
    photo = saved(Image.new("L", (16, 16), 90), "JPEG", progressive=True)
    last = photo.rindex(b"\xff\xda")
    assert_allclose(read_grey(photo[:-2] + photo[last:-2] * 5000 + b"\xff\xd9").astype(int), 90, atol=1)


# What is refused.


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_hostile_files(tmp_path_factory.mktemp("hostile"))


@pytest.mark.slow
def test_the_hostile_files_are_many_small_and_always_the_same(hostile, tmp_path):
    assert len(set(hostile)) >= 300
    files = [path for path in hostile if path.is_file() and not path.is_symlink()]
    assert len({path.read_bytes() for path in files}) > 0.95 * len(files)
    assert sum(path.stat().st_size for path in files) < 20 * 2**20
    again = write_hostile_files(tmp_path)
    assert [path.name for path in again] == [path.name for path in hostile]
    for path in files:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_every_hostile_file_is_refused_in_one_sentence_and_soon(hostile, capfd):
    for path in hostile:
        before = time.process_time()
        with pytest.raises(BadImage) as caught:
            read_grey(path)
        assert time.process_time() - before < 3, path.name
        sentence = str(caught.value)
        assert sentence.isprintable(), path.name  # so it is one line, and moves no cursor
        assert " must be " in sentence, path.name
        assert "; got " in sentence, path.name
        assert sentence.endswith("."), path.name
        assert not sentence.endswith(".."), path.name
        assert " at 0x" not in sentence, path.name
        assert len(sentence) < 600, path.name
        if path.name.isprintable() and len(path.name) < 100:
            assert path.name in sentence
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_every_hostile_file_is_refused_with_little_memory(hostile):
    code = """
import json, resource, sys
import lightproof.imaging.decode
from lightproof.errors import BadImage
from PIL import Image
Image.init()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 128 * 2**20,) * 2)
for path in json.load(sys.stdin):
    try:
        lightproof.imaging.decode.read_grey(path)
    except BadImage as problem:
        assert "memory" not in str(problem), problem
"""
    everything = json.dumps([str(path) for path in hostile])
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=everything,
        text=True,
        capture_output=True,
        env=os.environ | one,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_a_truncated_file_is_refused_even_where_pillow_is_told_to_fill_it_with_grey(hostile, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    cut = [path for path in hostile if path.name.startswith(("cut-at", "ends-early"))]
    assert len(cut) > 300
    for path in cut:
        with pytest.raises(BadImage):
            read_grey(path)


@pytest.mark.parametrize("content", [b"P5 8 6 255\n123", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"BM", b"\xff\xd8\xff\xe0"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    (tmp_path / "broken.png").write_bytes(content)
    with pytest.raises(BadImage, match=r"broken\.png must be a readable image file; got .+\.$"):
        read_grey(tmp_path / "broken.png")
    with pytest.raises(BadImage, match=r"^the picture must be a readable image file; got .+\.$"):
        read_grey(content)
    with pytest.raises(BadImage, match=r"^upload 3 must be a readable image file; got .+\.$"):
        read_grey(content, where="upload 3")


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "an empty file"),
        (b"no picture", "something else"),
        (b"%PDF-1.4", "a PDF file"),
        (b"PK\3\4", "a ZIP file"),
        (b"\0\0\0\x18ftypheic", "a HEIF photo or a video"),
    ],
)
def test_what_is_no_picture_is_told_which_formats_are(content, got):
    with pytest.raises(BadImage, match=rf"a JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM or PPM picture; got {got}\.$"):
        read_grey(content)


@pytest.mark.parametrize("odd", [None, 7, 1.5, STEPS, bytearray(b"P5"), ["a.png"]])
def test_what_is_neither_path_nor_bytes_is_refused(odd):
    name = type(odd).__name__
    with pytest.raises(BadImage, match=rf"^`source` must be the path of an image file, or .+; got a {name}\.$"):
        read_grey(odd)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "^an empty path must be a readable image file; got No such file or directory.$"),
        (Path(""), r"^\. must be a readable image file; got a folder.$"),
        ("a\0b.png", r"^a\?b\.png must be a readable image file; got a path with letters that no path may have.$"),
        ("\ud800.png", r"^\?\.png must be .+; got a path with letters that no path may have.$"),
        ("x" * 5000, r"^x{100}\.\.\.x{200} must be a readable image file; got File name too long.$"),
        ("two\nlines\x1b[0m", r"^two\?lines\?\[0m must be a readable image file; got No such file or directory.$"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path, sentence):
    with pytest.raises(BadImage, match=sentence):
        read_grey(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_that_takes_the_place_of_a_file_is_neither_waited_for_nor_read(tmp_path, monkeypatch):
    (tmp_path / "sound.png").write_bytes(saved(STEPS, "PNG"))
    os.mkfifo(tmp_path / "pipe.png")
    looks_sound = os.stat(tmp_path / "sound.png")
    monkeypatch.setattr(os, "stat", lambda path, **how: looks_sound)
    with pytest.raises(BadImage, match=r"pipe\.png must be a readable image file; got a pipe, a socket or a device\.$"):
        read_grey(tmp_path / "pipe.png")
    monkeypatch.undo()
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe.png").st_mode)


def test_a_link_to_a_picture_is_followed(tmp_path):
    (tmp_path / "sound.png").write_bytes(saved(STEPS, "PNG"))
    (tmp_path / "link.jpg").symlink_to("sound.png")
    assert_array_equal(read_grey(tmp_path / "link.jpg"), STEPS)


def test_a_file_beyond_the_limit_of_bytes_is_not_read(tmp_path, monkeypatch):
    contents = saved(STEPS, "PNG")
    (tmp_path / "photo.png").write_bytes(contents)
    monkeypatch.setattr(files, "MOST_BYTES", len(contents))
    assert_array_equal(read_grey(tmp_path / "photo.png"), STEPS)
    monkeypatch.setattr(files, "MOST_BYTES", len(contents) - 1)
    for source in (tmp_path / "photo.png", contents):
        with pytest.raises(
            BadImage, match=rf"must be a file of at most {len(contents) - 1} bytes; got {len(contents)}\.$"
        ):
            read_grey(source)
    os.truncate(tmp_path / "photo.png", 2**40)  # a terabyte of nothing
    with pytest.raises(BadImage, match=r"bytes; got 1099511627776\.$"):
        read_grey(tmp_path / "photo.png")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "PPM"])
def test_a_picture_beyond_the_limit_of_pixels_is_not_unpacked(kind, monkeypatch):
    contents = saved(Image.fromarray(STEPS).convert("RGB"), kind)
    monkeypatch.setattr(format_guards, "MOST_PIXELS", 48)
    monkeypatch.setattr(format_guards, "MOST_SIDE", 8)
    assert read_grey(contents).shape == (6, 8)
    monkeypatch.setattr(ImageFile.ImageFile, "load", None)
    if kind == "WEBP":  # Pillow makes room for its pixels as soon as it opens it
        monkeypatch.setattr(Image, "open", None)
    for most_pixels, most_side in ((47, 8), (48, 7)):
        monkeypatch.setattr(format_guards, "MOST_PIXELS", most_pixels)
        monkeypatch.setattr(format_guards, "MOST_SIDE", most_side)
        legal = f"a picture of at most {most_pixels} pixels and {most_side} a side"
        with pytest.raises(BadImage, match=rf"must be {legal}; got 6 x 8\.$"):
            read_grey(contents)


@pytest.mark.parametrize(
    "crumbs", [b"P5" + b" " * 5000, b"\xff\xd8\xff\xe0\0\2" + bytes(5000), b"GIF89a\1\0\1\0\0\0\0!\xfe" + b"\1a" * 5000]
)
def test_a_file_of_crumbs_is_given_up(crumbs, monkeypatch):
    monkeypatch.setattr(format_guards, "_MOST_READS", 1000)
    assert_array_equal(read_grey(saved(STEPS, "PNG")), STEPS)
    with pytest.raises(BadImage, match=r"must be a readable image file; got too many tiny parts\.$"):
        read_grey(crumbs)


def test_a_picture_written_as_a_long_text_is_not_read(monkeypatch):
    contents = b"P2 2 1 255\n0 255\n"
    monkeypatch.setattr(pnm, "_MOST_TEXT", len(contents))
    assert_array_equal(read_grey(contents), [[0, 255]])
    with pytest.raises(
        BadImage, match=rf"must be a file of at most {len(contents)} bytes where it is a text; got 18\.$"
    ):
        read_grey(contents + b" ")


def test_the_size_of_a_giant_jpeg_is_named():
    contents = saved(Image.new("L", (8, 6)), "JPEG")
    giant = contents.replace(b"\0\x06\0\x08\1", b"\x40\0\x30\0\1")
    with pytest.raises(BadImage, match=r"65535 a side; got 16384 x 12288\.$"):
        read_grey(giant)


def test_the_photo_of_a_large_phone_is_within_the_limits():
    assert decode.MOST_PIXELS >= 12_000 * 9_000
    assert decode.MOST_SIDE >= 12_000


def test_pillow_does_not_warn_of_a_legal_size_and_keeps_its_own_limit(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 30)  # it warns from 31 on, and gives up from 61 on
    for kind in ("PNG", "TIFF", "GIF"):
        assert_array_equal(read_grey(saved(STEPS, kind)), STEPS)
    assert Image.MAX_IMAGE_PIXELS == 30
    with pytest.raises(
        BadImage, match=r"must be a picture of at most 120000000 pixels and 65535 a side; got many more\.$"
    ):
        read_grey(saved(np.zeros((8, 8), np.uint8), "PNG"))


def test_threads_leave_the_filters_of_warnings_as_they_were():
    before = list(warnings.filters)
    spoiled = saved(STEPS, "JPEG", quality=100, exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff")
    with ThreadPoolExecutor(8) as threads:
        for grey in threads.map(read_grey, [spoiled] * 200):
            assert_allclose(grey.astype(int), STEPS, atol=2)
    assert list(warnings.filters) == before


# Bare bytes.


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
    with pytest.raises(BadImage, match=r"must be a file of 6 x 8 x 3 bytes; got a folder\.$"):
        read_raw_grey(tmp_path, 6, 8)


@pytest.mark.parametrize(
    "name", ["grey.pgm", "color.png", "baseline.jpg", "lossy.webp", "plain.tif", "color.bmp", "still.gif"]
)
def test_a_lower_limit_of_pixels_holds_for_every_format(name):
    contents = sound_files()[name]
    assert read_grey(contents, most_pixels=48 * 40).shape == (48, 40)
    with pytest.raises(
        TooManyPixels, match=r"^it must be a picture of at most 1919 pixels and 65535 a side; got 48 x 40\.$"
    ):
        read_grey(contents, where="it", most_pixels=48 * 40 - 1)
