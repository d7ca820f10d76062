"""Stored refinements: what is read back is what was kept, and no claim in them is believed further than is said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairdsl.backends.intervals.claims import Grid
from fairdsl.backends.intervals.leaves import restored
from fairdsl.backends.intervals.recheck import claims_of
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.refining.recheck import ALL, Recheck, sample, wrong_at_most
from tests.drawing import examples
from tests.intervals.bisection import plane
from tests.intervals.kernel_tasks import counted, random_task

some = settings(deadline=None, max_examples=examples(1))
seeds = st.integers(0, 2**32 - 1)


def refined(task: Task, nodes: int) -> Refinement:
    refinement = Refinement.start(task)
    refinement.advance(nodes)
    return refinement


@some
@given(seeds, st.booleans(), st.integers(1, 200))
def test_what_is_stored_is_gone_on_from(seed: int, curved: bool, nodes: int) -> None:
    """Everything is confirmed, the bounds are the same but for rounding, and what follows is as good."""
    task = random_task(seed, curved=curved)
    before, roots = refined(task, nodes), Refinement.start(task).state()
    again, checked = Refinement.opened(task, roots, before.stored(), ALL)
    assert checked.sampled.wrong == 0
    assert again.nodes == before.nodes
    alike(again.bounds(), before.bounds(), task)
    for name, array in again.stored().items():
        np.testing.assert_array_equal(array, before.stored()[name])
    again.advance(1000)
    assert again.bounds().violating <= before.bounds().violating
    (surely, maybe, _), bounds = counted(task), again.bounds()
    assert bounds.falsified <= maybe
    assert surely <= bounds.violating


@some
@given(seeds, st.integers(1, 3))
def test_parts_are_stored_below_what_they_began_with(seed: int, parts: int) -> None:
    task = random_task(seed)
    whole = refined(task, 5)
    roots = whole.fork(parts)
    done = [Refinement.resume(task, root) for root in roots]
    for part in done:
        part.advance(50)
    read = [
        Refinement.opened(task, root, part.stored(), ALL)[0].state() for root, part in zip(roots, done, strict=True)
    ]
    whole.join([part.state() for part in done])
    expected = whole.bounds()
    whole = refined(task, 5)
    whole.fork(parts)
    whole.join(read)
    alike(whole.bounds(), expected, task)


def alike(read: Bounds, kept: Bounds, task: Task) -> None:
    """No better, and worse by rounding alone: a little of every box, or one unit where units are counted."""
    lost = read.violating - kept.violating, kept.falsified - read.falsified
    assert all(0 <= each <= 1 + Fraction(task.decided, 25_000) for each in lost)


@pytest.mark.parametrize("decided", [32, 1000, 3 * 10**9])
def test_counts_stay_as_they_are(decided: int) -> None:
    """Boxes of a few units are counted, and claims of them are of whole units."""
    counts = [(units, most, least) for units in range(1, 33) for most in range(units + 1) for least in range(most + 1)]
    units, most, least = np.array(counts).T
    grid = Grid(plane((2,), (1,), 0, decided=decided), mass := units / decided)
    claimed = mass * (most / units), mass * (least / units) * (1 - 1e-9)  # as the kernels compute them
    values = grid.values(grid.codes(*claimed, claimed[0]))
    np.testing.assert_array_equal(np.floor(values["violating"] * decided * (1 + 1e-9)), most)
    np.testing.assert_array_equal(np.ceil(values["falsified"] * decided * (1 - 1e-9)), least)


def edited(kept: dict[str, NDArray[Any]], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """One edit of one array: a number, the order, the length, or everything."""
    kept = {name: array.copy() for name, array in kept.items()}
    claims = [name for name in kept if name in ("violating", "falsified", "violating32")]
    name = str(rng.choice(claims if rng.random() < 0.6 else sorted(kept)))
    array = kept[name]
    place = int(rng.integers(len(array))) if len(array) else 0
    match int(rng.integers(5)):
        case 0 if len(array):
            array[place] = 0
        case 1 if len(array):
            array[place] = array[place] // 2 if name in claims else array[place] + rng.integers(-2, 3)
        case 2:
            array[:] = 0
        case 3:
            kept[name] = rng.permutation(array)
        case _:
            kept[name] = array[: len(array) // 2]
    return kept


def sound_or_refused(seed: int, how: Recheck) -> bool:
    """Whether an edited refinement was refused; if not, its bounds are true."""
    rng = np.random.default_rng(seed)
    task = random_task(seed)
    kept = edited(refined(task, int(rng.integers(1, 100))).stored(), rng)
    try:
        opened, _ = Refinement.opened(task, Refinement.start(task).state(), kept, how)
    except ValueError:
        return True
    opened.advance(20)  # what is gone on from must not be poisoned
    (surely, maybe, _), bounds = counted(task), opened.bounds()
    assert bounds.falsified <= maybe
    assert surely <= bounds.violating
    return False


def test_edits_are_refused_or_harmless() -> None:
    refused = [sound_or_refused(seed, ALL) for seed in range(40)]
    assert 5 < sum(refused) < 40, "some edits claim too much, and some claim nothing"


@pytest.mark.slow
def test_many_edits_are_refused_or_harmless() -> None:
    assert sum(sound_or_refused(seed, ALL) for seed in range(1000, 1200)) > 50


def test_the_bound_of_a_sample_is_the_binomial_one() -> None:
    """No failure in n draws has a probability of 1 % at exactly that share, of each kind its part."""
    for draws, kinds in ((1, 1), (459, 1), (1000, 3)):
        share = float(wrong_at_most(draws, kinds))
        assert (1 - share) ** draws == pytest.approx(0.01 / kinds, rel=1e-4)
    assert wrong_at_most(459, 1) < Fraction(1, 100) < wrong_at_most(458, 1)


def test_a_sample_misses_more_than_it_says_once_in_a_hundred() -> None:
    """Forged claims of a little more than the bound, drawn with 2,000 seeds."""
    task = next(task for seed in range(100) if len(refined(task := random_task(seed), 60).stored()["inner"]) > 40)
    state, boxes = restored(task, Refinement.start(task).state(), refined(task, 60).stored())
    claim = next(one for one in claims_of(state, boxes, deployed=False) if one.kind == "violating")
    rng = np.random.default_rng(5)
    order = rng.permutation(len(claim.nodes))
    draws = 40
    share = float(wrong_at_most(draws, 1))
    reached = np.cumsum(claim.credit[order]) / claim.credit.sum()
    forged = claim.nodes[order[: int(np.searchsorted(reached, share)) + 1]]
    missed = 0
    for seed in range(2000):
        drawn, wrong = sample([claim], Recheck(draws=draws, all_up_to=0, seed=seed))
        assert float(wrong) == share
        missed += not np.isin(drawn["violating"], forged).any()
    assert missed <= 40  # 20 are expected at the bound; 40 or more happen once in 10^4 times


def test_a_share_is_lowered_by_what_may_be_wrong() -> None:
    """A sample of honest claims: what is certified is less than was, by the bound, and true whatever was not drawn."""
    for seed in range(8):
        task = random_task(seed)
        before, roots = refined(task, 80), Refinement.start(task).state()
        _, checked = Refinement.opened(task, roots, before.stored(), Recheck(draws=20, all_up_to=0, seed=seed))
        if not checked.sampled.of:
            continue
        assert checked.sampled.recomputed <= checked.sampled.of
        credit = 1 - before.bounds().violating / max(1, task.decided)
        assert checked.violating >= checked.sampled.wrong * credit * Fraction(99, 100)
        assert checked.sampled.seed == seed


def test_nobody_is_believed_about_what_could_poison_an_analysis() -> None:
    """Neither signs of units nor boxes are in the file."""
    kept = refined(random_task(3), 50).stored()
    assert set(kept) <= {
        "inner", "axis", "own", "violating", "falsified", "violating32", "next", "regions", "effort",
    }  # fmt: skip
    assert all(array.dtype.kind in "iub" for array in kept.values())


def test_the_deployed_file_has_claims_of_its_own() -> None:
    task = replace(random_task(1), float32_error=np.array([1e-6]))
    if len(task.rivals) > 1:
        task = replace(task, float32_error=np.full(len(task.rivals), 1e-6))
    kept = refined(task, 50).stored()
    lied = kept | {"violating32": np.zeros_like(kept["violating32"])}
    roots = Refinement.start(task).state()
    Refinement.opened(task, roots, kept, ALL)
    if kept["violating32"].any():
        with pytest.raises(ValueError, match="does not come out"):
            Refinement.opened(task, roots, lied, ALL)
