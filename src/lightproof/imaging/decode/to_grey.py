"""An image file -> grey image, upright: the guards, the decoder, and an error of one sentence, in this order."""

from __future__ import annotations

import ctypes
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageChops, ImageCms, UnidentifiedImageError, _imaging

from lightproof.core.images import BRIGHTEST, ROUNDING
from lightproof.errors import BadImage, TooManyPixels
from lightproof.imaging.decode import format_guards as guards
from lightproof.imaging.decode import pnm
from lightproof.imaging.decode.files import READABLE, contents_of, in_one_line

BEHIND: Final = 128
"""What is seen through transparent pixels: mid-grey, which is neither shadow nor glare, whatever lies hidden there."""

_WHITES: Final = ((BRIGHTEST, 1.0), (255.0, 255.0), (65535.0, 65535.0))
"""The brightest pixel that still speaks for a scale, and white in that scale."""

_TURNS: Final[dict[object, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]]] = {
    2: np.fliplr,
    3: lambda image: image[::-1, ::-1],
    4: np.flipud,
    5: np.transpose,
    6: lambda image: np.rot90(image, -1),
    7: lambda image: image[::-1, ::-1].T,
    8: np.rot90,
}
"""What makes a photo upright, by the orientation that the camera noted."""

_lock = threading.Lock()
_silence = ExitStack()
_readers = 0


def read_grey(
    source: Path | str | bytes, *, where: str | None = None, most_pixels: int | None = None
) -> NDArray[np.uint8]:
    """Read an image file as grey values, turned upright where the file says how it was held.

    JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM, PPM and PFM, whatever the name ends with; of an animation the first
    picture. Sixteen bits keep their upper eight. Transparent pixels are seen before mid-grey. A file of floats does not
    say what white is: up to 10 it is 1, and light beyond it is cut off; up to 255 it is 255, and up to 65535 it is
    65535. So for a TIFF file of 32-bit whole numbers, but for 1.

    Parameters
    ----------
    source : Path, str or bytes
        The path of a file, or the contents of one.
    where : str, optional
        What an error calls the picture; the path, or "the picture" for contents.
    most_pixels : int, optional
        A larger picture is refused before it is unpacked; one of more than 120 million in any case.

    Returns
    -------
    ndarray of shape (h, w), uint8
        In rows, writable, and nobody else's.
    """
    contents, where = contents_of(source, where)
    if contents.startswith(b"P5"):  # most data sets of faces: no decoder is needed
        plain = pnm.plain_grey(contents, where, most_pixels)
        if plain is not None:
            return plain
    try:
        with _quiet():
            return _decoded(contents, where, most_pixels)
    except BadImage:
        raise
    except Image.DecompressionBombError:
        raise TooManyPixels(where, guards.size_limit(guards.MOST_PIXELS), "many more") from None
    except UnidentifiedImageError:  # its own words name an address in memory
        raise BadImage(where, READABLE, "a broken header") from None
    except MemoryError:
        raise BadImage(where, READABLE, "more than fits into the memory") from None
    except (OSError, ValueError, SyntaxError) as problem:
        raise BadImage(where, READABLE, in_one_line(str(problem)).strip(" .") or "broken data") from None
    except Exception:  # decoders meet a broken file with almost any error; others speak of the decoder
        raise BadImage(where, READABLE, "broken data") from None


def _decoded(contents: bytes, where: str, most: int | None) -> NDArray[np.uint8]:
    kind = guards.format_of(contents, where)
    if kind == "JPEG":
        guards.check_jpeg_work(contents, where)
    elif kind == "TIFF":
        _silence_libtiff()
        guards.check_tiff_directories(contents)
    elif kind == "WEBP":
        guards.check_size(*guards.webp_size(contents), contents, where, most)
    elif kind == "PPM":
        contents = pnm.without_comments(contents, where)
    with Image.open(guards.Stream(contents), formats=[kind]) as image:
        guards.check_size(*image.size, contents, where, most)
        guards.check_gaps(image)
        if kind == "PNG":
            guards.check_png_sums(contents)
        if kind == "PPM" and pnm.has_odd_white(image):
            return _grey_of(pnm.with_white_of_255(image, contents), where)
        image.load()  # some formats turn the picture themselves here, and then forget the note
        if kind == "JPEG":
            guards.check_jpeg_whole(image, contents)
        if kind == "PNG":
            guards.check_png_whole(image, contents)
        return _upright(_grey_of(image, where), image)


