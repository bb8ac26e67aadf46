"""The register of people: enroll, identify, verify, forget, calibrate.

:class:`Gallery` is the door; :mod:`lightproof.store` keeps what it knows, :mod:`lightproof.strangers` says what a score
means.
"""

from lightproof.gallery.answers import Answer, Candidate, Mark, Verification
from lightproof.gallery.calibration import FAR, Calibration
from lightproof.gallery.gallery import Gallery
from lightproof.gallery.sharding import identify_files
from lightproof.gallery.sifting import FolderReport, Refused
from lightproof.gallery.simulating import crowd_name, make_gallery
from lightproof.gallery.taking import Face, Photo, take

__all__ = [
    "FAR",
    "Answer",
    "Calibration",
    "Candidate",
    "Face",
    "FolderReport",
    "Gallery",
    "Mark",
    "Photo",
    "Refused",
    "Verification",
    "crowd_name",
    "identify_files",
    "make_gallery",
    "take",
]
