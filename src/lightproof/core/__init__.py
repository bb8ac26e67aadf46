"""What knows nothing of faces: arrays, files, threads, processes and machines."""
