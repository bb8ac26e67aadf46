"""Broken and hostile files, small on disk and the same on every run; every door must refuse each of them."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

CUTS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""How much of a sound file is left of it."""

UNCHECKED = {
    "several.mpo", "lossy.webp", "lossless.webp", "animated.webp", "plain.tif", "float.tif", "big.tif", "color.bmp",
    "palette.bmp", "animated.gif", "grey.pgm", "deep.pgm", "color.ppm", "odd.ppm", "black.pbm", "float.pfm",
}  # fmt: skip
"""Sound files whose last two thirds may be zeros, because any bytes are a picture there, or belong to the next one."""


def write_hostile_files(folder: Path) -> list[Path]:
    """Fill a folder with files, links and worse; return all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, contents in _contents():
        path = folder / name
        assert not path.exists(), f"{name} twice"
        path.write_bytes(contents)
        written.append(path)
    return written + _not_files(folder)


def sound_files() -> dict[str, bytes]:
    """Return one small sound file of each format and packing, by name."""
    rng = np.random.default_rng(5)
    rows, columns = np.mgrid[:48, :40]
    colors = np.stack([120 + 90 * np.sin(columns / a + rows / b) for a, b in ((5, 9), (7, 6), (11, 4))], axis=2)
    photo = Image.fromarray(np.clip(colors + rng.normal(0, 6, colors.shape), 0, 255).astype(np.uint8))
    grey = photo.convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    light = Image.fromarray(np.asarray(grey).astype(np.float32) / 255)
    others = [grey.convert("RGB").rotate(180), photo.rotate(180)]
    files = {
        "baseline.jpg": _saved(photo, "JPEG"),
        "progressive.jpg": _saved(photo, "JPEG", progressive=True),
        "restarts.jpg": _saved(photo, "JPEG", restart_marker_rows=1),
        "grey.jpg": _saved(grey, "JPEG"),
        "cmyk.jpg": _saved(photo.convert("CMYK"), "JPEG"),
        "several.mpo": _saved(photo, "MPO", save_all=True, append_images=others),
        "color.png": _saved(photo, "PNG"),
        "deep.png": _saved(deep, "PNG"),
        "palette.png": _saved(photo.quantize(16), "PNG"),
        "alpha.png": _saved(photo.convert("RGBA"), "PNG"),
        "interlaced.png": interlaced_png(np.asarray(grey)),
        "animated.png": _saved(photo, "PNG", save_all=True, append_images=others),
        "lossy.webp": _saved(photo, "WEBP"),
        "lossless.webp": _saved(photo, "WEBP", lossless=True),
        "animated.webp": _saved(photo, "WEBP", save_all=True, append_images=others),
        "plain.tif": _saved(photo, "TIFF"),
        "lzw.tif": _saved(photo, "TIFF", compression="tiff_lzw"),
        "deflate.tif": _saved(deep, "TIFF", compression="tiff_deflate"),
        "jpeg.tif": _saved(photo, "TIFF", compression="jpeg"),
        "float.tif": _saved(light, "TIFF"),
        "big.tif": _saved(photo, "TIFF", big_tiff=True),
        "color.bmp": _saved(photo, "BMP"),
        "palette.bmp": _saved(photo.quantize(16), "BMP"),
        "runs.bmp": _bmp(40, 48, bits=8, packing=1, data=bytes([40, 99, 0, 0]) * 48 + b"\0\1"),
        "still.gif": _saved(photo, "GIF"),
        "animated.gif": _saved(photo, "GIF", save_all=True, append_images=others),
        "grey.pgm": _saved(grey, "PPM"),
        "deep.pgm": _saved(deep, "PPM"),
        "color.ppm": _saved(photo, "PPM"),
        "odd.ppm": b"P6 40 48 200\n" + np.asarray(photo).tobytes(),
        "black.pbm": _saved(photo.convert("1"), "PPM"),
        "text.pgm": b"P2\n40 48\n255\n" + b" ".join(b"%d" % value for value in np.asarray(grey).ravel()) + b"\n",
        "text.pbm": b"P1\n40 48\n" + b"10" * 960,
        "float.pfm": b"Pf\n40 48\n-1.0\n" + np.asarray(light).tobytes(),
    }
    return files


def interlaced_png(grey: np.ndarray, rows_left: int | None = None) -> bytes:
    """Write a picture in the seven passes of Adam7, or only their first rows."""
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    rows = [row for x, y, dx, dy in passes for row in grey[y::dy, x::dx] if row.size]
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows[:rows_left]))
    return _png(*grey.shape[::-1], 8, 0, _chunk(b"IDAT", data) + _chunk(b"IEND", b""), interlaced=1)


def _contents() -> Iterator[tuple[str, bytes]]:
    sound = sound_files()
    yield from _cut(sound)
    yield from _no_pictures(sound)
    yield from _broken_jpeg(sound)
    yield from _broken_png(sound)
    yield from _broken_webp(sound)
    yield from _broken_tiff(sound)
    yield from _broken_bmp_and_gif(sound)
    yield from _broken_pnm()


def _cut(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name, contents in sound.items():
        # Of an animation the first picture counts, and it must not be whole.
        whole = {"several.mpo": contents.find(b"\xff\xd8\xff", 2), "animated.gif": 1000, "animated.png": len(contents)}
        for cut in CUTS:
            end = int(cut * whole.get(name, len(contents)))
            yield f"cut-at-{round(100 * cut):02}-{name}", contents[:end]
        if name not in UNCHECKED:
            yield f"only-zeros-after-{name}", contents[: len(contents) // 3].ljust(len(contents), b"\0")


def _no_pictures(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(zipfile.ZipInfo("photo.png"), sound["color.png"])
    strangers = {
        "nothing": b"",
        "one-byte": b"\xff",
        "zeros": bytes(4096),
        "ones": b"\xff" * 4096,
        "text": b"This is not a picture.\n" * 20,
        "html": b"<!doctype html><html><body><img src='face.jpg'></body></html>",
        "svg": b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        "pdf": b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n",
        "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n",
        "zip": archive.getvalue(),
        "gzip": b"\x1f\x8b\x08\0\0\0\0\0\0\3" + zlib.compress(bytes(999))[2:],
        "elf": b"\x7fELF\2\1\1" + bytes(57),
        "exe": b"MZ" + bytes(126),
        "script": b"#!/bin/sh\nexit 0\n",
        "pickle": b"\x80\4\x95\x0b\0\0\0\0\0\0\0\x8c\7picture\x94.",
        "numpy": b"\x93NUMPY\1\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n\0\0\0\0",
        "heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200),
        "avif": b"\0\0\0\x18ftypavif\0\0\0\0mif1avif" + bytes(200),
        "mp4": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(200),
        "jp2": b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(200),
        "ico": _saved(Image.new("RGB", (16, 16)), "ICO"),
        "icns": b"icns" + bytes(100),
        "psd": b"8BPS\0\1" + bytes(100),
        "tga": bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 24, 0]) + bytes(48),
        "xbm": b"#define a_width 8\n#define a_height 1\nstatic char a_bits[] = {0xff};\n",
        "xpm": b'/* XPM */\nstatic char *a[] = {"1 1 1 1", "a c #000000", "a"};\n',
        "pcx": b"\x0a\5\1\x08" + bytes(200),
        "wmf": b"\xd7\xcd\xc6\x9a" + bytes(100),
        "fits": b"SIMPLE  =                    T".ljust(2880),
        "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(100),
        "pam": b"P7\nWIDTH 2\nHEIGHT 2\nDEPTH 1\nMAXVAL 255\nENDHDR\n\0\0\0\0",
        "pillow-own": b"PyRGBA\n2 2\n255\n" + bytes(16),
        "jpeg-inside": b"\0" + sound["baseline.jpg"],
        "png-as-text": sound["color.png"].replace(b"\r\n", b"\n"),
        "png-without-high-bits": bytes(byte & 127 for byte in sound["color.png"]),
    }
    for name, contents in strangers.items():
        yield f"{name}-named.jpg", contents
    yield "line\nfeed \x1b[31mred \u202eturned.png", b"no picture"
    yield "n" * 250 + ".bmp", b"BM"
    for name in ("color.png", "baseline.jpg", "lossy.webp", "plain.tif", "still.gif", "color.bmp", "grey.pgm"):
        yield f"first-byte-gone-{name}", sound[name][1:]
        yield f"second-byte-turned-{name}", sound[name][:1] + bytes([sound[name][1] ^ 255]) + sound[name][2:]


def _broken_jpeg(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name in ("baseline", "progressive", "grey", "cmyk"):
        photo = sound[f"{name}.jpg"]
        frame = re.search(rb"\xff[\xc0\xc2]\0.\x08", photo, re.DOTALL).start()
        tables, scan = photo.index(b"\xff\xc4"), photo.index(b"\xff\xda")
        for what, size in {"giant": b"\xff\xdc\xff\xdc", "no-rows": b"\0\0\0\x28", "no-columns": b"\0\x30\0\0"}.items():
            yield f"{what}-{name}.jpg", photo[: frame + 5] + size + photo[frame + 9 :]
        yield f"12-bits-{name}.jpg", photo[: frame + 4] + b"\x0c" + photo[frame + 5 :]
        yield f"nine-layers-{name}.jpg", photo[: frame + 9] + b"\x09" + photo[frame + 10 :]
        yield f"lossless-{name}.jpg", photo[: frame + 1] + b"\xc3" + photo[frame + 2 :]
        yield f"no-header-{name}.jpg", photo[:frame] + photo[tables:]
        yield f"huffman-{name}.jpg", photo[: tables + 5] + b"\xff" * 16 + photo[tables + 21 :]
        yield f"no-scan-{name}.jpg", photo[:scan] + b"\xff\xd9"
        yield f"no-end-and-half-{name}.jpg", photo[: (scan + len(photo)) // 2]
        yield f"notes-and-half-{name}.jpg", _with_notes(photo, b"II*\0\x08\0\0\0\xff\xff")[: len(photo) // 2 + 40]
    for name in ("baseline", "restarts", "grey", "cmyk"):
        photo = sound[f"{name}.jpg"]
        scan = photo.rindex(b"\xff\xda") + 20
        for share in (0, 0.3, 0.6, 0.9):  # the decoder would fill the rest with grey
            end = int(scan + share * (len(photo) - scan))
            yield f"ends-early-{round(100 * share):02}-{name}.jpg", photo[:end].rstrip(b"\xff") + b"\xff\xd9"
    restarts = sound["restarts.jpg"]
    yield "ends-at-a-restart.jpg", restarts[: restarts.index(b"\xff\xd1")] + b"\xff\xd9"
    yield "bomb-scans.jpg", _scans(3000)
    notes = b"MM\0*\0\0\0\x08\0\1\1\x1a\0\5" + struct.pack(">2I", 8100, 26)
    yield "bomb-notes.jpg", _with_notes(sound["baseline.jpg"], notes.ljust(65000, b"\1"), times=20)
    yield "bomb-segments.jpg", b"\xff\xd8" + b"\xff\xe0\0\2" * 50_000 + sound["baseline.jpg"][2:]
    yield "bomb-junk.jpg", b"\xff\xd8\xff\xe0\0\2" + bytes(5_000_000)[:4096] + b"\xff\xd9"
    dimensions = b"\xff\xc2\0\x11\x08\xff\xdc\xff\xdc\3\1\x22\0\2\x11\1\3\x11\1"
    yield "two-headers.jpg", b"\xff\xd8" + dimensions + sound["baseline.jpg"][2:]


def _scans(times: int) -> bytes:
    """Return a progressive JPEG file whose last scan comes again and again."""
    photo = _saved(Image.new("RGB", (2000, 2000), (90, 90, 90)), "JPEG", progressive=True)
    last = photo.rindex(b"\xff\xda")
    return photo[:-2] + photo[last:-2] * times + b"\xff\xd9"


def _with_notes(photo: bytes, notes: bytes, times: int = 1) -> bytes:
    segment = b"\xff\xe1" + struct.pack(">H", len(notes) + 8) + b"Exif\0\0" + notes
    return photo[:2] + segment * times + photo[2:]


def _broken_png(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    rows = zlib.compress((b"\0" + bytes(40)) * 48)
    end = _chunk(b"IEND", b"")
    for what, fields in {
        "giant": (50_000, 50_000, 8, 2), "wide": (2**31 - 1, 1, 8, 0), "negative": (2**32 - 5, 48, 8, 0),
        "no-columns": (0, 48, 8, 0), "no-rows": (40, 0, 8, 0), "three-bits": (40, 48, 3, 0),
        "kind-five": (40, 48, 8, 5), "row-missing": (40, 49, 8, 0), "rows-missing": (40, 96, 8, 0),
        "just-too-large": (12_000, 10_001, 8, 0), "much-from-little": (10_000, 9000, 8, 2),
        "too-long": (70_000, 1, 8, 0),
    }.items():  # fmt: skip
        yield f"{what}.png", _png(*fields, _chunk(b"IDAT", rows) + end)
    header = _png(40, 48, 8, 0, b"")
    bomb = _zeros(100 * 2**20)
    for what, chunks in {
        "text-zlib-bomb": _chunk(b"zTXt", b"a\0\0" + bomb) + _chunk(b"IDAT", rows) + end,
        "itxt-zlib-bomb": _chunk(b"iTXt", b"a\0\1\0\0\0" + bomb) + _chunk(b"IDAT", rows) + end,
        "profile-zlib-bomb": _chunk(b"iCCP", b"a\0\0" + bomb) + _chunk(b"IDAT", rows) + end,
        "no-data": end,
        "empty-data": _chunk(b"IDAT", b"") + end,
        "no-end": _chunk(b"IDAT", rows),
        "only-end-length": _chunk(b"IDAT", rows) + b"\0\0\0\0IEN",
        "bad-zlib": _chunk(b"IDAT", b"x\x9c" + b"\xaa" * 50) + end,
        "half-zlib": _chunk(b"IDAT", rows[: len(rows) // 2]) + end,
        "bad-filter": _chunk(b"IDAT", zlib.compress((b"\x09" + bytes(40)) * 48)) + end,
        "bad-data-checksum": _chunk(b"IDAT", rows)[:-4] + b"oops" + end,
        "bad-note-checksum": _chunk(b"tIME", bytes(7))[:-1] + b"!" + _chunk(b"IDAT", rows) + end,
        "chunk-longer-than-file": struct.pack(">I", 2**31 - 1) + b"IDAT" + rows,
        "chunk-of-no-name": _chunk(b"\0\0\0\0", b"") + _chunk(b"IDAT", rows) + end,
        "short-transparency": _chunk(b"tRNS", b"") + _chunk(b"IDAT", rows) + end,
        "frames-without-end": _chunk(b"acTL", struct.pack(">2I", 2**31 - 1, 0)) + _chunk(b"fcTL", bytes(26)) + end,
        "bomb-crumbs": _chunk(b"IDAT", b"") * 5000 + end,
    }.items():
        yield f"{what}.png", header + chunks
    photo = sound["color.png"]
    for rows_left in (1, 30, 88):  # of 89; the last row of the picture is not the last row in the file
        yield f"interlaced-{rows_left}-rows.png", interlaced_png(np.full((47, 40), 200, np.uint8), rows_left)
    yield "bad-header-checksum.png", photo[:29] + b"oops" + photo[33:]
    yield "no-header.png", photo[:8] + photo[33:]
    yield "header-only.png", photo[:33]
    yield "signature-only.png", photo[:8]
    yield "invisible.png", _saved(Image.new("RGBA", (8, 8), (9, 9, 9, 0)), "PNG")
    black = _chunk(b"IDAT", _zeros(30_000 * (1 + 30_000 // 8)))
    yield "bomb-whole.png", _png(30_000, 30_000, 1, 0, black + end)


def _broken_webp(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name in ("lossy", "lossless"):
        photo = sound[f"{name}.webp"]
        # The packing says that the file is whole, and it is not.
        half = photo[20 : 20 + (len(photo) - 20) // 2 & ~1]
        yield f"half-{name}.webp", _riff(photo[12:16] + struct.pack("<I", len(half)) + half)
    yield (
        "giant.webp",
        _riff(b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\xff\xff" + b"\xff\0\0" + sound["lossy.webp"][12:]),
    )
    yield "giant-lossless.webp", _riff(b"VP8L" + struct.pack("<I", 64) + b"\x2f" + b"\xff" * 4 + bytes(59))
    yield "giant-lossy.webp", _riff(b"VP8 " + struct.pack("<I", 64) + b"\x30\1\0\x9d\1\x2a\xff\x3f\xff\x3f" + bytes(54))
    moving = sound["animated.webp"]
    canvas = (11_999).to_bytes(3, "little") + (10_999).to_bytes(3, "little")
    yield "large-moving.webp", moving[:24] + canvas + moving[30:]
    yield "no-size.webp", _riff(b"VP8 " + struct.pack("<I", 64) + b"\x30\1\0\x9d\1\x2a\0\0\0\0" + bytes(54))
    yield "no-frames.webp", _riff(b"VP8X" + struct.pack("<I", 10) + b"\2\0\0\0" + b"\x27\0\0\x2f\0\0")
    yield "header-only.webp", _riff(b"VP8L")
    yield "empty.webp", _riff(b"")
    yield "wave.webp", b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)


def _broken_tiff(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    values = np.linspace(0, 1, 192).reshape(12, 16).astype(np.float32)
    for what, bad in {
        "nan": np.nan,
        "infinite": np.inf,
        "minus-infinite": -np.inf,
        "negative": -1,
        "huge": 1e30,
    }.items():
        spoiled = values.copy()
        spoiled[3, 4] = bad
        yield f"{what}.tif", _saved(Image.fromarray(spoiled), "TIFF")
        yield f"{what}-packed.tif", _saved(Image.fromarray(spoiled), "TIFF", compression="tiff_deflate")
    yield "all-nan.tif", _saved(Image.fromarray(np.full_like(values, np.nan)), "TIFF")
    for what, bad in {"negative-whole": -7, "huge-whole": 2**30}.items():
        yield f"{what}.tif", _saved(Image.fromarray(np.full((4, 4), bad, np.int32)), "TIFF")
    yield "nan.pfm", b"Pf\n2 2\n-1.0\n" + np.full(4, np.nan, np.float32).tobytes()
    good = {256: 16, 257: 12, 258: 8, 259: 1, 262: 1, 273: 300, 277: 1, 278: 12, 279: 192}
    for what, change in {
        "giant": {256: 60_000, 257: 60_000}, "absurd": {256: 2**32 - 1, 257: 2**32 - 1}, "no-columns": {256: 0},
        "no-rows": {257: 0}, "no-width-at-all": {256: None}, "no-strips": {273: None}, "seven-bits": {258: 7},
        "unknown-packing": {259: 4711}, "packing-that-is-not": {259: 8}, "lzw-that-is-not": {259: 5},
        "jpeg-that-is-not": {259: 7}, "old-jpeg-that-is-not": {259: 6}, "fax-that-is-not": {259: 4},
        "kind-77": {262: 77},
        "data-beyond-the-end": {273: 10**6}, "data-far-beyond": {273: 2**32 - 1}, "half-a-strip": {278: 6},
        "two-hundred-samples": {277: 200}, "absurd-samples": {277: 2**32 - 1}, "no-samples": {277: 0},
        "giant-tiles": {322: 60_000, 323: 60_000, 324: 300, 325: 192, 273: None, 278: None, 279: None, 259: 8},
        "absurd-tiles": {322: 2**32 - 1, 323: 2**32 - 1, 324: 300, 325: 192, 273: None, 278: None, 279: None, 259: 8},
        "no-tiles": {322: 0, 323: 0, 324: 300, 325: 192, 273: None, 278: None, 279: None, 259: 8},
        "palette-that-is-not": {262: 3}, "two-layers-missing": {262: 2, 277: 3, 284: 2},
        "windows-photo": {0xBC01: 1},
    }.items():  # fmt: skip
        yield f"{what}.tif", _tiff(good | change)
        yield f"{what}-big.tif", _tiff(good | change, big=True)
    for what, tag in {"strips": 273, "sizes": 279, "bits": 258, "colors": 320, "notes": 0x10E}.items():
        yield f"many-{what}.tif", _tiff(good, many=(tag, 210_000))
        yield f"billions-of-{what}.tif", _tiff(good, many=(tag, 2**32 - 1))
    yield "bomb-in-the-notes.tif", _tiff_with_notes(good, [700])
    yield "bomb-behind-decoys.tif", _tiff_with_notes(good, [*range(500_000, 500_009), 700])
    yield "many-notes-of-nothing.tif", _tiff_with_notes(good, list(range(400_000, 400_012)))
    samples = _tiff(good, many=(277, 5))  # those at byte 4 are 8, 0, ...
    yield "many-samples.tif", samples.replace(struct.pack("<2L", 5, 300), struct.pack("<2L", 5, 4))
    yield "bomb-entries.tif", _tiff(good, big=True, texts=201_000)
    yield "no-directory.tif", b"II*\0\0\0\0\0"
    yield "directory-beyond-the-end.tif", b"II*\0\xff\xff\xff\x7f"
    yield "directory-of-nothing.tif", b"MM\0*\0\0\0\x08\0\0\0\0\0\0"
    yield "directory-of-65535.tif", b"II*\0\x08\0\0\0\xff\xff" + bytes(100)
    yield "endless-directory-big.tif", b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0" + b"\xff" * 8 + bytes(200)
    yield "far-directory-big.tif", b"II+\0\x08\0\0\0" + b"\xff" * 8
    photo = sound["deflate.tif"]
    yield "bad-zlib.tif", photo[:8] + b"\xff" * 20 + photo[28:]
    yield "half-zlib.tif", photo[:60] + bytes(1500) + photo[1560:]


def _broken_bmp_and_gif(sound: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for what, picture in {
        "giant": _bmp(60_000, 60_000), "absurd": _bmp(2**31 - 1, 2**31 - 1), "negative-width": _bmp(-40, 48),
        "no-columns": _bmp(0, 48), "no-rows": _bmp(40, 0), "seven-bits": _bmp(40, 48, bits=7),
        "jpeg-inside": _bmp(40, 48, packing=4), "unknown-packing": _bmp(40, 48, packing=99),
        "too-little": _bmp(40, 48, data=bytes(40 * 47 * 3)), "much-from-little": _bmp(10_000, 10_000, data=bytes(99)),
        "runs-too-short": _bmp(40, 48, bits=8, packing=1, data=b"\x28\x63\0\0" * 20 + b"\0\1"),
        "runs-that-jump": _bmp(10_000, 10_000, bits=8, packing=1, data=b"\0\2\xff\xff" * 2),
        "runs-of-nothing": _bmp(40, 48, bits=8, packing=1, data=b"\0\0" * 9),
        "header-of-9999": b"BM" + bytes(12) + struct.pack("<I", 9999) + bytes(99),
        "header-of-nothing": b"BM" + bytes(40),
    }.items():  # fmt: skip
        yield f"{what}.bmp", picture
    still = sound["still.gif"]
    start = still.index(b",", 13 + 3 * 256)
    for what, picture in {
        "giant": still[:6] + b"\xff\xff\xff\xff" + still[10:],
        "giant-frame": still[: start + 5] + b"\xff\xff\xff\xff" + still[start + 9 :],
        "no-columns": still[:6] + b"\0\0" + still[8 : start + 5] + b"\0\0" + still[start + 7 :],
        "no-frame": still[:start] + b";",
        "frame-of-no-size": still[: start + 5] + bytes(4) + still[start + 9 :],
        "code-of-99-bits": still[: start + 10] + b"\x63" + still[start + 11 :],
        "bad-codes": still[: start + 12] + b"\xff" * (len(still) - start - 14) + b"\0;",
        "no-codes": still[: start + 11] + b"\0;",
        "half-the-codes": still[: start + 11] + still[start + 11 : start + 11 + 256] + b"\0;",
        "bomb-comments": still[:start] + b"!\xfe" + b"\1a" * 20_000 + b"\0;",
        "bomb-extensions": still[:start] + b"!\xff\1a\0" * 20_000 + b";",
        "bomb-frames": _gif_of_giant_frames(2000),
    }.items():
        yield f"{what}.gif", picture


def _broken_pnm() -> Iterator[tuple[str, bytes]]:
    for name, contents in {
        "giant.pgm": b"P5 50000 50000 255\n" + bytes(100),
        "absurd.pgm": b"P5 9999999999 9999999999 255\n",
        "token-without-end.pgm": b"P5 " + b"9" * 5000,
        "negative.pgm": b"P5 -4 -4 255\n" + bytes(16),
        "no-columns.pgm": b"P5 0 4 255\n" + bytes(16),
        "no-white.pgm": b"P5 4 4 0\n" + bytes(16),
        "white-of-99999.pgm": b"P5 4 4 99999\n" + bytes(32),
        "words.pgm": b"P5 four four white\n" + bytes(16),
        "half.pgm": b"P5 4 4 255\n" + bytes(8),
        "half-of-16-bits.pgm": b"P5 4 4 65535\n" + bytes(16),
        "half-of-odd-white.pgm": b"P5 4 4 1000\n" + bytes(16),
        "much-from-little.ppm": b"P6 10000 10000 255\n" + bytes(99),
        "much-from-little-odd.ppm": b"P6 4000 4000 200\n" + bytes(99),
        "only-a-comment.pgm": b"P5 #" + b"x" * 9999,
        "comments-without-end.pgm": b"P2 4 4 255\n" + b"#\n" * 400_000,
        "spaces-without-end.pgm": b"P5" + b" " * 400_000,
        "too-bright.pgm": b"P2 2 2 255\n0 1 2 256\n",
        "below-zero.pgm": b"P2 2 2 255\n0 1 2 -1\n",
        "text-too-short.pgm": b"P2 2 2 255\n0 1 2\n",
        "text-of-words.pgm": b"P2 2 2 255\nnull eins zwei drei\n",
        "text-of-twos.pbm": b"P1 2 2\n0 1 2 0\n",
        "giant-text.pbm": b"P1 50000 50000\n0 1 0 1\n",
        "no-scale.pfm": b"Pf\n2 2\n0\n" + bytes(16),
        "color.pfm": b"PF\n2 2\n-1.0\n" + bytes(48),
    }.items():
        yield f"pnm-{name}", contents


def _not_files(folder: Path) -> list[Path]:
    """Make what a path may lead to besides a file."""
    paths = [folder / "folder.jpg", folder / "nowhere.jpg", folder / "circle.jpg", folder / "link-to-folder.png"]
    paths[0].mkdir()
    for link, target in zip(paths[1:], ("no-such-file.jpg", "circle.jpg", "folder.jpg"), strict=True):
        link.symlink_to(target)
    for name, device in {"endless.jpg": "/dev/zero", "void.png": "/dev/null"}.items():
        if Path(device).exists():
            paths.append(folder / name)
            paths[-1].symlink_to(device)
    for name, kind in {"pipe.jpg": stat.S_IFIFO, "socket.jpg": stat.S_IFSOCK}.items():
        with suppress(OSError, AttributeError):  # not every system lets everybody
            os.mknod(folder / name, kind | 0o600)
            paths.append(folder / name)
    if (folder / "pipe.jpg").exists():
        (folder / "link-to-pipe.jpg").symlink_to("pipe.jpg")
        paths.append(folder / "link-to-pipe.jpg")
    if os.geteuid() != 0:  # who may read everything, may read this too
        (folder / "forbidden.jpg").write_bytes(b"")
        (folder / "forbidden.jpg").chmod(0)
        paths.append(folder / "forbidden.jpg")
    return [*paths, folder / "never-written.jpg", folder / "nothing-named.jpg" / "inside-a-file.jpg"]


def _saved(image: Image.Image, kind: str, **how: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png(width: int, height: int, bits: int, kind: int, rest: bytes, interlaced: int = 0) -> bytes:
    header = struct.pack(">2I5B", width, height, bits, kind, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + rest


@lru_cache
def _zeros(count: int) -> bytes:
    """Pack many zeros into little."""
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(count // 2**20 + 1)) + packer.flush()


def _riff(chunks: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def _tiff(
    tags: dict[int, int | None], *, big: bool = False, many: tuple[int, int] | None = None, texts: int = 0
) -> bytes:
    """Write a directory of single numbers and, at byte 300, 192 pixels; one tag may claim many numbers there.

    Empty texts may follow in the directory; they lie where the pixels should be.
    """
    start, entry, count = (b"II+\0\x08\0\0\0", "<HHQQ", "<Q") if big else (b"II*\0", "<HHLL", "<H")
    offset = struct.pack("<Q", 16) if big else struct.pack("<L", 8)
    given = {tag: (4, 1, value) for tag, value in tags.items() if value is not None}
    if many is not None:
        given[many[0]] = (3, many[1], 300)
    directory = b"".join(struct.pack(entry, tag, *rest) for tag, rest in sorted(given.items()))
    directory += struct.pack(entry, 0xC000, 2, 0, 0) * texts
    contents = start + offset + struct.pack(count, len(given) + texts) + directory + bytes(8)
    filled = 2 * many[1] if many is not None and many[1] < 10**6 else 0
    return contents.ljust(300, b"\0") + bytes(range(192)) + bytes(max(0, filled - 192))


def _tiff_with_notes(tags: dict[int, int], offsets: list[int]) -> bytes:
    """Write a picture whose camera's notes are said to lie at each offset; at byte 700 they are 210000 numbers."""
    entries = [*tags.items(), *((0x8769, offset) for offset in offsets)]
    directory = b"".join(struct.pack("<HHLL", tag, 4, 1, value) for tag, value in entries)
    contents = b"II*\0" + struct.pack("<LH", 8, len(entries)) + directory + bytes(4)
    notes = struct.pack("<HHHLL", 1, 0x9214, 3, 210_000, 800)
    return ((contents.ljust(300, b"\0") + bytes(range(192))).ljust(700, b"\0") + notes).ljust(421_000, b"\0")


def _bmp(width: int, height: int, bits: int = 24, packing: int = 0, data: bytes = bytes(99)) -> bytes:
    palette = bytes(byte for value in range(256) for byte in (value, 255 - value, value, 0)) if bits == 8 else b""
    header = struct.pack("<I2i2H6I", 40, width, height, 1, bits, packing, len(data), 0, 0, 0, 0)
    start = 14 + len(header) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + header + palette + data


def _gif_of_giant_frames(count: int) -> bytes:
    frame = b"!\xf9\4\x08\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\2\1\0\0"
    return b"GIF89a\xff\xff\xff\xff\0\0\0" + frame * count + b";"
