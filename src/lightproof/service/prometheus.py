"""Figures for Prometheus: how often, how long, what came of it. Nothing in them is about anybody."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """What is counted."""

    content_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        name = "lightproof"
        self.requests = Counter(
            f"{name}_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            f"{name}_request_seconds", "Time to the answer.", ["route"], buckets=SECONDS, registry=registry
        )
        self.answers = Counter(f"{name}_answers", "Photos identified.", ["answer"], registry=registry)
        self.photos = Counter(f"{name}_photos", "Photos sent to be enrolled.", ["outcome"], registry=registry)
        self.running = Gauge(f"{name}_requests_running", "Requests not answered yet.", registry=registry)
        self.waiting = Gauge(f"{name}_jobs_waiting", "Work that waits or is done.", registry=registry)
        self.held = Gauge(f"{name}_held_bytes", "Bytes of requests in memory.", registry=registry)
        self.people = Gauge(f"{name}_gallery_people", "People enrolled.", registry=registry)
        self.enrolled = Gauge(f"{name}_gallery_photos", "Photos enrolled.", registry=registry)

    def written(self) -> bytes:
        """Write everything down as Prometheus reads it."""
        return bytes(generate_latest(self._registry))
