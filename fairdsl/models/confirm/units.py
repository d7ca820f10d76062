"""What was read of a file, evaluated on many individuals at once: units, and affine forms over them, in float64.

This goes by the basis itself, before anything is laid out in layers or folded, so that every tensor of the file can be
compared with what stands for it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import erfc

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import nearest_floats
from fairdsl.ir.model import Curve
from fairdsl.ir.opaque import Kernel
from fairdsl.models.basis import Affine, Block, Dense, KernelTerms, Part
from fairdsl.models.confirm.indicated import IndicatorReader, Tested, TreeReader
from fairdsl.models.exact import Array

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Numbers that one chunk of individuals may take for one block.
_CHUNK = 1 << 23
#: What a sum of float32 numbers rounds by, relative to its terms, and more.
_ROUNDED = 2.0**-20


class Reader:
    """The blocks of a basis with their numbers as floats, ready to be evaluated again and again."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._floats: dict[int, tuple[Array, FloatArray]] = {}
        self._testing: dict[int, IndicatorReader | TreeReader] = {}
        self.columns: dict[int, slice] = {}
        start = 0
        for number, block in enumerate(blocks):
            if block.given:
                self.columns[number] = slice(start, start + block.width)
                start += block.width

    def at(self, features: FloatArray, off: FloatArray | None = None) -> Units:
        """The units of individuals with these features [n, width of all inputs], in the file's order.

        ``off`` [n, width]: how far the features are from what the spec says of the individuals.
        """
        return Units(self, features, np.zeros_like(features) if off is None else off)

    def up_to(self, number: int, known: Container[int]) -> list[int]:
        """The block and all that its argument depends on and that are not ``known``, each after those that it reads.

        Networks are thousands of blocks deep, so nobody may go down to the inputs by calls within calls.
        """
        found, waiting = set[int](), [number]
        while waiting:
            each = waiting.pop()
            argument = self.blocks[each].argument
            if each not in found and each not in known:
                found.add(each)
                waiting.extend(() if argument is None else argument.parts)
        return sorted(found)

    def floats(self, numbers: Array) -> FloatArray:
        """The numbers, each as the nearest float64."""
        if numbers.dtype != object:
            return numbers
        known = self._floats.get(id(numbers))
        if known is None:  # the array is kept beside, so that no other one gets its id
            found = np.array(nearest_floats(numbers.ravel().tolist())[0]).reshape(numbers.shape)
            known = self._floats[id(numbers)] = (numbers, found)
        return known[1]

    def testing(self, number: int) -> IndicatorReader | TreeReader:
        """What evaluates the indicators or leaves of a block."""
        if number not in self._testing:
            block = self.blocks[number]
            if block.trees is not None:
                self._testing[number] = TreeReader(block.trees)
            else:
                assert block.indicators is not None, "the block tests"
                self._testing[number] = IndicatorReader(block.indicators)
        return self._testing[number]


@dataclass(slots=True)
class _Found:
    """A block's units: all of them [n, width], or of each tree the one that is 1, [n, trees]."""

    dense: FloatArray | None
    reached: IntArray | None

    def full(self, width: int) -> FloatArray:
        if self.dense is None:
            assert self.reached is not None, "units are known in one of both forms"
            self.dense = np.zeros((len(self.reached), width))
            np.put_along_axis(self.dense, self.reached, 1.0, axis=1)
        return self.dense


