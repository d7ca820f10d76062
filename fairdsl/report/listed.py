"""Documents that are the sequence of what they list."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

_T = TypeVar("_T", covariant=True)


class Listed(Sequence[_T]):
    """The sequence of its ``listed``."""

    __slots__ = ()

    @property
    @abstractmethod
    def listed(self) -> Sequence[_T]:
        """What it lists."""

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[_T]: ...

    def __getitem__(self, index: int | slice) -> _T | Sequence[_T]:
        return self.listed[index]

    def __len__(self) -> int:
        return len(self.listed)
