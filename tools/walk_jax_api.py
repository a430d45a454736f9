"""Walk the public API of the JAX that is installed beside this interpreter and print it as JSON.

Run by record_jax_api.py in the environment of the release that is recorded, so it needs nothing but the standard library and any
Python since 3.8. It never stops at a module that cannot be imported here (no TensorFlow, no GPU): the names of such a module are
read from its source.
"""

import ast
import contextlib
import enum
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
import types
import warnings

OPEN = ("jax.extend.mlir", "jax.experimental.mosaic")
"""Packages that hand on thousands of names of other libraries: that they are there is on record, what they hold is not."""

BINARY = {"jax": "jaxlib"}
"""The package with the compiled half of a library: only the names of its modules are recorded."""

TESTS = ("tests", "examples")
"""Folders that old wheels hold beside the library."""

HANDED_ON = {"jax.lib": ("xla_client", "xla_extension")}
"""Modules of jaxlib that are reached as attributes, with all that is below them."""

OURS = ("jax", "jaxlib", "ml_dtypes", "numpy")
"""Where a value may be defined to count as JAX's own; all else in a module is an accident."""

SPECIMENS = {"jax.Array": ("jax.numpy", "zeros", (2, 2))}
"""Abstract classes, and what makes an object of one: module, function and argument."""

DEPRECATIONS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


def walk(package="jax", path=None):
    """The whole record: version, Python, modules with their names, members of classes, private names; `path` has the package."""
    if path:
        sys.path.insert(0, path)
    top = importlib.import_module(package)
    root = os.path.dirname(top.__file__)
    modules, private, failed, warned = {}, {}, {}, {}
    for name, path in sorted(_files(package, root)):
        hidden = any(part.startswith("_") for part in name.split("."))
        if hidden:
            private[name] = sorted(_bound_names(path)[0])
        elif _is_open(name):
            modules.setdefault(name, {})
        else:
            _record(name, path, modules, failed, warned)
            private[name] = sorted(_private_names(name, path, failed))
    _namespaces(modules)
    _handed_on(modules)
    flags = _configuration(top, modules)
    binary = _top_level(BINARY.get(package, ""))
    if binary:
        modules[BINARY[package]] = {name: ["m"] for name in binary}
        private.update(_packages(BINARY[package]))
        private.update(_compiled(BINARY[package]))
    for name in modules:
        parent, _, leaf = name.rpartition(".")
        if parent in modules:
            entry = modules[parent].setdefault(leaf, ["m"])
            if name in warned and len(entry) == 1 and entry[0] == "m":
                entry.append("~" + warned[name].strip())
    return {
        "version": _version(top),
        "python": ".".join(map(str, sys.version_info[:2])),
        "open": [name for name in OPEN if name in modules],
        "failed": failed,
        "flags": flags,
        "members": _members_of_classes(modules),
        "modules": modules,
        "private": private,
    }


def _version(top):
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(top.__name__)
    except PackageNotFoundError:
        return top.__version__


def _files(package, root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in TESTS and os.path.exists(os.path.join(folder, f, "__init__.py")))
        for file in files:
            if file.endswith(".py") and not file.endswith("_test.py"):
                parts = os.path.relpath(os.path.join(folder, file[:-3]), root).split(os.sep)
                parts = [p for p in parts if p != "__init__"]
                yield ".".join([package, *parts]), os.path.join(folder, file)


def _top_level(package):
    """Names of the modules of a package, from its files."""
    found = importlib.util.find_spec(package) if package else None
    names = set()
    for folder in found.submodule_search_locations if found else ():
        for file in os.listdir(folder):
            stem, _, ending = file.partition(".")
            inner = os.path.join(folder, file)
            if ending.endswith(("py", "so")) or (os.path.isdir(inner) and any(f.endswith(".py") for f in os.listdir(inner))):
                names.add(stem)
    return sorted(n for n in names if n.isidentifier() and (n == "_jax" or not n.startswith("_")) and not n.startswith("lib"))


def _packages(package):
    """What the packages below a package hold: modules by their files, and what an ``__init__`` binds."""
    for root in importlib.util.find_spec(package).submodule_search_locations:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(f for f in folders if f.isidentifier() and f != "__pycache__")
            stems = {file.partition(".")[0] for file in files if file.endswith((".py", ".so", ".pyd"))} - {"__init__"}
            own = _bound_names(os.path.join(folder, "__init__.py"))[0] if "__init__.py" in files else set()
            if folder != root and (stems or own):
                yield ".".join([package, *os.path.relpath(folder, root).split(os.sep)]), sorted({*stems, *folders, *own})


