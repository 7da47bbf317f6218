"""A fit that does not come to its end, by an error or by Ctrl-C, leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def whole_or_nothing(method: Method) -> Method:
    """Decorate a method that sets attributes: where it raises anything, the attributes are those from before.

    What an attribute refers to is not copied: fits make new objects, and change none that are there.

    Examples
    --------
    >>> class Counter:
    ...     @whole_or_nothing
    ...     def count(self, n):
    ...         self.n = n
    ...         raise KeyboardInterrupt
    >>> counter = Counter()
    >>> try:
    ...     counter.count(3)
    ... except KeyboardInterrupt:
    ...     vars(counter)
    {}
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded  # type: ignore[return-value]