def _grey_of(image: Any, where: str) -> NDArray[np.uint8]:
    """Return the grey values of a loaded image of any of Pillow's modes; writable, and nobody else's."""
    # Pillow would cut everything above 255 off, and floats to whole numbers.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM"):
        return _upper_eight_bits(image)
    if image.mode in {"I", "F"}:
        return _scaled(np.asarray(image), where)
    if image.mode == "LAB":
        profiles = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        image = ImageCms.profileToProfile(image, *profiles, outputMode="RGB")
    if image.mode == "CMYK" and image.format == "JPEG" and "adobe" not in image.info:
        image = ImageChops.invert(image)  # Adobe writes ink as light, and Pillow takes every JPEG file for Adobe's
    if image.has_transparency_data:
        return _before_mid_grey(image, where)
    return np.array(image.convert("L"))


def _upper_eight_bits(image: Any) -> NDArray[np.uint8]:
    tags = getattr(image, "tag_v2", {})
    surplus = 4 if tags.get(ExifTags.Base.BitsPerSample) == (12,) else 8
    grey: NDArray[np.uint8] = (np.asarray(image) >> surplus).astype(np.uint8)
    zero_is_white = tags.get(ExifTags.Base.PhotometricInterpretation) == 0  # Pillow forgets to turn it
    return ~grey if zero_is_white else grey


def _before_mid_grey(image: Image.Image, where: str) -> NDArray[np.uint8]:
    image = image.convert("RGBA")
    alpha = image.getchannel("A")
    if not alpha.getbbox():
        raise BadImage(where, "a picture that can be seen", "only transparent pixels")
    return np.array(Image.composite(image.convert("L"), Image.new("L", image.size, BEHIND), alpha))


def _scaled(values: NDArray[np.int32] | NDArray[np.float32], where: str) -> NDArray[np.uint8]:
    whites = _WHITES if values.dtype.kind == "f" else _WHITES[1:]
    lowest, highest = float(values.min()), float(values.max())  # both NaN where any pixel is
    white = next((white for limit, white in whites if highest <= limit), None)
    if white is None or lowest < -ROUNDING * white:
        names = ", ".join(f"{white:g}" for _, white in whites)
        got = f"values from {lowest:g} to {highest:g}"
        raise BadImage(where, f"a picture from 0 to white, which is one of {names}", got)
    grey: NDArray[np.uint8] = np.clip(np.rint(values * (255 / white)), 0, 255).astype(np.uint8)
    return grey


def _upright(grey: NDArray[np.uint8], image: Image.Image) -> NDArray[np.uint8]:
    """Turn the grey values of a loaded image as the camera's notes say; spoiled notes do not spoil the picture."""
    orientation: object = None
    if len(image.info.get("exif", b"")) <= guards.MOST_NOTES:  # Pillow unpacks all of them
        with suppress(Exception):
            orientation = image.getexif().get(ExifTags.Base.Orientation)
    return np.ascontiguousarray(_TURNS.get(orientation, np.asarray)(grey))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Pillow's warnings: we judge the size ourselves, and errors still leave.

    The filters of warnings belong to the whole process. Threads that each put them back would put back those of each
    other; so the first that comes sets the filter, and the last that leaves puts the old ones back.
    """
    global _readers
    with _lock:
        if _readers == 0:
            _silence.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", module=r"PIL\b")
        _readers += 1
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if _readers == 0:
                _silence.close()


@lru_cache(1)
def _silence_libtiff() -> None:
    """Keep libtiff from writing its troubles to the terminal, past Python; Pillow raises them too."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(_imaging.__file__).TIFFSetErrorHandler(None)
