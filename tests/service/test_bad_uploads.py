"""Ten thousand bad uploads: each is answered as a problem of the sender's, and none leaves anything behind."""

from __future__ import annotations

import threading
import time
from collections import Counter
from itertools import islice

import httpx2 as httpx
import pytest

from lightproof.service.problems import KINDS
from tests.service.bad_uploads import bad_uploads
from tests.service.running import Running

pytestmark = pytest.mark.long

COUNT = 10_000
CLIENTS = 3
WARM = 5_000
"""Uploads after which the memory is looked at for the first time."""


class Sender:
    """Sends uploads from several threads, and takes down what comes back."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._alone = threading.Lock()
        self.wrong: list[str] = []
        self.codes: Counter[str] = Counter()
        self.seconds: list[tuple[float, str]] = []

    def send(self, uploads) -> None:
        threads = [threading.Thread(target=self._run, args=(uploads,)) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _run(self, uploads) -> None:
        with httpx.Client(base_url=self._url, timeout=60, trust_env=False) as client:
            while True:
                with self._alone:
                    upload = next(uploads, None)
                if upload is None:
                    return
                began = time.perf_counter()
                headers = {"Content-Type": upload.kind} if upload.kind else {}
                try:
                    answer = client.post("/v1/identify", content=upload.body, headers=headers)
                    self._take(upload, answer, time.perf_counter() - began)
                except Exception as problem:
                    with self._alone:
                        self.wrong.append(f"{upload.what}: {problem!r}")

    def _take(self, upload, answer, seconds) -> None:
        told = answer.json()
        sound = 400 <= answer.status_code < 500 and KINDS[told["code"]].status == answer.status_code == told["status"]
        with self._alone:
            self.codes[told["code"]] += 1
            self.seconds.append((seconds, upload.what))
            if not sound:
                self.wrong.append(f"{upload.what}: {answer.status_code} {told}")


@pytest.mark.usefixtures("photos_extra")
def test_ten_thousand_bad_uploads_are_refused_with_a_reason_and_the_memory_stays_flat(gallery, capsys):
    with Running(gallery, "--rate", 0, "--workers", 2) as service:
        before = service.client.get("/v1/version").json()
        sender, uploads = Sender(service.url), bad_uploads(COUNT)
        sender.send(islice(uploads, WARM))
        early = service.memory()
        sender.send(uploads)
        late = service.memory()
        assert not sender.wrong, sender.wrong[:5]
        assert len(sender.seconds) == COUNT
        assert {"bad_picture", "no_face", "bad_value", "bad_request", "too_large", "too_many_pixels",
                "unsupported_media_type"} <= set(sender.codes)  # fmt: skip
        assert late < 1.1 * early, f"{early / 2**20:.0f} MiB, then {late / 2**20:.0f}"
        assert service.client.get("/v1/version").json() == before
        assert service.mistakes() == []
    slow, what = max(sender.seconds)
    share = sum(seconds < 1 for seconds, _ in sender.seconds) / COUNT
    with capsys.disabled():
        print(f"\n{COUNT:,} bad uploads: {share:.2%} within a second, the slowest {slow:.2f} s ({what}); memory of the "
              f"service {early / 2**20:.0f} MiB after {WARM:,}, {late / 2**20:.0f} after all")  # fmt: skip
