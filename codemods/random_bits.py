"""The numbers that `jax.random` draws from a key: all others since 0.5.0 (`jax_threefry_partitionable` is on).

Before that, `gamma` and what rests on it changed in 0.4.14; after it, `randint` of 8 and 16 bits in 0.7.2.
https://docs.jax.dev/en/latest/changelog.html (0.4.14, 0.5.0, 0.7.2)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import MANUAL, CallSite, Codemod, FileSite, Manual, Reports
from jaxmigrate.model import Severity

from ._changes import argument, before, first, lines

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_FLAG = "jax_threefry_partitionable"
_GAMMA = ("gamma", "loggamma", "beta", "chisquare", "dirichlet", "t", "f", "ball", "generalized_normal", "wald", "triangular")
_DRAWS = (
    *_GAMMA, "bernoulli", "binomial", "bits", "categorical", "cauchy", "choice", "double_sided_maxwell", "exponential",
    "geometric", "gumbel", "laplace", "logistic", "lognormal", "maxwell", "multivariate_normal", "normal", "orthogonal", "pareto",
    "permutation", "poisson", "rademacher", "randint", "random_gamma_p", "rayleigh", "shuffle", "truncated_normal", "uniform",
    "weibull_min", "split", "fold_in",
)  # fmt: skip

codemod = Codemod(
    "random-bits",
    summary="jax.random draws other numbers from the same key",
    since="0.5.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"random"}),
    applicability=MANUAL,
    about=frozenset((f"flags.{_FLAG}", *(f"jax.random.{name}" for name in _DRAWS))),
)

_SMALL = frozenset({"int8", "uint8", "int16", "uint16"})


@codemod.file
@before("0.5.0")
def bits(site: FileSite) -> Reports:
    """One finding for a file, unless it sets the flag itself."""
    source = site.source
    if (
        any(_FLAG in str(s.value) or _FLAG.upper() in str(s.value) for s in source.strings)
        or source.mentions(_FLAG)
        or source.mentions(_FLAG[4:])
    ):
        return None
    places = first(source, source.names(*(f"jax.random.{name}" for name in _DRAWS)))
    places = places or _given_on(source)
    if not places:
        return None
    drawn = f"{len(places)} places from here" if len(places) > 1 else "this place"
    return Manual(
        f"jax.random gives other numbers for the same key since 0.5.0 ({drawn}): adapt what rests on the old ones (expected "
        f'results, checkpoints of streams), or keep them with jax.config.update("{_FLAG}", False){_gamma(site, places)}',
        places[0],
        Severity.LOW,
    )


def _given_on(source: Source) -> list[ast.expr]:
    """Keys that other functions are given to draw with: ``model.init(jax.random.PRNGKey(0), x)``."""
    return first(source, (c for c in source.calls("jax.random.PRNGKey", "jax.random.key") if _is_given(source, c)))


def _is_given(source: Source, key: ast.expr) -> bool:
    """Whether a key, or the name for it, is an argument of something else than jax.random."""
    around = source.parent(key)
    if isinstance(around, ast.Dict):
        return True
    if isinstance(around, (ast.Call, ast.keyword)):
        call = source.parent(around) if isinstance(around, ast.keyword) else around
        return isinstance(call, ast.Call) and call.func is not key and _may_draw(source, call.func)
    names = [t for t in around.targets if isinstance(t, ast.Name)] if isinstance(around, ast.Assign) else []
    uses = [n for t in names for n in source.by_id.get(t.id, ()) if isinstance(n.ctx, ast.Load) and source.value_of(n) is key]
    return any(_is_given(source, n) for n in uses)


def _may_draw(source: Source, function: ast.expr) -> bool:
    """Whether a function may draw with a key: none of JAX's others, NumPy's or Python's does."""
    if isinstance(function, ast.Name) and source.lookup(function.id, source.scope(function))[1] is None:
        return False
    return (source.resolve(function) or "").partition(".")[0] not in ("jax", "numpy", "pickle", "functools")


def _gamma(site: FileSite, places: list[ast.expr]) -> str:
    """What the flag does not bring back."""
    changed = [n for n in places if (site.source.resolve(n) or "").rpartition(".")[2] in _GAMMA]
    if not changed or not site.is_older_than("0.4.14"):
        return ""
    names = ", ".join(sorted({(site.source.resolve(n) or "").rpartition(".")[2] for n in changed}))
    return f"; nothing brings back what {names} ({lines(site.source, changed)}) gave before 0.4.14"


@codemod.call("jax.random.randint")
@before("0.7.2")
def small_integers(site: CallSite) -> Reports:
    """Integers of 8 and 16 bits are drawn in another way, which no flag undoes any more."""
    dtype = argument(site.node, 4, "dtype") if not site.partial else argument(site.node, 5, "dtype")
    if dtype is None or _type_name(site.source, dtype) not in _SMALL:
        return None
    kind = _type_name(site.source, dtype)
    return site.manual(f"jax.random.randint of {kind} gives other numbers for the same key since 0.7.2")


def _type_name(source: Source, node: ast.expr) -> str:
    """``int8`` of ``jnp.int8``, ``np.int8`` and ``"int8"``."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return (source.resolve(node) or "").rpartition(".")[2]
