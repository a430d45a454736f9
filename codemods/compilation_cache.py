"""`initialize_cache(path)` of the compilation cache is `set_cache_dir(path)`, or a flag.

https://docs.jax.dev/en/latest/persistent_compilation_cache.html
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, Manual, NameSite, Reports, Rewrite, Template

_HOME = "jax.experimental.compilation_cache.compilation_cache"
_FLAG = 'jax.config.update("jax_compilation_cache_dir", path)'

codemod = Codemod(
    "compilation-cache",
    summary="the persistent cache is turned on by set_cache_dir, not by initialize_cache",
    since="0.4.24",
    deprecated="0.4.24",
    removed="0.8.0",
    link="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    words=frozenset({"compilation_cache"}),
    applicability=REVIEW,
)


@codemod.call(f"{_HOME}.initialize_cache")
def initialize_cache(site: CallSite) -> Reports:
    """The directory is a str now; on a JAX before 0.4.24 the flag sets it."""
    if site.partial:
        return site.manual(f"initialize_cache is gone: {_FLAG}")
    bound = site.bind("path", "max_cache_size_bytes", optional=("max_cache_size_bytes",))
    if "max_cache_size_bytes" in bound:
        return site.manual(
            f"{_FLAG} turns the cache on; its size is limited by the flag jax_compilation_cache_max_size from 0.4.32 on"
        )
    path = bound["path"]
    kind = _kind(site, path)
    given = Template("str({path})", {"path": path}) if kind == "path" else Template("{path}", {"path": path})
    applicability = REVIEW if kind == "" else SAFE
    assumed = f", which wants a str: {site.text(path)} is taken to be one" if kind == "" else ""
    if site.target_has("0.4.24"):
        change = EditCall(
            site.node, func=Template(f"{{{_HOME}.set_cache_dir}}"), values={"path": given, 0: given} if kind == "path" else {}
        )
        return Rewrite(f"initialize_cache is set_cache_dir{assumed}", applicability, (change,))
    if not site.target_has("0.4.21"):
        return site.manual(
            f"initialize_cache left JAX in 0.8.0, and no call serves that and {site.target}: from 0.4.21 on {_FLAG}"
        )
    new = site.replace(f'{{jax.config}}.update("jax_compilation_cache_dir", {given.text})', path=path)
    return Rewrite(f"a flag sets the directory{assumed}", applicability, (new,))


def _kind(site: CallSite, path: ast.expr) -> str:
    """Whether it is a ``str`` or a ``path`` object, as far as the source shows."""
    value = site.source.value_of(path)
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return "str"
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Div):
            return "path"
        return "str" if isinstance(value.op, ast.Add) and "str" in (_of(site, value.left), _of(site, value.right)) else ""
    return _of(site, value)


def _of(site: CallSite, value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        qualified = site.source.resolve(value.func) or ""
        if qualified.startswith("os.path.") or qualified in ("os.getenv", "os.environ.get", "os.getcwd", "tempfile.mkdtemp"):
            return "str"
        if isinstance(value.func, ast.Name) and value.func.id == "str":
            return "str"
        return "path" if qualified.startswith("pathlib.") else ""
    if isinstance(value, ast.Subscript) and site.source.resolve(value.value) == "os.environ":
        return "str"
    return "str" if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)) else ""


@codemod.call(f"{_HOME}.is_initialized")
def is_initialized(site: CallSite) -> Reports:
    """From 0.4.24 on it only told whether there may be a cache."""
    if site.partial or site.node.args or site.node.keywords:
        return site.manual("is_initialized is gone: jax.config.jax_compilation_cache_dir is None as long as there is no cache")
    if not site.target_has("0.4.21"):
        return site.manual(
            "is_initialized left JAX in 0.8.0; jax.config.jax_compilation_cache_dir, there from 0.4.21 on, tells the directory"
        )
    new = site.replace("{jax.config}.jax_compilation_cache_dir is not None")
    return Rewrite("whether there is a cache is told by its directory", REVIEW, (new,))


@codemod.name_(f"{_HOME}.initialize_cache", f"{_HOME}.is_initialized")
def as_a_value(site: NameSite) -> Reports:
    """Calls are handled above."""
    around = site.parent()
    if isinstance(around, ast.Call):
        partial = site.source.resolve(around.func) == "functools.partial" and around.args[:1] == [site.node]
        if partial or around.func is site.node:
            return None
    return Manual(f"{site.symbol.rpartition('.')[2]} is gone: {_FLAG}")
