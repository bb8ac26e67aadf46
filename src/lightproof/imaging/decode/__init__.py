"""File -> grey image; the only door for image formats.

A file that comes through this door may have been made to hurt. So a path is read only when it is a plain file, and only
up to a limit (``files``). Its contents, never its name, tell the format, and its header the size, before a pixel is
unpacked (``format_guards``). Whatever goes wrong leaves as one `BadImage` with one sentence (``to_grey``).
"""

from lightproof.imaging.decode.files import MOST_BYTES, contents_of, in_one_line
from lightproof.imaging.decode.format_guards import ENDINGS, MOST_PIXELS, MOST_SIDE
from lightproof.imaging.decode.pnm import read_raw_grey
from lightproof.imaging.decode.to_grey import BEHIND, read_grey

__all__ = [
    "BEHIND",
    "ENDINGS",
    "MOST_BYTES",
    "MOST_PIXELS",
    "MOST_SIDE",
    "contents_of",
    "in_one_line",
    "read_grey",
    "read_raw_grey",
]
