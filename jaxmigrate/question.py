"""What somebody asks about: a name as it stands in code, a call, an import, or the error message that a name gave."""

from __future__ import annotations

import re

_ARRAYS = frozenset({"Array", "ArrayImpl", "Buffer", "DeviceArray", "ShardedDeviceArray", "_DeviceArray", "_ShardedDeviceArray"})
_TRACERS = ("Tracer", "PRNGKeyArray", "BatchTracer")
_GDA = "jax.experimental.global_device_array.GlobalDeviceArray"
_FORMS = tuple(
    (re.compile(pattern), template)
    for pattern, template in (
        (r"module '([\w.]+)' has no attribute '(\w+)'", r"\1.\2"),
        (r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'", r"\2.\1"),
        (r"No module named '([\w.]+)'", r"\1"),
        (r"'([\w.]+)'(?: object)? has no attribute '(\w+)'", r"\1.\2"),
        (r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", r"\1(\2=)"),
        (r"([\w.]+)\(\) got some positional-only arguments passed as keyword arguments: '(\w+)", r"\1(\2=)"),
        (r"^(?:>>> )?from\s+([\w.]+)\s+import\s+\(?\s*(\w+)", r"\1.\2"),
        (r"^(?:>>> )?import\s+([\w.]+)", r"\1"),
        (r"^([A-Za-z_][\w.]*)\s*\(\s*(\w+)\s*=?\s*\)$", r"\1(\2=)"),
        (r"^([A-Za-z_][\w.]*)\s+(\w+)=?$", r"\1(\2=)"),
        (r"^([A-Za-z_][\w.]*)\s*[(\[]", r"\1"),
    )
)
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def asked(text: str) -> str:
    """The name, or ``function(argument=)``, that a question holds; the text itself where it is nothing else."""
    plain = text.strip().strip("`'\"@,;:.? ")
    for form, template in _FORMS:
        if found := form.search(text.strip() if "'" in form.pattern else plain):
            return _of_arrays(found.expand(template))
    if " " in plain and (found := _DOTTED.search(plain)):  # jax.tree_map was removed in JAX v0.6.0: ...
        return found[0]
    return _of_arrays(plain)


def _of_arrays(name: str) -> str:
    """Members of the classes that arrays have, or had, are those of jax.Array."""
    owner, dot, member = name.rpartition(".")
    leaf = owner.rpartition(".")[2]
    if not dot or "(" in name:
        return name
    if leaf in _ARRAYS or leaf.endswith(_TRACERS) or owner in ("jnp.ndarray", "jax.numpy.ndarray"):
        return f"jax.Array.{member}"
    return f"{_GDA}.{member}" if leaf == "GlobalDeviceArray" else name
