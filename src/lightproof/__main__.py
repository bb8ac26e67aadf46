"""Run the command line as ``python -m lightproof``."""

from lightproof.cli import main

main()
