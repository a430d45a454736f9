"""What programs took from `jax.lib` (`xla_bridge`, `xla_client`, `xla_extension`) is in `jax` and `jax.extend.backend`.

https://docs.jax.dev/en/latest/changelog.html (0.4.33, 0.4.34, 0.4.38, 0.6.0, 0.8.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.registry import history
from jaxmigrate_codemods._moved_modules import move_module

_BRIDGE = "jax.lib.xla_bridge"
_EXTENSION = "jax.lib.xla_extension"
_BRIDGES = (_BRIDGE, "jax._src.lib.xla_bridge")
_GET_BACKEND = tuple(f"{bridge}.get_backend" for bridge in _BRIDGES)
_HOST_IDS = tuple(f"{bridge}.host_ids" for bridge in _BRIDGES)

codemod = Codemod(
    "jax-lib",
    summary="xla_bridge, xla_client and xla_extension: the public names of what they gave",
    since="0.2.0",
    deprecated="0.4.33",
    removed="0.8.0",
    link="https://docs.jax.dev/en/latest/jax.extend.backend.html",
    words=frozenset({"xla_bridge", "xla_client", "xla_extension"}),
    applicability=REVIEW,
)

_MOVES = history().moves("jax-lib")
for _bridge in _BRIDGES:
    _moves = {old.replace(_BRIDGE, _bridge): new for old, new in _MOVES.items() if old.startswith(_BRIDGE)}
    move_module(codemod, _bridge, "jax.extend.backend", _moves, {*_GET_BACKEND, *_HOST_IDS})
codemod.rename({old: new for old, new in _MOVES.items() if not old.startswith(_BRIDGE)})
for _below in ("jaxlib.xla_extension", "jax._src.lib.xla_extension"):
    codemod.rename({old.replace(_EXTENSION, _below): new for old, new in _MOVES.items() if old.startswith(f"{_EXTENSION}.")})


def _backend(site: NameSite) -> Reports:
    """``get_backend().platform`` has a public name; otherwise the function has another home."""
    call = site.parent()
    around = site.source.parent(call) if isinstance(call, ast.Call) and call.func is site.node else None
    if isinstance(around, ast.Attribute) and around.attr == "platform" and isinstance(call, ast.Call) and not _given(call):
        message = "jax.default_backend() is the platform of the backend"
        return Rewrite(message, SAFE, (site.replace("{jax.default_backend}()", around),))
    return None


def _given(call: ast.Call) -> bool:
    return bool(call.args or call.keywords)


codemod.rename(dict.fromkeys(_GET_BACKEND, _MOVES[_GET_BACKEND[0]]), handler=_backend)


@codemod.call(*_HOST_IDS)
def host_ids(site: CallSite) -> Reports:
    """Numbers of all processes."""
    backend = site.bind("backend", optional=("backend",)).get("backend")
    if site.partial:
        return site.manual("the numbers of all processes are range(jax.process_count())")
    if backend is None:
        change = site.replace("list(range({jax.process_count}()))")
    else:
        change = site.replace("list(range({jax.process_count}({backend})))", backend=backend)
    return Rewrite("the numbers of all processes are range(jax.process_count())", SAFE, (change,))
