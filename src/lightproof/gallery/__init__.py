"""Galleries of people: enroll, identify, verify, forget, calibrate.

:class:`Gallery` has all of it; :mod:`lightproof.gallery.store` keeps the data, and
:mod:`lightproof.matching.calibration` tells what a score means.
"""

from lightproof.core.moved import renamed
from lightproof.gallery.crowd_gallery import crowd_face, crowd_name, make_gallery
from lightproof.gallery.decision import FAR, Answer, Calibration, Candidate, Match, Verification
from lightproof.gallery.distributed import identify_files
from lightproof.gallery.enrollment import ExtractedFace, Photo, extract_face
from lightproof.gallery.folders.scan import FolderReport, Refused
from lightproof.gallery.gallery import Gallery

__all__ = [
    "FAR",
    "Answer",
    "Calibration",
    "Candidate",
    "ExtractedFace",
    "FolderReport",
    "Gallery",
    "Match",
    "Photo",
    "Refused",
    "Verification",
    "crowd_face",
    "crowd_name",
    "extract_face",
    "identify_files",
    "make_gallery",
]

__getattr__ = renamed(__name__, {"Face": "ExtractedFace", "Mark": "Match", "take": "extract_face"})
