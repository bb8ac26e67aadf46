"""Probes against templates: calibrated scores, and why they came out as they did."""
