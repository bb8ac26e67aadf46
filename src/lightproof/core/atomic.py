"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from lightproof.errors import CannotWrite


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside a file; it takes the file's place once all is written, and is gone otherwise."""
    draft = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with open(draft, "xb") as file:
            yield file
        os.replace(draft, path)
    except OSError as problem:
        raise CannotWrite(path, problem) from None
    finally:
        # Gone already if all went well; an interrupt must not leave it either.
        with suppress(OSError):
            draft.unlink(missing_ok=True)
