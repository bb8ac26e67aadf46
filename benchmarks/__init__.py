"""How fast, how much memory, and how accurate: classes with ``setup``, ``time_*``, ``peakmem_*`` and ``track_*``."""
