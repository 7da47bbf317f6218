"""Named collections: a new kernel, solver or method is one file with one ``@register``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items of one kind by name, in the order in which they were registered.

    Parameters
    ----------
    sort : str
        What the items are called in messages, e.g. ``"solver"``.

    Examples
    --------
    >>> shapes = Registry("shape")
    >>> @shapes.register("square")
    ... class Square: ...
    >>> shapes["square"].__name__
    'Square'
    >>> shapes["circle"]
    Traceback (most recent call last):
        ...
    ValueError: unknown shape 'circle'; known: square
    """

    def __init__(self, sort: str) -> None:
        self._sort = sort
        self._items: dict[str, Item] = {}

    def register(self, name: str) -> Callable[[Item], Item]:
        """A decorator that registers a class or function under `name`."""

        def keep(item: Item) -> Item:
            if name in self._items:
                raise ValueError(f"{self._sort} {name!r} is registered twice")
            self._items[name] = item
            return item

        return keep

    def __getitem__(self, name: str) -> Item:
        try:
            return self._items[name]
        except KeyError:
            known = ", ".join(self._items)
            raise ValueError(f"unknown {self._sort} {name!r}; known: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def items(self) -> Iterator[tuple[str, Item]]:
        """Pairs of name and item."""
        return iter(self._items.items())
