"""The picture of which device holds which index of an array: a grid of its blocks, for text and for HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jaxmigrate.verify.model import Placement

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Grid:
    """The blocks of an array along the one or two dimensions that are split."""

    rows: tuple[str, ...]
    """What each row of blocks holds, such as ``0:2``."""
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[int, ...], ...], ...]
    """The devices of each block; several if they hold copies, none if no device of this process holds it."""
    dimensions: tuple[int, ...]
    """Which dimensions of the array the rows and columns are."""


def grids(before: Placement, after: Placement) -> tuple[Grid, Grid] | None:
    """Both placements along the dimensions that either splits; None if these are more than two, or blocks overlap."""
    rank = max(len(before.shape), len(after.shape))
    split = [dim for dim in range(rank) if len(_bounds(before, dim)) > 1 or len(_bounds(after, dim)) > 1]
    dims = split or list(range(min(rank, 1)))
    if len(dims) > 2 or any(len(p.shape) != rank for p in (before, after)):
        return None
    pair = _grid(before, dims), _grid(after, dims)
    return None if pair[0] is None or pair[1] is None else (pair[0], pair[1])


def _bounds(placement: Placement, dim: int) -> list[Bounds]:
    return sorted({index[dim] for _, index in placement.shards if dim < len(index)})


def _grid(placement: Placement, dims: Sequence[int]) -> Grid | None:
    if any(len(index) != len(placement.shape) for _, index in placement.shards):
        return None
    bounds = [_bounds(placement, dim) for dim in dims] + [[(0, 1)]] * (2 - len(dims))
    if any(a[1] > b[0] for side in bounds for a, b in pairwise(side)):
        return None
    held: dict[tuple[Bounds, ...], list[int]] = {}
    for device, index in placement.shards:
        held.setdefault(tuple(index[dim] for dim in dims), []).append(device)
    keys = [[tuple([row, column][: len(dims)]) for column in bounds[1]] for row in bounds[0]]
    cells = tuple(tuple(tuple(held.get(key, ())) for key in line) for line in keys)
    columns = [_label(b) for b in bounds[1]] if len(dims) > 1 else [""]
    rows = [_label(b) for b in bounds[0]] if dims else [""]
    return Grid(tuple(rows), tuple(columns), cells, tuple(dims))


def _label(bounds: Bounds) -> str:
    return f"{bounds[0]}:{bounds[1]}"


def devices(ids: Iterable[int]) -> str:
    """``0-3, 6, 7``."""
    runs: list[list[int]] = []
    for i in sorted(ids):
        if runs and i == runs[-1][-1] + 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs) or "-"


def shape(placement: Placement) -> str:
    """``(8, 2)``."""
    dims = placement.shape
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def index(bounds: Iterable[Bounds]) -> str:
    """``[0:2, 0:4]``."""
    return f"[{', '.join(map(_label, bounds))}]"


def table(before: Placement, after: Placement) -> list[tuple[int, str, str]]:
    """Device -> what it holds before and after, for arrays that no grid shows."""
    old, new = dict(before.shards), dict(after.shards)
    return [(d, index(old[d]) if d in old else "-", index(new[d]) if d in new else "-") for d in sorted({*old, *new})]


def drawn(before: Placement, after: Placement, width: int = 80) -> list[str]:
    """The picture as lines of at most `width` columns where the array allows it."""
    pair = grids(before, after)
    if pair:
        sides = [_side(name, p, g) for name, p, g in (("before", before, pair[0]), ("after", after, pair[1]))]
        return _beside(sides, width)
    rows = [("device", f"before {shape(before)}", f"after {shape(after)}"), *((str(d), a, b) for d, a, b in table(before, after))]
    sizes = [max(len(row[i]) for row in rows) for i in range(3)]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]


def _side(name: str, placement: Placement, grid: Grid) -> list[str]:
    cells = [[devices(cell) for cell in row] for row in grid.cells]
    head = [["", *grid.columns]] if any(grid.columns) else []
    body = [[label, *row] for label, row in zip(grid.rows, cells, strict=True)]
    sizes = [max(len(row[i]) for row in [*head, *body]) for i in range(len(grid.columns) + 1)]

    def line(row: list[str], bar: str = "|") -> str:
        label, *rest = (cell.ljust(size) for cell, size in zip(row, sizes, strict=True))
        return f"{label} {bar} {f' {bar} '.join(rest)} {bar}"

    return [f"{name} {shape(placement)}", *(line(row, " ").rstrip() for row in head), *(line(row) for row in body)]


def _beside(sides: list[list[str]], width: int) -> list[str]:
    left, right = sides
    wide = max(map(len, left))
    if wide + 4 + max(map(len, right)) > width:
        return [*left, "", *right]
    height = max(len(left), len(right))
    filled = [side + [""] * (height - len(side)) for side in (left, right)]
    return [f"{a.ljust(wide)}    {b}".rstrip() for a, b in zip(*filled, strict=True)]