def _compiled(package):
    """What the modules of the compiled half that old releases handed on hold today."""
    for name in sorted({name for names in HANDED_ON.values() for name in names}):
        with contextlib.suppress(ImportError):
            yield f"{package}.{name}", sorted(vars(importlib.import_module(f"{package}.{name}")))


def _is_open(name):
    return any(name == o or name.startswith(o + ".") for o in OPEN)


def _record(name, path, modules, failed, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module = importlib.import_module(name)
        except Exception as error:  # whatever an import may raise, SystemExit of a script apart
            failed[name] = type(error).__name__
        except SystemExit:
            failed[name] = "SystemExit"
        else:
            modules[name] = _members(module)
            texts = [str(w.message) for w in caught if issubclass(w.category, DEPRECATIONS) and name in str(w.message)]
            if texts:
                warned[name] = texts[0]
            return
    bound, imported = _bound_names(path)
    modules[name] = {n: ["sx" if n in imported else "s"] for n in sorted(bound) if not n.startswith("_")}


def _private_names(name, path, failed):
    """The private names of a public module; with ``*`` if its source may bind others."""
    bound = _bound_names(path)[0] if name in failed else {*vars(sys.modules[name]), *_announced(sys.modules[name])}
    return (n for n in bound if n == "*" or (n.startswith("_") and not n.startswith("__")))


def _members(module):
    names = set(vars(module)) | set(getattr(module, "__all__", ())) | set(_announced(module))
    exported = set(getattr(module, "__all__", ()))
    found = {}
    for name in sorted(names):
        if not name.startswith("_") and name.isidentifier():
            entry = _member(module, name, name in exported)
            if entry:
                found[name] = entry
    return found


def _announced(module):
    """Names that a module's ``__getattr__`` serves: JAX keeps them in a table of deprecations, or in the closure."""
    table = getattr(module, "_deprecations", None)
    if isinstance(table, dict):
        yield from table
    function = vars(module).get("__getattr__")
    for cell in getattr(function, "__closure__", None) or ():
        value = cell.cell_contents
        if isinstance(value, dict):
            yield from (k for k in value if isinstance(k, str))
    code = getattr(function, "__code__", None)
    if code is not None and code.co_freevars == ():
        for constant in code.co_consts:
            for word in constant if isinstance(constant, (tuple, frozenset)) else (constant,):
                if isinstance(word, str) and word.isidentifier():
                    yield word


def _member(module, name, exported):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = getattr(module, name)
        except AttributeError as error:
            text = str(error)
            return ["-", text] if "has no attribute" not in text else None
        except Exception as error:
            return ["-", f"{type(error).__name__}: {error}"]
    texts = [str(w.message) for w in caught if issubclass(w.category, DEPRECATIONS)]
    kind = _kind(value)
    if not exported and _is_foreign(value, module):
        kind = "x"
    entry = [kind + _signature(value) if kind in "fc" else kind]
    return [*entry, "~" + texts[0].strip()] if texts else entry


def _kind(value):
    if isinstance(value, types.ModuleType):
        return "m"
    if inspect.isclass(value):
        return "c"
    return "f" if callable(value) else "v"


def _is_foreign(value, module):
    package = module.__name__.partition(".")[0]
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] not in (package, *OURS[:2])
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] not in (package, *OURS)


def _signature(value):
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [p.replace(annotation=inspect.Parameter.empty, default=_default(p)) for p in signature.parameters.values()]
    return str(inspect.Signature(parameters))


class _Shown:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _default(parameter):
    if parameter.default is inspect.Parameter.empty:
        return parameter.default
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(parameter.default))
    return _Shown(text if len(text) <= 40 else text[:37] + "...")


def _namespaces(modules):
    """Values that are used like modules without being one, such as ``jax.checkpoint_policies``."""
    for name in list(modules):
        module = sys.modules.get(name)
        for leaf, entry in list(modules[name].items()):
            if entry[0] == "v" and len(entry) == 1 and isinstance(getattr(module, leaf, None), types.SimpleNamespace):
                space = types.ModuleType(f"{name}.{leaf}")
                vars(space).update(vars(getattr(module, leaf)))
                modules[space.__name__] = _members(space)


