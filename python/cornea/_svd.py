# SPDX-License-Identifier: Apache-2.0
"""Singular value decompositions of batches of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context
from ._options import OptionValue, options_of, settings, with_options

_OPTIONS = options_of("svd")


class SvdResult(NamedTuple):
    """A = U diag(S) V^T: V itself, not its transpose."""

    U: NDArray[Any] | None  #: ... x m x k, k = min(m, n)
    S: NDArray[Any]  #: ... x k, falling
    V: NDArray[Any] | None  #: ... x n x k
    report: dict[str, int]  #: most_sweeps, not_converged, not_finite, first_not_finite


@with_options(_OPTIONS)
class Svd:
    """Decomposes batches of matrices. Construct it once for many calls."""

    def __init__(
        self, *, device: str = "auto", threads: int = 0, stream: Any = None, **options: OptionValue
    ) -> None:
        self._made = _cornea.Svd(context(device, threads, stream), settings(_OPTIONS, options))

    def compute(self, a: Any, *, with_u: bool = True, with_v: bool = True) -> SvdResult:
        """Decomposes one matrix m x n or many, ... x m x n, float32 or float64."""
        array = np.asarray(a)
        if array.dtype not in (np.float32, np.float64):
            raise TypeError(f"matrices have elements of {array.dtype}; they must be float32 or float64")
        if array.ndim < 2:
            raise ValueError(f"matrices are {array.shape}; they must be ... x m x n")
        outer = array.shape[:-2]
        flat = np.ascontiguousarray(array.reshape((-1, *array.shape[-2:])) if array.size else array)
        if not array.size:
            flat = np.zeros((int(np.prod(outer)), *array.shape[-2:]), array.dtype)
        u, s, v, report = self._made.compute(flat, with_u, with_v)
        shaped = [None if part is None else part.reshape((*outer, *part.shape[1:])) for part in (u, s, v)]
        return SvdResult(shaped[0], shaped[1], shaped[2], report)  # type: ignore[arg-type]


@with_options(_OPTIONS)
def svd(
    a: Any,
    *,
    with_u: bool = True,
    with_v: bool = True,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> SvdResult:
    """The thin singular value decomposition of one matrix m x n or of many, ... x m x n.

    A = U diag(S) V^T; V itself is returned, not its transpose.

    >>> import cornea, numpy
    >>> a = numpy.arange(24.0).reshape(2, 4, 3)
    >>> u, s, v, report = cornea.svd(a)
    >>> numpy.allclose(u * s[:, None, :] @ v.transpose(0, 2, 1), a)
    True
    """
    made = Svd(device=device, threads=threads, stream=stream, **options)
    return made.compute(a, with_u=with_u, with_v=with_v)
