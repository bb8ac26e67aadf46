"""Plain loops over numbers that run as machine code.

NumPy is fast where one call does much. Where thousands of small things are done to the same few numbers, most of the
time goes into carrying these to and fro between its calls. Such loops are written out, where they belong, and compiled
by Numba when they are first called, for the types they are called with. The machine code is kept for the next time
beside Python's own, or in the user's cache, if one of them can be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class Compiled(Generic[P, R]):
    """A function of arrays and numbers that runs as machine code; it may call others of its kind.

    It rounds as it is written: no sum is taken in another order than the loop says, so that the same numbers give the
    same result to the last bit.
    """

    def __init__(self, loop: Callable[P, R], written_out: bool = False) -> None:
        self._loop = loop
        self._inline: Literal["always", "never"] = "always" if written_out else "never"
        update_wrapper(self, loop)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Run it."""
        try:
            result: R = self.machine_code(*arguments, **keywords)
        except Exception:
            # The disk is full, or what was kept there is spoiled, which shows in almost any way. A loop itself raises
            # nothing once it runs.
            self.machine_code = self._compiled(keep=False)
            result = self.machine_code(*arguments, **keywords)
        return result

    @cached_property
    def machine_code(self) -> Callable[..., Any]:
        """What Numba makes of it. Numba itself takes longer to load than many a command: not before it is needed."""
        try:
            return self._compiled(keep=True)
        except RuntimeError:  # there is no place to keep it
            return self._compiled(keep=False)

    def _compiled(self, keep: bool) -> Callable[..., Any]:
        from numba import njit

        return cast(
            Callable[..., Any],
            njit(self._with_others(keep), cache=keep, nogil=True, error_model="numpy", inline=self._inline),
        )

    def _with_others(self, keep: bool) -> Callable[..., Any]:
        """Return the function with the machine code of others where it calls them."""
        known = self._loop.__globals__
        others = {name: known[name] for name in self._loop.__code__.co_names if isinstance(known.get(name), Compiled)}
        inner = known | {name: other.machine_code if keep else other._compiled(keep) for name, other in others.items()}
        return update_wrapper(FunctionType(self._loop.__code__, inner, self._loop.__name__), self._loop)


def compiled(loop: Callable[P, R]) -> Compiled[P, R]:
    """Let a function run as machine code."""
    return Compiled(loop)


def written_out(loop: Callable[P, R]) -> Compiled[P, R]:
    """Let a function run as machine code, written out in each loop that calls it.

    There the compiler sees that the arrays it is given do not overlap, and need not ask each time.
    """
    return Compiled(loop, written_out=True)
