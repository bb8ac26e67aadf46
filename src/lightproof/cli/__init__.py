"""The command line: parse, call, print, map errors to exit codes."""

from lightproof.cli.app import app, main

__all__ = ["app", "main"]
