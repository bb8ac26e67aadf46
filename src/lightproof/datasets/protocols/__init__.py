"""Who is enrolled with which photo, and what is asked: rules only, no file access."""

from lightproof.datasets.protocols.ar import ar_test
from lightproof.datasets.protocols.cas_peal import cas_peal_test
from lightproof.datasets.protocols.folder import folder_test
from lightproof.datasets.protocols.rule import Protocol, Split, restricted, restricted_to_people
from lightproof.datasets.protocols.yale import (
    YALE_LIGHTS,
    YALE_PICKS,
    Light,
    Pick,
    has_even_number,
    has_odd_number,
    yale_subset,
    yale_test_1,
    yale_test_2,
)

__all__ = [
    "YALE_LIGHTS",
    "YALE_PICKS",
    "Light",
    "Pick",
    "Protocol",
    "Split",
    "ar_test",
    "cas_peal_test",
    "folder_test",
    "has_even_number",
    "has_odd_number",
    "restricted",
    "restricted_to_people",
    "yale_subset",
    "yale_test_1",
    "yale_test_2",
]