def _members_of_classes(modules):
    """What the public classes and their objects have to read, by the name of the class."""
    found = {}
    for name, names in modules.items():
        for leaf, entry in names.items():
            value = _value(sys.modules.get(name), leaf) if entry[0][:1] == "c" else None
            if inspect.isclass(value):
                found[f"{name}.{leaf}"] = sorted(_readable(value, f"{name}.{leaf}"))
    return found


def _value(module, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(module, name, None)


def _readable(value, name):
    """Names that can be read of a class or of an object of it; with ``*`` if it makes up answers."""
    names = {n for n in dir(value) if not n.startswith("_")}
    for ancestor in value.__mro__:
        names.update(n for n in (*vars(ancestor).get("__annotations__", ()), *_assigned(ancestor)) if not n.startswith("_"))
    specimen = _specimen(value, name)
    if specimen is not None:
        names = {n for n in (*names, *dir(specimen)) if not n.startswith("_") and _has(specimen, n)}
    if any("__getattr__" in vars(ancestor) for ancestor in value.__mro__):
        names.add("*")
    return names


def _has(value, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(value, name)
        except AttributeError:
            return False
        except Exception:  # it is there, and does not work for this object
            return True
    return True


def _assigned(value):
    """What the methods of a class set on its objects."""
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        for node in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(value)))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                yield node.attr
            elif isinstance(node, ast.Call) and _sets(node):
                yield node.args[1].value


def _sets(call):
    """Whether a call is ``object.__setattr__(self, "name", value)``."""
    is_setter = isinstance(call.func, ast.Attribute) and call.func.attr == "__setattr__" and len(call.args) > 1
    return is_setter and isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str)


def _specimen(value, name):
    """An object of a class, where that is easily had."""
    if name in SPECIMENS:
        module, function, argument = SPECIMENS[name]
        return getattr(importlib.import_module(module), function)(argument)
    return next(iter(value), None) if issubclass(value, enum.Enum) else None


def _configuration(top, modules):
    """The flags; the attributes of the object that holds them are put beside the modules."""
    with contextlib.suppress(Exception):
        importlib.import_module(top.__name__ + "._src.test_util")  # it adds the flags of the test suite
    # Importing the submodule jax.config, where there is one, hides the object.
    config = getattr(sys.modules.get(top.__name__ + "._src.config"), "config", None) or getattr(top, "config", None)
    flags = getattr(config, "_value_holders", None) or getattr(config, "values", None)
    if not isinstance(flags, dict):
        return []
    name = top.__name__ + ".config"
    attributes = {n: ["v"] for n in sorted(dir(type(config))) if not n.startswith("_")}
    modules[name] = {**attributes, **modules.get(name, {})}
    return sorted(flags)


def _handed_on(modules):
    """Members of jaxlib's modules under the names by which JAX hands them on."""
    for parent, names in HANDED_ON.items():
        for name in names if parent in modules else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = getattr(sys.modules[parent], name, None)
            if isinstance(module, types.ModuleType) and module.__name__.startswith("jaxlib"):
                _hand_on(f"{parent}.{name}", module, modules, ())


def _hand_on(name, module, modules, around):
    modules[name] = _members(module)
    for leaf, value in sorted(vars(module).items()):
        inner = isinstance(value, types.ModuleType) and value.__name__.startswith("jaxlib") and value not in around
        if inner and (leaf == "_xla" or not leaf.startswith("_")):
            modules[name].setdefault(leaf, ["m"])
            _hand_on(f"{name}.{leaf}", value, modules, (*around, module))


def _bound_names(path):
    """What the top level of a source file binds, and which of it comes from elsewhere than JAX."""
    with open(path, encoding="utf-8") as file:
        try:
            tree = ast.parse(file.read())
        except SyntaxError:
            return set(), set()
    names, imported = set(), set()
    _bind(tree.body, names, imported)
    return names, imported


def _bind(body, names, imported):
    """Add what statements bind in their own scope, whatever they are: targets, aliases of types, names in conditions."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {a.asname or a.name.partition(".")[0] for a in node.names}
            home = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            names |= bound
            imported |= bound if home.partition(".")[0] not in OURS and not getattr(node, "level", 0) else set()
        elif isinstance(node, ast.Name):
            names |= {node.id} if isinstance(node.ctx, ast.Store) else set()
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            todo += ast.iter_child_nodes(node)


if __name__ == "__main__":
    json.dump(walk(*sys.argv[1:]), sys.stdout, sort_keys=True)
