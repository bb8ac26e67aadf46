"""The register of people: enroll, identify, verify, forget, calibrate.

:class:`Gallery` is the door; :mod:`lightproof.gallery.store` keeps what it knows, :mod:`lightproof.matching.calibration` says what a score
means.
"""

from lightproof.gallery.calibrate import FAR, Calibration
from lightproof.gallery.distributed import identify_files
from lightproof.gallery.enrollment import Face, Photo, extract_face
from lightproof.gallery.folders.scan import FolderReport, Refused
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.results import Answer, Candidate, Match, Verification
from lightproof.gallery.simulation import crowd_name, make_gallery

__all__ = [
    "FAR",
    "Answer",
    "Calibration",
    "Candidate",
    "Face",
    "FolderReport",
    "Gallery",
    "Match",
    "Photo",
    "Refused",
    "Verification",
    "crowd_name",
    "extract_face",
    "identify_files",
    "make_gallery",
]
