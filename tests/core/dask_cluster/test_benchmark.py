"""The benchmark of the cluster measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import bulk, cluster
from lightproof.datasets import make_relit_faces

pytestmark = pytest.mark.long


def test_every_photo_is_there_though_a_worker_was_killed(tmp_path):
    rendered = make_relit_faces(4, lights=[(0, 0)], size=(48, 42)).images
    bulk.Crowd(rendered, people=60, photos=1).write(tmp_path)
    row = cluster.killed(tmp_path, cropped=True)
    assert (row["enrolled"], row["refused"]) == (60, 0)
    assert min(row["seconds"], row["client_seconds"], row["workers_seconds"]) > 0
