"""A folder of photos, one folder a person, into a gallery: scan, compare with what is there, process, commit."""
