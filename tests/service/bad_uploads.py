"""Uploads that must be refused, as many as one likes, the same on every run."""

from __future__ import annotations

import base64
import io
import json
import random
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from PIL import Image

from tests import hostile

BOUNDARY = "----lightproof"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
JSON = "application/json"


class Upload(NamedTuple):
    """A request that must be answered with a 4xx problem."""

    what: str
    kind: str
    body: bytes


def form(*parts: tuple[str, bytes], end: bool = True, file: bool = True) -> bytes:
    """Write a multipart form."""
    out = b""
    for name, contents in parts:
        called = '; filename="photo"' if file else ""
        out += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{called}\r\n\r\n'.encode()
        out += contents + b"\r\n"
    return out + (f"--{BOUNDARY}--\r\n".encode() if end else b"")


def as_json(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def bad_uploads(count: int, seed: int = 0) -> Iterator[Upload]:
    """Make bad uploads, of all kinds in turn."""
    chance = random.Random(seed)
    # Names of those that are no plain file do not go over the wire; a picture of nobody is bad, too: there is no face.
    broken = [contents for _, contents in hostile._contents()]
    faceless = [*hostile.sound_files().values(), *_odd_pictures()]
    makers = (_truncated, _flipped, _listed, _faceless, _bomb, _bad_json, _bad_form, _truncated, _flipped, _faceless)
    for i in range(count):
        if i % 1000 == 500:
            yield Upload("100 MB", "application/octet-stream" if i % 2000 == 500 else FORM, bytes(100 * 10**6))
            continue
        yield makers[i % len(makers)](chance, broken, faceless)


def _sent(what: str, chance: random.Random, contents: bytes) -> Upload:
    """Send a picture in one of the ways that pictures come."""
    if chance.random() < 0.3:
        return Upload(f"{what}, base64", JSON, as_json(photo=base64.b64encode(contents).decode()))
    return Upload(what, FORM, form(("photo", contents)))


def _truncated(chance, broken, faceless) -> Upload:
    whole = chance.choice(faceless)
    return _sent("truncated", chance, whole[: chance.randrange(len(whole))])


def _flipped(chance, broken, faceless) -> Upload:
    damaged = bytearray(chance.choice(faceless))
    for _ in range(chance.randint(1, 30)):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return _sent("flipped bytes", chance, bytes(damaged))


def _listed(chance, broken, faceless) -> Upload:
    return _sent("broken or hostile", chance, chance.choice(broken))


def _faceless(chance, broken, faceless) -> Upload:
    return _sent("sound, and of nobody", chance, chance.choice(faceless))


def _bomb(chance, broken, faceless) -> Upload:
    side = chance.choice((6000, 20_000, 65_000, 200_000, 2**31 - 1))
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    squeezed = zlib.compress(bytes(chance.choice((0, 1000, 4_000_000))), 9)
    png = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", squeezed) + _chunk(b"IEND", b"")
    return _sent("a bomb", chance, png)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _bad_json(chance, broken, faceless) -> Upload:
    photo = base64.b64encode(chance.choice(faceless)).decode()
    bodies = (
        b"", b"{", b"null", b"[]", b"NaN", b'"photo"', b"\xff\xfe", b'{"photo": NaN}', b'{"photo": Infinity}',
        as_json(photo="NaN"), as_json(photo=photo[:-1] + "*"), as_json(photo=photo + "="), as_json(photo=[photo]),
        as_json(photo=None), as_json(photo=17), as_json(photo={}), as_json(photo=""), as_json(photo="\x00"),
        as_json(photo="é" + photo), as_json(), as_json(photo=photo, top=0), as_json(photo=photo, top=10**30),
        as_json(photo=photo, far=7), b'{"photo": "%b", "far": NaN}' % photo.encode(), as_json(photo=photo, far="1"),
        as_json(photo=photo, path="/etc/passwd"), as_json(photo=photo, cropped="yes"), b"[" * 100_000,
        b'{"photo": "' + b"A" * chance.randrange(10_000), as_json(photo="../../etc/passwd"),
        as_json(photo="file:///etc/passwd"), as_json(photo="data:image/png;base64," + photo),
    )  # fmt: skip
    return Upload("bad JSON", JSON, chance.choice(bodies))


def _bad_form(chance, broken, faceless) -> Upload:
    photo = chance.choice(faceless)
    whole = form(("photo", photo))
    bodies = (
        (FORM, b""), (FORM, b"\r\n"), (FORM, whole[: chance.randrange(1, 60)]), (FORM, form()),
        (FORM, form(("other", photo))), (FORM, form(("photo", b""))), (FORM, form(("photo", photo), ("photo", photo))),
        (FORM, form(*[("photo", b"x")] * 80)), (FORM, form(*[("top", b"1")] * 80, file=False)),
        (FORM, form(("photo", photo), ("top", b"x" * 70_000), file=False)), (FORM, whole.replace(b"name=", b"eman=")),
        ("multipart/form-data", whole), ("multipart/form-data; boundary=", whole), ("", whole), ("text/plain", photo),
        ("multipart/form-data; boundary=" + "b" * 300, whole), ("image/png", photo), ("application/xml", b"<photo/>"),
        (f"{FORM}; charset=utf-99", form(("photo\xff", photo))), ("application/x-www-form-urlencoded", b"photo=x"),
        (FORM, form(("photo", photo), ("cropped", b"maybe"), file=False)), (FORM, whole.replace(b"\r\n", b"\n")),
        (FORM, b"--" + BOUNDARY.encode() + b"\r\nX: " + b"y" * 20_000 + b"\r\n\r\n"),
    )  # fmt: skip
    kind, body = chance.choice(bodies)
    return Upload("a bad form", kind, body)


def _odd_pictures() -> list[bytes]:
    """Sound pictures of nobody that decoders meet seldom: odd EXIF, animated, CMYK, of sixteen bits, tiny, flat."""
    rng = np.random.default_rng(3)
    grain = Image.fromarray(rng.integers(0, 255, (60, 80, 3)).astype(np.uint8))
    deep = Image.fromarray(rng.integers(0, 65535, (60, 80)).astype(np.uint16))
    others = [grain.rotate(90 * turn) for turn in (1, 2, 3)]
    found = []
    for turn in (0, 1, 5, 6, 8, 9, 255, 65535):
        exif = Image.Exif()
        exif[0x0112] = turn
        found.append(_saved(grain, "JPEG", exif=exif))
    for note in (b"Exif\0\0", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0MM\0*" + bytes(60_000), b"\xff" * 500):
        found.append(_saved(grain, "JPEG", exif=note))
    found += [_saved(grain.convert("CMYK"), kind) for kind in ("JPEG", "TIFF")]
    found += [_saved(deep, kind) for kind in ("PNG", "TIFF", "PPM")]
    found += [_saved(grain, kind, save_all=True, append_images=others) for kind in ("GIF", "WEBP", "PNG", "TIFF")]
    for width, height in ((1, 1), (1, 400), (400, 1), (15, 15), (16, 16), (50, 50)):
        found.append(_saved(Image.new("L", (width, height), 128), "PNG"))
    return found


def _saved(image: Image.Image, kind: str, **how: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()
