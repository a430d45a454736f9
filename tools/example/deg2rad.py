"""`jnp.deg2rad` is written `jnp.radians`: the rule of a house that wants one name for one thing.

https://docs.jax.dev/en/latest/_autosummary/jax.numpy.radians.html
"""

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "deg2rad",
    summary="jnp.deg2rad is written jnp.radians",
    since="0.2.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.radians.html",
    words=frozenset({"deg2rad"}),
)
codemod.rename({"jax.numpy.deg2rad": "jax.numpy.radians"}, "this house writes {new}")
