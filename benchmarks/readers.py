"""How many readers can read a large gallery at once before each gets slower: python -m benchmarks.readers GALLERY.

People drawn at random are read as a question reads them where nobody is clear, first from the disk, where the system
can be told to hold nothing of the file, then once more; so many readers at a time, in turns, each with other people.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

import numpy as np

from benchmarks.scale import drop_from_memory
from lightproof.core.threads import READERS, by_readers
from lightproof.gallery import Gallery
from lightproof.gallery.shortlist import SHORTLIST_SIZES
from lightproof.matching.hamming_index import MAX_CANDIDATES
from lightproof.types import Ints

READ: Final = MAX_CANDIDATES - SHORTLIST_SIZES[-1]
"""People who are read in the last step of a question."""


def seconds_of(gallery: Gallery, people: Ints, readers: int) -> float:
    """How long so many readers take for some people."""

    def read(part: Ints) -> None:
        with gallery.store.reading() as view:
            view.comparison_data(part.tolist())

    start = time.perf_counter()
    by_readers(read, np.array_split(people, readers))
    return time.perf_counter() - start


def measure(place: str, turns: int = 9, read: int = READ) -> list[dict[str, float]]:
    """Time one reader, two, and so on up to as many as there are; the middle of the turns."""
    rng, counts = np.random.default_rng(0), [2**i for i in range(READERS.bit_length())]
    seconds: dict[tuple[int, bool], list[float]] = {}
    with Gallery.open(place, create=False) as gallery:
        with gallery.store.reading() as view:
            last = view.largest_id()
        seconds_of(gallery, np.arange(1, 2 * READERS + 1), READERS)
        for _ in range(turns):
            for count in counts:
                people = np.sort(rng.choice(last, min(read, last), replace=False) + 1)
                drop_from_memory(place)
                for held in (False, True):
                    seconds.setdefault((count, held), []).append(seconds_of(gallery, people, count))
    middle = {key: 1e3 * float(np.median(some)) for key, some in seconds.items()}
    return [{"readers": count, "from_disk_ms": middle[count, False], "ms": middle[count, True]} for count in counts]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gallery")
    for row in measure(parser.parse_args().gallery):
        print(f"{row['readers']} readers: {row['from_disk_ms']:.0f} ms from disk, {row['ms']:.0f} ms from memory")


if __name__ == "__main__":
    main()
