"""Photo -> the face, upright, cropped and of one size."""

from lightproof.imaging.detection.detector import LOOKS, Face, cut, find_faces, mesh_of_crop
from lightproof.imaging.detection.eye_alignment import (
    EYE_COLUMN,
    EYE_ROW,
    FACE_SIZE,
    align_by_eyes,
    check_size,
    jitter_by_eyes,
)
from lightproof.imaging.detection.head_pose import HeadPose, pose_of
from lightproof.imaging.detection.mesh_warp import warp_to_neutral
from lightproof.imaging.detection.portraits import (
    AlignedFace,
    File,
    Portrait,
    align,
    align_crop,
    pictures_of,
    portraits_of,
    read_portrait,
    read_portraits,
)

__all__ = [
    "EYE_COLUMN",
    "EYE_ROW",
    "FACE_SIZE",
    "LOOKS",
    "AlignedFace",
    "Face",
    "File",
    "HeadPose",
    "Portrait",
    "align",
    "align_by_eyes",
    "align_crop",
    "check_size",
    "cut",
    "find_faces",
    "jitter_by_eyes",
    "mesh_of_crop",
    "pictures_of",
    "portraits_of",
    "pose_of",
    "read_portrait",
    "read_portraits",
    "warp_to_neutral",
]
