"""Plain loops over numbers that run as machine code.

NumPy is fast if one call does much. If thousands of small steps work on the same few numbers, most of the time goes
into moving them to and fro between calls. Such loops are written out, where they belong; Numba compiles them at their
first call, for the types they are called with, and keeps the machine code beside Python's own, or in the user's cache,
if one of them is writable.
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
            # The disk is full, or the kept code is spoiled, which may raise almost anything. A loop itself raises
            # nothing once it runs.
            self.machine_code = self._compiled(keep=False)
            result = self.machine_code(*arguments, **keywords)
        return result

    @cached_property
    def machine_code(self) -> Callable[..., Any]:
        """What Numba makes of it. Loading Numba takes longer than many a command: only when it is needed."""
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
        names = self._loop.__globals__
        others = {name: names[name] for name in self._loop.__code__.co_names if isinstance(names.get(name), Compiled)}
        inner = names | {name: other.machine_code if keep else other._compiled(keep) for name, other in others.items()}
        return update_wrapper(FunctionType(self._loop.__code__, inner, self._loop.__name__), self._loop)


def compiled(loop: Callable[P, R]) -> Compiled[P, R]:
    """Let a function run as machine code."""
    return Compiled(loop)


def written_out(loop: Callable[P, R]) -> Compiled[P, R]:
    """Let a function run as machine code, written out in each loop that calls it.

    There the compiler sees that the arrays it is given do not overlap, and need not ask each time.
    """
    return Compiled(loop, written_out=True)
