"""An image file -> grey image: the guards, the decoder and the sentence, in their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from lightproof.errors import BadImage, TooManyPixels
from lightproof.imaging.decode import jpeg, png, pnm, tiff, webp
from lightproof.imaging.decode.files import READABLE, contents_of, in_one_line
from lightproof.imaging.decode.formats import format_of
from lightproof.imaging.decode.grey import grey_of
from lightproof.imaging.decode.guards import Stream, check_gaps, check_size, size_limit
from lightproof.imaging.decode.quiet import quiet, silence_libtiff
from lightproof.imaging.decode.upright import upright


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
    bare = pnm.bare_grey(contents, where, most_pixels)
    if bare is not None:
        return bare
    try:
        with quiet():
            return _decoded(contents, where, most_pixels)
    except BadImage:
        raise
    except Image.DecompressionBombError:
        raise TooManyPixels(where, size_limit(), "many more") from None
    except UnidentifiedImageError:  # its own words name an address in memory
        raise BadImage(where, READABLE, "a broken header") from None
    except Exception as problem:  # decoders meet a broken file with almost any error
        raise BadImage(where, READABLE, _said(problem)) from None


def _decoded(contents: bytes, where: str, most: int | None) -> NDArray[np.uint8]:
    kind = format_of(contents, where)
    if kind == "JPEG":
        jpeg.check_work(contents, where)
    if kind == "TIFF":
        silence_libtiff()
        tiff.check_directories(contents)
    if kind == "WEBP":
        check_size(*webp.size_of(contents), contents, where, most)
    if kind == "PPM":
        contents = pnm.without_comments(contents, where)
    with Image.open(Stream(contents), formats=[kind]) as image:
        check_size(*image.size, contents, where, most)
        check_gaps(image)
        if kind == "PNG":
            png.check_sums(contents)
        if pnm.has_odd_white(image):
            return grey_of(pnm.with_white_of_255(image, contents), where)
        image.load()  # some formats turn the picture themselves here, and then forget the note
        if kind == "JPEG":
            jpeg.check_whole(image, contents)
        if kind == "PNG":
            png.check_whole(image, contents)
        return upright(grey_of(image, where), image)


def _said(problem: Exception) -> str:
    if isinstance(problem, MemoryError):
        return "more than fits into the memory"
    told = isinstance(problem, OSError | ValueError | SyntaxError)  # others speak of the decoder, not of the file
    return (in_one_line(str(problem)).strip(" .") if told else "") or "broken data"
