"""Options of `jax.config` that are gone: what asked for what is always so today goes, the rest is explained.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    DeleteStatement,
    EditCall,
    NameSite,
    Reports,
    Rewrite,
    Site,
    StringSite,
    Template,
)
from jaxmigrate.folding import fold
from jaxmigrate.reached import waits
from jaxmigrate.registry import history
from jaxmigrate_codemods._jax_array import CONFIGS, READERS, UPDATES, VALUES, asks_by_name, is_tried
from jaxmigrate_codemods._jax_array import FLAGS as ARRAY_FLAGS

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_ANY = object()
ALWAYS: dict[str, object] = {
    "experimental_cpp_jit": True,
    "experimental_cpp_pjit": True,
    "experimental_cpp_pmap": True,
    "jax2tf_default_experimental_native_lowering": True,
    "jax_coordination_service": True,
    "jax_data_dependent_tracing_fallback": False,
    "jax_dynamic_shapes": False,
    "jax_eager_pmap": True,
    "jax_enable_custom_vjp_by_custom_transpose": False,
    "jax_enable_empty_arrays": True,
    "jax_enable_memories": True,
    "jax_enable_mlir": True,
    "jax_experimental_name_stack": True,
    "jax_jit_pjit_api_merge": True,
    "jax_new_checkpoint": True,
    "jax_omnistaging": True,
    "jax_pmap_no_rank_reduction": True,
    "jax_pmap_shmap_merge": True,
    "jax_safer_randint": True,
}
"""Switches whose option was dropped when one value became the only one."""
_WITHOUT_MEANING = frozenset(
    {"experimental_xmap_ensure_fixed_sharding", "experimental_xmap_spmd_lowering", "experimental_xmap_spmd_lowering_manual",
     "jax_collectives_common_channel_id", "jax_experimental_subjaxpr_lowering_cache", "jax_gsda_out",
     "jax_host_callback_ad_transforms", "jax_host_callback_inline", "jax_host_callback_legacy",
     "jax_host_callback_max_queue_byte_size", "jax_host_callback_outfeed", "jax_remat_opt_barrier",
     "jax_unique_mhlo_module_names", "jax_use_original_compilation_cache_key_generation"}
)  # fmt: skip
"""What they governed is gone, or they never changed a result."""
_RENAMED = {"jax_enable_key_reuse_checks": "jax_debug_key_reuse", "jax_custom_vjp_disable_shape_check": "jax_disable_bwd_checks"}
_GLOO = "jax_cpu_enable_gloo_collectives"
_COLLECTIVES = "jax_cpu_collectives_implementation"
_SPMD = "jax_spmd_mode"
_GONE = frozenset({*ALWAYS, *_WITHOUT_MEANING, *_RENAMED, _GLOO, _SPMD})
_VARIABLES = {name.upper(): name for name in _GONE}
_LOST = frozenset(name for name, entry in history().members("flags").items() if not entry.alive and name not in ARRAY_FLAGS)
"""Those of which nothing more is known, too."""
_OF_ATTRIBUTES = history().members("jax.config")

codemod = Codemod(
    "config-flags",
    summary="options of jax.config that are gone: drop what sets them, fold what reads them",
    since="0.2.0",
    deprecated=None,
    removed="0.3.15",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({*_GONE, *_VARIABLES, "config.update"}),
    applicability=REVIEW,
)
codemod.text(
    rb"(?<![\w-])--(?:no)?(?:" + "|".join(sorted(_GONE)).encode() + rb")(?![\w-])", "JAX refuses this option: take it out"
)
_NAMES = "|".join(sorted(_VARIABLES)).encode()
codemod.text(  # in shells, in YAML, and in Dockerfiles
    rb"\b(?:" + _NAMES + rb")(?:=|[\"']?:[ \t])|\bENV[ \t]+(?:" + _NAMES + rb")[ \t]",
    "no JAX reads this variable any more: take it out",
)


@codemod.call(*UPDATES)
@codemod.only_with(dict.fromkeys(UPDATES, ("~flags",)))
def update(site: CallSite) -> Reports:
    """``jax.config.update("jax_omnistaging", True)``."""
    first, *rest = (*site.positional(), *(k.value for k in site.node.keywords)) or (None,)
    name = site.source.value_of(first) if first is not None else None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or is_tried(site.source, site.node):
        return None
    option = name.value
    if option in ARRAY_FLAGS:
        return None
    if not _is_gone(site, option):
        return _not_there(site, option)
    if _target_has(site, option) and not _has_successor(site, option):
        return site.manual(f"{_lost(option)}; JAX {site.target} has it: set it only where {option!r} is in jax.config.values")
    value = site.source.value_of(rest[0]) if len(rest) == 1 and not site.has_star() else None
    if site.partial or value is None:
        return site.manual(f"{_lost(option)}: {_advice(option)}")
    return _settled(site, option, value)


def _not_there(site: CallSite, option: str) -> Reports:
    """An option that is younger than the target, or that no release knows."""
    known, source = site.source.facts.history, site.source
    since = known.since(f"flags.{option}") or known.since(f"jax.config.{option}")
    own = any(define in source.utf8 for define in (b"DEFINE_", b"define_", b"add_option"))
    if since is None and option.startswith("jax_") and not own:
        return site.manual(f"{option} is not an option of any known release of JAX")
    if since is None or since <= site.target or _is_asked(source, site.node, option):
        return None
    return site.manual(f"the option {option} exists since JAX {since}, which is newer than the target {site.target}")


def _is_asked(source: Source, node: ast.AST, option: str) -> bool:
    """Whether the code around asks whether there is the option, or which JAX there is."""
    if waits(source, node, f"jax.config.{option}"):
        return True
    tests = (a.test for a in source.ancestors(node) if isinstance(a, ast.If))
    return any(isinstance(n, ast.Constant) and n.value == option for test in tests for n in ast.walk(test))


def _settled(site: CallSite, option: str, value: ast.expr) -> Reports:
    if option in _RENAMED and _is_literal(site):
        return _renamed(site, option)
    if option == _GLOO and isinstance(value, ast.Constant) and value.value is True and _is_literal(site):
        values: dict[str | int, Template] = {0: Template(f'"{_COLLECTIVES}"'), 1: Template('"gloo"')}
        message = "gloo is one of the implementations of collectives"
        return Rewrite(message, SAFE, (EditCall(site.node, values=values),), requires=_since(site, _COLLECTIVES))
    statement = site.parent()
    if not isinstance(statement, ast.Expr) or not _is_as_always(option, value) or not site.source.is_pure(value):
        return site.manual(f"{_lost(option)}: {_advice(option)}")
    return Rewrite(f"{_lost(option)}: {_reason(option)}", SAFE, (DeleteStatement(statement, (option,)),))


def _is_literal(site: CallSite) -> bool:
    """Whether name and value stand in the call itself, in their places."""
    return len(site.node.args) == 2 and isinstance(site.node.args[0], ast.Constant) and not site.partial


def _renamed(site: CallSite, option: str) -> Reports:
    new = _RENAMED[option]
    change = EditCall(site.node, values={0: Template(f'"{new}"')})
    return Rewrite(f"{option} is {new} now", SAFE, (change,), requires=_since(site, new))


def _since(site: Site, option: str) -> str:
    """The first JAX with the option."""
    return str(site.source.facts.history.since(f"flags.{option}") or "")


def _has_successor(site: Site, option: str) -> bool:
    """Whether the target knows the option under its present name."""
    new = {**_RENAMED, _GLOO: _COLLECTIVES}.get(option)
    since = site.source.facts.history.since(f"flags.{new}") if new else None
    return since is not None and since <= site.target


def _is_as_always(option: str, value: ast.expr) -> bool:
    """Whether a constant asks for what is so anyway."""
    if option in _WITHOUT_MEANING:
        return True
    if not isinstance(value, ast.Constant):
        return False
    if option == _SPMD:
        return value.value in ("allow_jit", "allow_all")
    wanted = ALWAYS.get(option, _ANY)
    return bool(value.value) is wanted and isinstance(value.value, (bool, int))


def _is_gone(site: Site, option: str) -> bool:
    """Whether some release had the option, and the newest has not."""
    known = site.source.facts.history
    entries = [e for e in (known.entry(f"flags.{option}"), known.entry(f"jax.config.{option}")) if e is not None]
    return bool(entries) and not any(e.alive for e in entries)


def _target_has(site: Site, option: str) -> bool:
    known = site.source.facts.history
    entries = (known.entry(f"flags.{option}"), known.entry(f"jax.config.{option}"))
    return any(e is not None and e.at(site.target) for e in entries)


def _lost(option: str) -> str:
    return f"the option {option} is gone"


def _reason(option: str) -> str:
    """Why nothing is lost with the option."""
    if option in _WITHOUT_MEANING:
        return "nothing depends on it any more"
    return "arrays of several processes are always allowed" if option == _SPMD else f"it is always {ALWAYS[option]}"


def _advice(option: str) -> str:
    """What to do where something else was asked for."""
    if option in ALWAYS:
        return f"JAX behaves as with {ALWAYS[option]}, and nothing brings the other behaviour back"
    found = history().advice(f"flags.{option}")
    return found.text if found is not None and found.text not in ("", "delete") else "leave it out"


@codemod.name_(*(f"jax.config.{option}" for option in ALWAYS))
def read(site: NameSite) -> Reports:
    """``if jax.config.jax_omnistaging:``."""
    return folded(site, site.node, site.symbol.rpartition(".")[2])


def folded(site: NameSite, node: ast.expr, option: str) -> Reports:
    """What is written for a read of an option that has one value only; None where the target still has it."""
    if _target_has(site, option) or not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return None
    changes = fold(site.source, node, bool(ALWAYS[option])).changes
    message = f"{_lost(option)}: {_reason(option)}"
    return Rewrite(message, SAFE, changes) if changes else site.manual(message, node)


@codemod.string(*_GONE)
def elsewhere(site: StringSite) -> Reports:
    """The option in a display of options, or given to a configuration that came from elsewhere."""
    place = site.parent()
    if site.value not in _GONE or _target_has(site, site.value) or is_tried(site.source, site.node):
        return None
    shown = isinstance(place, (ast.List, ast.Tuple, ast.Set)) or (isinstance(place, ast.Dict) and site.node in place.keys)
    if not (shown and _has_open_update(site)) and not (isinstance(place, ast.Call) and _may_set(site, place)):
        return None
    return site.manual(f"if this reaches jax.config.update: {_lost(site.value)}, {_advice(site.value)}")


def _may_set(site: StringSite, call: ast.Call) -> bool:
    """``self.config.update("jax_omnistaging", True)`` and ``setattr(jax.config, "jax_omnistaging", True)``."""
    resolve = site.source.resolve
    if isinstance(call.func, ast.Attribute) and call.func.attr == "update" and resolve(call.func) not in UPDATES:
        value = call.func.value
        known = isinstance(site.source.value_of(value), (ast.Dict, ast.Call)) or site.text(value).startswith("jax.")
        return len(call.args) == 2 and call.args[0] is site.node and not known
    sets = isinstance(call.func, ast.Name) and call.func.id == "setattr"
    return sets and call.args[1:2] == [site.node] and resolve(call.args[0]) in CONFIGS


def _has_open_update(site: StringSite) -> bool:
    """Whether ``config.update`` gets a name that the source does not spell out."""
    names = [c.args[0] for c in site.source.calls(*UPDATES) if c.args]
    return any(not isinstance(site.source.value_of(name), ast.Constant) for name in names)


@codemod.name_(*(f"jax.config.{option}" for option in sorted(_LOST - _OF_ATTRIBUTES.keys() - ALWAYS.keys())))
def read_lost(site: NameSite) -> Reports:
    """``jax.config.jax_host_callback_legacy``."""
    option = site.symbol.rpartition(".")[2]
    loads = isinstance(site.node, ast.Attribute) and isinstance(site.node.ctx, ast.Load)
    return site.manual(f"{_lost(option)}: {_advice(option)}") if loads and not _target_has(site, option) else None


@codemod.string(*_LOST)
def named(site: StringSite) -> Reports:
    """``config.read("jax_omnistaging")``, ``config.values["jax_omnistaging"]``, ``getattr(config, ..)``."""
    option, source, parent = site.value, site.source, site.parent()
    if option not in _LOST or _target_has(site, option) or is_tried(source, site.node):
        return None
    if isinstance(parent, ast.Call):
        found = parent.args[:1] == [site.node] and source.resolve(parent.func) in READERS
        found = found or (len(parent.args) == 2 and parent.args[1] is site.node and asks_by_name(source, parent, "getattr"))
    elif isinstance(parent, ast.Subscript):
        found = source.resolve(parent.value) in VALUES
    else:
        return None
    return site.manual(f"{_lost(option)}: {_advice(option)}") if found else None


@codemod.string(*_VARIABLES)
def variable(site: StringSite) -> Reports:
    """``os.environ["JAX_OMNISTAGING"] = "1"``."""
    option, place = _VARIABLES.get(site.value), site.parent()
    if option is None or _target_has(site, option):
        return None
    value: ast.expr | None = None
    if isinstance(place, ast.Subscript) and site.source.resolve(place.value) == "os.environ":
        statement = site.source.parent(place)
        value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    elif isinstance(place, ast.Call) and site.source.resolve(place.func) in ("os.environ.setdefault", "os.putenv"):
        statement = site.source.parent(place)
        value = place.args[1] if len(place.args) == 2 and isinstance(statement, ast.Expr) else None
    elif isinstance(place, ast.Dict) and site.node in place.keys:
        statement = None  # an environment
    elif isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "setenv":
        statement = None
    else:
        return None
    if value is None or not isinstance(statement, ast.stmt) or not _switches_as_always(option, value):
        return site.manual(f"no JAX reads {site.value} any more: {_advice(option)}")
    message = f"no JAX reads {site.value} any more: {_reason(option)}"
    return Rewrite(message, SAFE, (DeleteStatement(statement, (site.value,)),))


def _switches_as_always(option: str, value: ast.expr) -> bool:
    """The same of a word of the environment."""
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        return option in _WITHOUT_MEANING
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    known = words.get(value.value.lower())
    return _is_as_always(option, value if known is None else ast.Constant(known))
