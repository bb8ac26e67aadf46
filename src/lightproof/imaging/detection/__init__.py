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
from lightproof.imaging.detection.portraits import File, Portrait, pictures_of, read_portrait, read_portraits

__all__ = [
    "EYE_COLUMN",
    "EYE_ROW",
    "FACE_SIZE",
    "LOOKS",
    "Face",
    "File",
    "HeadPose",
    "Portrait",
    "align_by_eyes",
    "check_size",
    "cut",
    "find_faces",
    "jitter_by_eyes",
    "mesh_of_crop",
    "pictures_of",
    "pose_of",
    "read_portrait",
    "read_portraits",
]
