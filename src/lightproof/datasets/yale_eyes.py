"""Where the eyes are in the crops of Extended Yale B.

The crops were not cut by the eyes alone: those of one person lie up to 11 pixels above or below those of another. So a
detector is judged by each person's own eyes.
"""

from __future__ import annotations

from typing import Final

YALE_EYES: Final = {
    "yaleB01": (35, 47, 127, 48),
    "yaleB02": (37, 44, 131, 46),
    "yaleB03": (33, 39, 128, 39),
    "yaleB04": (38, 47, 132, 48),
    "yaleB05": (35, 49, 129, 50),
    "yaleB06": (35, 47, 132, 47),
    "yaleB07": (33, 50, 130, 52),
    "yaleB08": (35, 41, 131, 41),
    "yaleB09": (34, 50, 130, 50),
    "yaleB10": (36, 40, 129, 41),
    "yaleB11": (36, 50, 136, 52),
    "yaleB12": (33, 41, 128, 42),
    "yaleB13": (45, 37, 142, 41),
    "yaleB15": (34, 50, 132, 51),
    "yaleB16": (34, 51, 129, 51),
    "yaleB17": (36, 50, 130, 48),
    "yaleB18": (30, 38, 132, 40),
    "yaleB19": (35, 54, 127, 55),
    "yaleB20": (36, 41, 131, 39),
    "yaleB21": (30, 51, 124, 48),
    "yaleB22": (34, 41, 130, 45),
    "yaleB23": (38, 45, 134, 44),
    "yaleB24": (33, 40, 128, 40),
    "yaleB25": (33, 35, 126, 36),
    "yaleB26": (35, 43, 125, 44),
    "yaleB27": (37, 54, 130, 54),
    "yaleB28": (35, 49, 131, 52),
    "yaleB29": (42, 48, 131, 46),
    "yaleB30": (39, 53, 130, 52),
    "yaleB31": (36, 48, 130, 50),
    "yaleB32": (39, 47, 131, 48),
    "yaleB33": (34, 42, 129, 42),
    "yaleB34": (34, 45, 131, 40),
    "yaleB35": (35, 45, 128, 48),
    "yaleB36": (36, 48, 129, 46),
    "yaleB37": (39, 52, 128, 50),
    "yaleB38": (32, 41, 129, 41),
    "yaleB39": (29, 56, 119, 60),
}
"""Column and row of the right eye, then of the left: pupils in the crop of 192 x 168 pixels, to about two pixels.

Marked by a network for irises in each photo of the training set, median of the eleven, then looked at one by one.
"""
