"""From image files to upright faces, and what the light does to them."""