class Units:
    """The units of n individuals, evaluated when they are asked for.

    ``unsure`` [n]: rounding of the file's own arithmetic may turn a test of this individual; ``unsure_fed`` [n]: that,
    or the rounding of the features that it is given.
    """

    def __init__(self, reader: Reader, features: FloatArray, off: FloatArray) -> None:
        self._reader, self._features, self._off = reader, features, off
        self._known: dict[int, _Found] = {}
        self._offs: dict[int, FloatArray] = {}
        self.unsure: BoolArray = np.zeros(len(features), dtype=np.bool_)
        self.unsure_fed: BoolArray = np.zeros(len(features), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._features)

    def affine(self, value: Affine) -> FloatArray:
        """The elements of a value, [n, size]."""
        return self._summed(value, sizes=False)

    def sizes(self, value: Affine) -> FloatArray:
        """How large the terms are whose sums the elements of a value are, [n, size]."""
        return self._summed(value, sizes=True)

    def off(self, value: Affine) -> FloatArray:
        """About how far float32 may be off the elements of a value, by the way that they were read, [n, size].

        An estimate and no bound: each sum rounds by some units in the last place of its terms, and what comes before is
        passed on as errors that have nothing to do with each other. The file may sum other terms than these.
        """
        squares = (_ROUNDED * self.sizes(value)) ** 2
        for number, part in value.parts.items():
            passed = self._passed(number)
            if passed is None:
                continue
            if isinstance(part, Dense):
                squares += passed**2 @ (self._reader.floats(part.matrix) ** 2).T
            else:
                scale = np.where(part.units >= 0, self._reader.floats(part.scale), 0.0)
                squares += (passed[:, np.maximum(part.units, 0)] * scale) ** 2
        return np.asarray(np.sqrt(squares), dtype=np.float64)

    def _passed(self, number: int) -> FloatArray | None:
        """About how far float32 is off the units of a block; None where it is not."""
        block = self._reader.blocks[number]
        if block.terms is not None:
            features = block.terms.features
            return _kernel_off(block.terms, self.affine(features), self.sizes(features), self._reader)
        if block.argument is None:
            return None
        for each in self._reader.up_to(number, self._offs):
            block = self._reader.blocks[each]
            if block.argument is not None:
                self._offs[each] = self.off(block.argument) * self._steepness(block, block.argument)
        return self._offs[number]

    def _steepness(self, block: Block, argument: Affine) -> FloatArray:
        """How much of an error of its argument a unit passes on."""
        if block.curve is not Curve.LEAKY:
            return np.full((1, block.width), 1.0 if block.curve in (Curve.SIGMOID, Curve.TANH) else 1.5)
        return np.asarray(np.where(self.affine(argument) > 0, 1.0, self._reader.floats(block.slope)), dtype=np.float64)

    def block(self, number: int) -> FloatArray:
        """The units of a block, [n, width]."""
        return self._found(number).full(self._reader.blocks[number].width)

    def _summed(self, value: Affine, *, sizes: bool) -> FloatArray:
        bias = self._reader.floats(value.bias)
        total = np.repeat((np.abs(bias) if sizes else bias)[None, :], len(self), axis=0)
        for number, part in value.parts.items():
            total += self._part(number, part, sizes=sizes)
        return total

    def _part(self, number: int, part: Part, *, sizes: bool) -> FloatArray:
        found, width = self._found(number), self._reader.blocks[number].width
        if isinstance(part, Dense):
            matrix = self._reader.floats(part.matrix)
            matrix = np.abs(matrix) if sizes else matrix
            if found.reached is not None and found.dense is None:
                rows, columns = found.reached, np.ascontiguousarray(matrix.T)
                return np.asarray(sum(columns.take(rows[:, tree], axis=0) for tree in range(rows.shape[1])))
            units = found.full(width)
            return np.asarray((np.abs(units) if sizes else units) @ matrix.T)
        units, scale = found.full(width), self._reader.floats(part.scale)
        chosen = units[:, np.maximum(part.units, 0)] * np.where(part.units >= 0, scale, 0.0)
        return np.abs(chosen) if sizes else chosen

    def _found(self, number: int) -> _Found:
        for each in self._reader.up_to(number, self._known):
            self._known[each] = self._evaluated(each)
        return self._known[number]

    def _evaluated(self, number: int) -> _Found:
        block = self._reader.blocks[number]
        if number in self._reader.columns:
            return _Found(self._features[:, self._reader.columns[number]], None)
        if block.testing is not None:
            return self._indicated(number, block.testing.features)
        if block.terms is not None:
            return _Found(_kernel(block.terms, self.affine(block.terms.features), self._reader), None)
        assert block.argument is not None, "all other blocks have arguments"
        return _Found(_bent(self.affine(block.argument), block, self._reader), None)

    def _indicated(self, number: int, features: Affine) -> _Found:
        reader = self._reader.testing(number)
        values = self.affine(features)
        off, fed_off = self._off_tests(features)
        tested = Tested(values, off, fed_off)
        if isinstance(reader, TreeReader):
            found = _Found(None, reader.evaluate(tested))
        else:
            found = _Found(reader.evaluate(tested), None)
        self.unsure |= tested.unsure
        self.unsure_fed |= tested.unsure_fed
        return found

    def _off_tests(self, features: Affine) -> tuple[FloatArray, FloatArray]:
        """How far the file's own features may be off: by its arithmetic, and by that of what it is given as well.

        A number of the file's input that is tested as it is has no arithmetic in it.
        """
        off = 4e-6 * self.sizes(features)
        given = np.zeros_like(off)
        plain = self._reader.floats(features.bias) == 0
        reading = np.zeros(features.size, dtype=np.int64)
        for number, part in features.parts.items():
            if isinstance(part, Dense):
                matrix = self._reader.floats(part.matrix)
                reading += 2 * (matrix != 0).any(axis=1)
                if number in self._reader.columns:
                    given += self._off[:, self._reader.columns[number]] @ np.abs(matrix).T
                continue
            scale = np.where(part.units >= 0, self._reader.floats(part.scale), 0.0)
            reading += scale != 0
            plain = plain & ((scale == 0) | (scale == 1))
            if number in self._reader.columns:
                own = self._off[:, self._reader.columns[number]]
                given += own[:, np.maximum(part.units, 0)] * np.abs(scale)
        off[:, plain & (reading <= 1)] = 0.0
        return off, off + given


