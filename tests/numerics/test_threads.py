"""Searching and sampling leave BLAS one thread, and others what they had."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from fairdsl.numerics.threads import one_blas_thread


def threads() -> set[int]:
    assert np.ones((2, 2)).dot(np.ones(2)).sum() == 4  # a BLAS library is loaded
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_what_was_set_before_afterwards() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_blas_thread():
            assert threads() <= {1}
        assert threads() == before
