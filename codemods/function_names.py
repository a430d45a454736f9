"""Functions that left jax.nn, jax.random, jax.scipy and jax.image.

https://docs.jax.dev/en/latest/changelog.html (0.3.11, 0.4.24, 0.4.29, 0.4.31, 0.10.0)
"""

from __future__ import annotations

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, ReplaceExpr, Reports, Rewrite, Template
from jaxmigrate.registry import history
from jaxmigrate_codemods._calls import no_common_spelling, partial_of, passed_on, renamed_partial, rewritten

codemod = Codemod(
    "function-names",
    summary="functions that left jax.nn, jax.random, jax.scipy and jax.image",
    since="0.2.0",
    deprecated="0.4.16",
    removed="0.4.24",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)
codemod.rename(history().moves("function-names"))
_KEYS = {f"jax.random.{name}_key": name for name in ("threefry2x32", "rbg", "unsafe_rbg")}


@codemod.call("jax.random.shuffle")
def shuffle(site: CallSite) -> Reports:
    """A permutation whose rows are shuffled independently."""
    message = "jax.random.shuffle is jax.random.permutation with independent=True"
    if site.partial:
        return Rewrite(message, SAFE, (renamed_partial(site, "jax.random.permutation", independent="True"),), requires="0.2.26")
    edit = EditCall(site.node, Template("{jax.random.permutation}"), append=(("independent", Template("True")),))
    return Rewrite(message, SAFE, (edit,), requires="0.2.26")


@codemod.call(*_KEYS)
def key(site: CallSite) -> Reports:
    """A key of a certain generator."""
    name, entry = _KEYS[site.symbol], site.source.facts.history.entry(site.symbol)
    message = f'{site.symbol}(seed) is jax.random.PRNGKey(seed, impl="{name}")'
    if entry is not None and entry.at(site.target) and not site.target_has("0.4.14"):
        return site.manual(f"{message}, but impl= came with JAX 0.4.14, after the target {site.target}: choose by version")
    if site.partial:
        edit = renamed_partial(site, "jax.random.PRNGKey", impl=f'"{name}"')
    else:
        edit = EditCall(site.node, Template("{jax.random.PRNGKey}"), append=(("impl", Template(f'"{name}"')),))
    return Rewrite(message, SAFE, (edit,), requires="0.4.14")


@codemod.call("jax.scipy.linalg.polar_unitary")
def polar_unitary(site: CallSite) -> Reports:
    """The first of the two factors."""
    message = "jax.scipy.linalg.polar_unitary(a) is the first of jax.scipy.linalg.polar(a)"
    if site.partial or len(site.positional()) > 1 or site.has_star():
        return site.manual(message)
    new = rewritten(site, "{jax.scipy.linalg.polar}{arguments}[0]", {"maxiter": "max_iterations"})
    return Rewrite(message, SAFE, (ReplaceExpr(site.node, new),))


_SPH_HARM = "lambda m, n, theta, phi, n_max=None: {jax.scipy.special.sph_harm_y}(n, m, phi, theta, n_max=n_max)"


@codemod.call("jax.scipy.special.sph_harm")
def sph_harm(site: CallSite) -> Reports:
    """Both pairs of arguments changed places: degree and order, and the two angles, which also swapped their names."""
    message = "jax.scipy.special.sph_harm(m, n, theta, phi) is sph_harm_y(n, m, phi, theta)"
    if why := no_common_spelling(site, "jax.scipy.special.sph_harm_y"):
        return site.manual(f"{message}{why[why.index(', but') :]}")
    if site.partial:
        found: Reports = partial_of(site, _SPH_HARM)
        return found
    bound = site.bind("m", "n", "theta", "phi", "n_max", optional=("n_max",))
    template = "{jax.scipy.special.sph_harm_y}({n}, {m}, {phi}, {theta}" + (", n_max={n_max})" if "n_max" in bound else ")")
    pure = all(map(site.source.is_pure, bound.values()))
    note = "" if pure else "; its arguments are evaluated in another order"
    return Rewrite(message + note, SAFE if pure else REVIEW, (site.replace(template, **bound),))


passed_on(
    codemod,
    {
        "jax.random.shuffle": "{functools.partial}({jax.random.permutation}, independent=True)",
        **{old: f'{{functools.partial}}({{jax.random.PRNGKey}}, impl="{name}")' for old, name in _KEYS.items()},
        "jax.scipy.special.sph_harm": _SPH_HARM,
    },
    since={"jax.random.shuffle": "0.2.26", **dict.fromkeys(_KEYS, "0.4.14")},
)
