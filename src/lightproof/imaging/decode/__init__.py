"""File -> grey image; the only door for image formats.

What comes through this door may have been made to hurt. So a path is read only when it is a plain file, and only up to
a limit; the format is told by the contents, never by the name; the size is looked up in the header before a pixel is
unpacked; and whatever goes wrong leaves as one `BadImage` with one sentence.
"""

from lightproof.imaging.decode.bare import read_raw_grey
from lightproof.imaging.decode.door import read_grey
from lightproof.imaging.decode.files import MOST_BYTES, contents_of, in_one_line
from lightproof.imaging.decode.formats import ENDINGS
from lightproof.imaging.decode.grey import BEHIND
from lightproof.imaging.decode.guards import MOST_PIXELS, MOST_SIDE

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