def _bent(z: FloatArray, block: Block, reader: Reader) -> FloatArray:
    with np.errstate(all="ignore"):
        match block.curve:
            case Curve.SIGMOID:
                return np.asarray(1 / (1 + np.exp(-z)), dtype=np.float64)
            case Curve.TANH:
                return np.asarray(np.tanh(z), dtype=np.float64)
            case Curve.SOFTPLUS:
                return np.asarray(np.logaddexp(0, z), dtype=np.float64)
            case Curve.ELU:
                return np.asarray(np.where(z > 0, z, np.exp(np.minimum(z, 0)) - 1), dtype=np.float64)
            case Curve.ERF:
                return 1 - _erfc(z)
            case Curve.SILU:
                return np.asarray(z / (1 + np.exp(-z)), dtype=np.float64)
            case Curve.GELU:
                return np.asarray(z * _erfc(-z) / 2, dtype=np.float64)
            case Curve.GELU_TANH:
                inner = 0.7978845608028654 * (z + 0.044715 * z**3)
                return np.asarray(z * (1 + np.tanh(inner)) / 2, dtype=np.float64)
            case Curve.HARD_SWISH:
                return np.asarray(z * np.minimum(np.maximum(z / 6 + 0.5, 0), 1), dtype=np.float64)
            case Curve.LOG1P:
                return np.asarray(np.log(1 + np.maximum(z, 0)), dtype=np.float64)
            case Curve.LEAKY:
                return np.asarray(np.where(z > 0, z, z * reader.floats(block.slope)), dtype=np.float64)


def _erfc(z: FloatArray) -> FloatArray:
    return np.vectorize(erfc, otypes=[np.float64])(z) if z.size else z


def _kernel(terms: KernelTerms, features: FloatArray, reader: Reader) -> FloatArray:
    """The values of a kernel machine, chunk by chunk."""
    vectors, coefficients = reader.floats(terms.vectors), reader.floats(terms.coefficients)
    step = max(1, _CHUNK // max(len(vectors), 1))
    chunks = [features[start : start + step] for start in range(0, len(features), step)]
    found = [_kernel_values(terms, vectors, chunk) @ coefficients.T for chunk in chunks]
    return np.concatenate(found) + reader.floats(terms.offsets)


def _kernel_off(terms: KernelTerms, features: FloatArray, sizes: FloatArray, reader: Reader) -> FloatArray:
    """About how far float32 is off the values of a kernel machine."""
    vectors, coefficients = np.abs(reader.floats(terms.vectors)), np.abs(reader.floats(terms.coefficients))
    step = max(1, _CHUNK // max(len(vectors), 1))
    found = []
    for start in range(0, len(features), step):
        near = features[start : start + step]
        values = np.abs(_kernel_values(terms, reader.floats(terms.vectors), near))
        reach = np.abs(terms.gamma) * (sizes[start : start + step] @ vectors.T) + abs(terms.coef0)
        with np.errstate(all="ignore"):
            match terms.kernel:
                case Kernel.RBF:
                    norms = (near**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1)[None, :]
                    turned = values * terms.gamma * norms
                case Kernel.POLY:
                    turned = terms.degree * reach ** max(terms.degree, 1)
                case _:
                    turned = reach
        found.append((values + turned) @ coefficients.T)
    return _ROUNDED * (np.concatenate(found) + np.abs(reader.floats(terms.offsets)))


def _kernel_values(terms: KernelTerms, vectors: FloatArray, features: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        product = features @ vectors.T
        match terms.kernel:
            case Kernel.LINEAR:
                return product
            case Kernel.RBF:
                norms = (features**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1)[None, :]
                return np.asarray(np.exp(-terms.gamma * np.maximum(norms - 2 * product, 0.0)), dtype=np.float64)
            case Kernel.POLY:
                return np.asarray((terms.gamma * product + terms.coef0) ** terms.degree, dtype=np.float64)
            case Kernel.SIGMOID:
                return np.asarray(np.tanh(terms.gamma * product + terms.coef0), dtype=np.float64)
