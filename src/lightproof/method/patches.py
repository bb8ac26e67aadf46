"""PatchGrid: the one owner of patch size, stride, rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lightproof.core.jit import compiled
from lightproof.errors import BadParameter, GridDoesNotFit
from lightproof.types import Array, Ints, is_whole


@dataclass(frozen=True)
class PatchGrid:
    r"""Square patches :math:`\Omega_k` over an image of any aspect ratio, row by row.

    Pixels to the right of the last whole patch and below it are not used.

    Parameters
    ----------
    height, width : int
        Size of the image in pixels.
    cell : int
        Side of a patch.
    overlap : int
        Pixels two neighboring patches share, 0 to ``cell - 1``.

    Examples
    --------
    >>> PatchGrid(64, 64, cell=4, overlap=1).n_patches
    441
    """

    height: int
    width: int
    cell: int
    overlap: int = 0

    def __post_init__(self) -> None:
        for name in ("height", "width", "cell"):
            if not is_whole(getattr(self, name), 1):
                raise BadParameter("PatchGrid", name, "an int of 1 or more", getattr(self, name))
        if not is_whole(self.overlap, 0) or self.overlap >= self.cell:
            raise BadParameter("PatchGrid", "overlap", f"an int from 0 to cell - 1 = {self.cell - 1}", self.overlap)
        if self.cell > min(self.height, self.width):
            raise GridDoesNotFit(self.height, self.width, self.cell)

    @cached_property
    def stride(self) -> int:
        """Pixels from one patch to the next."""
        return self.cell - self.overlap

    @cached_property
    def rows(self) -> int:
        """Patches from top to bottom."""
        return (self.height - self.cell) // self.stride + 1

    @cached_property
    def columns(self) -> int:
        """Patches from left to right."""
        return (self.width - self.cell) // self.stride + 1

    @cached_property
    def n_patches(self) -> int:
        """Number of patches, K."""
        return self.rows * self.columns

    @cached_property
    def n_points(self) -> int:
        """Pixels in a patch, N."""
        return self.cell**2

    @cached_property
    def constant_stride(self) -> tuple[int, ...]:
        """The stride as the length of a tuple: the length is part of the type, so Numba compiles loops for it."""
        return (0,) * self.stride

    @cached_property
    def corners(self) -> Ints:
        """Row and column of the top left pixel of each patch, shape (K, 2)."""
        row, column = np.divmod(np.arange(self.n_patches), self.columns)
        return np.stack([row, column], axis=1) * self.stride

    def gather(self, fields: Array, out: Array | None = None) -> Array:
        """Cut fields over the image into patches, (n, m, h, w) -> (n, K, m, N); ``out`` must be contiguous."""
        fields = np.ascontiguousarray(fields)
        n, m = fields.shape[:2]
        if out is None:
            out = np.empty((n, self.n_patches, m, self.n_points), fields.dtype)
        # One item is a row of a patch: NumPy copies runs of `cell` pixels slowly pixel by pixel.
        row = np.dtype((np.void, self.cell * fields.itemsize))
        image, field, line, pixel = fields.strides
        windows: Array = np.ndarray(
            (n, self.rows, self.columns, m, self.cell),
            row,
            buffer=fields.data,
            strides=(image, line * self.stride, pixel * self.stride, field, line),
        )
        out.view(row).reshape(windows.shape)[...] = windows
        return out

    def lanes(self, fields: Array) -> Array:
        """Cut fields over the image into patches, patches last, (n, m, h, w) -> (n, m, N, K)."""
        out = np.empty((*fields.shape[:2], self.n_points, self.n_patches), fields.dtype)
        _lay_out_all(fields, np.uintp(self.cell), self.constant_stride, np.uintp(self.columns), out)
        return out

    def as_map(self, values: Array) -> Array:
        """Lay one value per patch out as a picture, (..., K) -> (..., rows, columns)."""
        return values.reshape(*values.shape[:-1], self.rows, self.columns)


@compiled
def lay_out(field: Array, cell: np.uintp, stride: tuple[int, ...], width: np.uintp, out: Array) -> None:
    """Put each pixel of all cells side by side, as far as the picture reaches, (m, h, w) -> (m, cell ** 2, places).

    A line has ``width`` places; ``stride`` is :attr:`PatchGrid.constant_stride`. Numbers are unsigned: with signed ones
    Numba tests at every pixel whether an index counts from the end.
    """
    step, one = np.uintp(len(stride)), np.uintp(1)
    height, breadth, lines = np.uintp(field.shape[1]), np.uintp(field.shape[2]), np.uintp(out.shape[2]) // width
    for part in range(np.uintp(len(field))):
        for i in range(cell):
            for row in range(min(lines, (height - i + step - one) // step)):
                line = field[part, row * step + i]
                for j in range(cell):
                    columns = min(width, (breadth - j + step - one) // step)
                    lane = out[part, i * cell + j, row * width : row * width + columns]
                    for column in range(columns):
                        lane[column] = line[column * step + j]


@compiled
def _lay_out_all(fields: Array, cell: np.uintp, stride: tuple[int, ...], width: np.uintp, out: Array) -> None:
    for n in range(len(fields)):
        lay_out(fields[n], cell, stride, width, out[n])
