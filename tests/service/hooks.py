"""What schemathesis sends as a photo: a face, something that is nearly one, or anything."""

from __future__ import annotations

import base64
import io

import schemathesis
from hypothesis import strategies as st
from PIL import Image

from lightproof.datasets import make_relit_faces


def _faces() -> list[bytes]:
    found = []
    for image in make_relit_faces(3, [(0, 0), (50, 0)]).images:
        for kind in ("PNG", "JPEG"):
            out = io.BytesIO()
            Image.fromarray(image).save(out, kind)
            found.append(out.getvalue())
    return found


KNOWN = _faces()
FACES = st.sampled_from(KNOWN)
NEARLY = st.tuples(FACES, st.integers(0, 5000)).map(lambda cut: cut[0][: cut[1]])
PHOTOS = st.one_of(FACES, FACES, NEARLY, st.binary(max_size=200))

schemathesis.openapi.format("binary", PHOTOS)


@schemathesis.hook
def map_body(context, body):
    """Put photos where JSON has base64, most of the time."""
    if isinstance(body, dict) and isinstance(body.get("photo"), str) and len(body["photo"]) % 4 < 3:
        body["photo"] = base64.b64encode(KNOWN[len(body["photo"]) % len(KNOWN)]).decode()
    return body
