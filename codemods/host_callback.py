"""`host_callback` becomes `io_callback`, `pure_callback` or `debug.callback`, as the code shows which one is meant.

A tap, and a call for nothing, is a side effect and never becomes a pure callback, which JAX may leave out or run twice; a call
for a result becomes a pure one where the file shows that its function only computes.
https://github.com/jax-ml/jax/issues/20385
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from operator import add, itemgetter
from string import Formatter
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Change,
    Codemod,
    DeleteStatement,
    EditCall,
    Manual,
    NameSite,
    Piece,
    ReplaceExpr,
    ReplaceStatement,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate_codemods import _callbacks
from jaxmigrate_codemods._arrays import fresh, unused_in

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_HOME = "jax.experimental.host_callback"

codemod = Codemod(
    "host-callback",
    summary="host_callback becomes jax.debug.callback, io_callback or pure_callback",
    since="0.4.2",
    deprecated="0.4.26",
    removed="0.4.35",
    link="https://github.com/jax-ml/jax/issues/20385",
    words=frozenset({"host_callback"}),
    applicability=REVIEW,
)

_VALUE = "{name} is passed on here: {advice}"
_PAGE = "docs.jax.dev/en/latest/external-callbacks.html"
_TAP_ADVICE = (
    "jax.debug.callback(f, x, ordered=True) calls f(x) for its effect and returns None; f has no second parameter for transforms "
    f"({_PAGE})"
)
_CALL_ADVICE = (
    "io_callback(f, shape, x, ordered=True) calls f(x) for its result and its effects, jax.pure_callback(f, shape, x) "
    f"for its result alone ({_PAGE})"
)
_PRINT_ADVICE = f'jax.debug.print("{{}}", x) prints x and returns None ({_PAGE})'
_DEVICE = (
    "no callback is told its device any more: hand over what tells it, such as jax.lax.axis_index of the mapped axis, "
    "as a part of the argument"
)


class _Stays(Exception):
    """The call is reported, not rewritten; the text says why."""


@dataclass(slots=True)
class _Text:
    """Template text under construction, with its pieces."""

    pieces: dict[str, Piece] = field(default_factory=dict)

    def hole(self, name: str, piece: Piece) -> str:
        """The placeholder of a new piece."""
        self.pieces[name] = piece
        return "{" + name + "}"


# -- taps -----------------------------------------------------------------------------------------------------------------------

_TAP = ("tap_func", "arg", "result", "tap_with_device", "device_index", "callback_flavor")
_CALL = ("callback_func", "arg", "result_shape", "call_with_device", "device_index", "callback_flavor")


@codemod.call(f"{_HOME}.id_tap")
def id_tap(site: CallSite) -> Reports:
    """``id_tap(f, x)`` is a debug callback, and then `x` (or ``result=``) goes on."""
    if site.partial:
        return site.manual(_VALUE.format(name="id_tap", advice=_TAP_ADVICE))
    bound = site.bind(*_TAP, optional=_TAP[2:])
    try:
        _refuse(site, bound)
        text = _Text()
        device, assumed = _device(site, bound["tap_func"], bound.get("tap_with_device"))
        function = _tap(site, bound, device, text)
        ordered, order = _order(site.source)
        order += _under_vmap(site, bound["tap_func"])
        effect = _laid(site, "{jax.debug.callback}", function, "{arg}", *([ordered] if ordered else []))
        changes = _flowing(site, effect, text.pieces, bound)
    except _Stays as reason:
        return site.manual(f"{reason}; {_TAP_ADVICE}")
    return Rewrite(f"a tap is jax.debug.callback: {assumed}{order}", REVIEW, changes)


def _refuse(site: CallSite, bound: Mapping[str, ast.expr]) -> None:
    """Arguments that no callback of today has, or that the old function did not take so."""
    if len(site.positional()) > (1 if site.symbol.endswith("id_print") else 2):
        raise _Stays("it is given more arguments by position than it took")
    index = bound.get("device_index")
    if index is not None and not (isinstance(index, ast.Constant) and index.value == 0):
        raise _Stays(f"device_index={site.text(index)} has no successor, the first device of a mesh runs the callback")
    if "callback_flavor" in bound:
        raise _Stays("callback_flavor says which of the new callbacks is meant: call that one")


def _is_on(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def _order(source: Source, *, io: bool = False) -> tuple[str, str]:
    """``ordered=True`` where JAX takes it, and what to say about the order."""
    spread = _callbacks.may_span_devices(source)
    if spread:
        return "", f"their order, that of the program before, is not kept: on several devices ({spread}) JAX refuses ordered=True"
    vmapped = ", under vmap an ordered io_callback is an error" if io and source.mentions("vmap") else ""
    apart = " among each other, debug and io callbacks each for themselves" if _is_mixed(source) else ""
    return (
        "ordered=True",
        f"ordered=True keeps their order{apart}{vmapped}; leave it out where a computation spans several devices",
    )


_TRANSFORMS = ("vmap", "grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "linearize")


def _under_vmap(site: CallSite, function: ast.expr) -> str:
    """What is different where a tap was transformed: it got the whole batch, and was told of it."""
    known = _callbacks.function_of(site.source, function)
    named = [*known.args.posonlyargs, *known.args.args][1:2] if known is not None else []
    if known is not None and any(_callbacks.reads(known, a.arg) for a in named) and any(map(site.source.mentions, _TRANSFORMS)):
        raise _Stays("its function reads the transforms, which a callback is not told of")
    return "; under vmap it is called for each example, and got the whole batch" if site.source.mentions("vmap") else ""


def _is_mixed(source: Source) -> bool:
    """Whether both kinds of ordered callbacks come out of a file: JAX does not order one kind with the other."""
    taps = (f"{_HOME}.id_tap", f"{_HOME}.id_print", "jax.debug.callback", "jax.debug.print")
    return bool(source.calls(*taps) and source.calls(f"{_HOME}.call", "jax.experimental.io_callback"))


def _device(site: CallSite, function: ast.expr, flag: ast.expr | None) -> tuple[str, str]:
    """The argument ``device=`` for a function that was told its device, and what is assumed of it."""
    if flag is None or (isinstance(flag, ast.Constant) and not flag.value):
        return "", ""
    known = _callbacks.function_of(site.source, function)
    if not isinstance(flag, ast.Constant):
        raise _Stays(_DEVICE)
    if known is not None and _callbacks.ignores(known, "device"):
        return ", device=None", ""
    if _callbacks.may_span_devices(site.source):
        raise _Stays(_DEVICE)
    return (
        ", device={jax.local_devices}()[0]",
        "its device is taken to be the first local one, which only one device makes sure; ",
    )


def _tap(site: CallSite, bound: Mapping[str, ast.expr], device: str, text: _Text) -> str:
    """The function that takes the value alone."""
    function, arg = bound["tap_func"], bound["arg"]
    known, kind = _callbacks.function_of(site.source, function), _kind(site, function, arg)
    if known is not None and _callbacks.takes_one(known):
        return text.hole("f", function) if not kind else _wrapped(site, function, arg, "", text)
    if isinstance(function, ast.Lambda) and (shorter := _without_transforms(function)):
        return _respelled(site, function, shorter, arg) or _wrapped(site, function, arg, f", (){device}", text)
    return _wrapped(site, function, arg, f", (){device}", text)


def _kind(site: CallSite, function: ast.expr, arg: ast.expr) -> str:
    """How the function is to be given NumPy's arrays; empty if it need not be."""
    return _callbacks.wanted(site.source, function, arg) if _callbacks.has_leaves(arg) else ""


def _given(site: CallSite, function: ast.expr, arg: ast.expr, name: str) -> str:
    """The value of a parameter as the function got it before."""
    kind = _kind(site, function, arg)
    if not kind:
        return name
    if _callbacks.is_array(site.source, arg, function):
        return f"{{numpy.{kind}}}({name})"
    return f"{{jax.tree_util.tree_map}}({{numpy.{kind}}}, {name})"


def _respelled(site: CallSite, function: ast.Lambda, parameter: str, arg: ast.expr) -> str | None:
    """A lambda of one parameter that makes NumPy's array out of it where it reads it, if that is in one place."""
    uses = [n for n in _callbacks.body_of(function) if isinstance(n, ast.Name) and n.id == parameter]
    kind = _kind(site, function, arg)
    if kind and len(uses) != 1:
        return None
    body, (start, end) = site.text(function.body), site.source.span(function.body)
    if not kind:
        return f"lambda {parameter}: {_escaped(body)}"
    left, right = site.source.span(uses[0])
    data = site.source.utf8
    before, after = (_escaped(data[i:j].decode("utf-8")) for i, j in ((start, left), (right, end)))
    return f"lambda {parameter}: {before}{_given(site, function, arg, parameter)}{after}"


def _without_transforms(function: ast.Lambda) -> str | None:
    """The only parameter left of ``lambda x, transforms: ..`` that makes no use of the others."""
    arguments = function.args
    plain = not (arguments.posonlyargs or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults)
    if not plain or not arguments.args or any(_callbacks.reads(function, a.arg) for a in arguments.args[1:]):
        return None
    return arguments.args[0].arg


def _wrapped(site: CallSite, function: ast.expr, arg: ast.expr, others: str, text: _Text) -> str:
    """``lambda arg: f(arg, ())``; what could mean something else when the callback runs is bound at once."""
    parameter = unused_in(site.text(function), "arg", "value", "tapped")
    given = _given(site, function, arg, parameter)
    hole = text.hole("f", function)
    if isinstance(function, ast.Lambda) and not (function.args.defaults or function.args.kw_defaults):
        return f"lambda {parameter}: ({hole})({given}{others})"
    if _callbacks.is_stable(site.source, function):
        return f"lambda {parameter}: {hole}({given}{others})"
    return f"lambda {parameter}, tap={hole}: tap({given}{others})"


def _flowing(site: CallSite, effect: str, pieces: dict[str, Piece], bound: Mapping[str, ast.expr]) -> tuple[Change, ...]:
    """Make the effect and let go on what the old call returned."""
    value, given = _goes_on(bound)
    pieces |= {"arg": bound["arg"], "value": value}
    statement = site.parent()
    if isinstance(statement, ast.Expr):
        return (_replaced(site, effect, pieces),)
    lines = effect.replace("\n" + _indent(site), "\n")
    alone = isinstance(statement, ast.stmt) and _has_own_line(site.source, statement)
    if alone and isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return (_assigned(site, statement, lines, pieces, given),)
    once = given or _may_repeat(value)
    name = "" if once else fresh(site.source, "tapped", "tapped_value")
    if alone and isinstance(statement, ast.Return):
        text = f"{lines}\nreturn {{value}}" if once else f"{name} = {{value}}\n{lines.replace('{arg}', name)}\nreturn {name}"
        return (ReplaceStatement(statement, Template(text, pieces)),)
    if once:
        return (_replaced(site, f"({effect}, {{value}})[1]", pieces),)
    if not _takes_walrus(site.source, site.node):
        raise _Stays("its argument has to get a name, which it cannot inside this comprehension")
    walrus = effect.replace("{arg}", f"({name} := {{arg}})", 1)
    head, bound_there, rest = walrus.partition(f"({name} := {{arg}})")
    return (_replaced(site, f"({head}{bound_there}{rest.replace('{arg}', name)}, {name})[1]", pieces),)


def _takes_walrus(source: Source, node: ast.AST) -> bool:
    """Whether Python takes ``:=`` there: not in what a comprehension runs over, nor in one of a class body."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return True
        if isinstance(ancestor, ast.comprehension) and ancestor.iter is child:
            return False
        if isinstance(ancestor, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) and source.scope(ancestor).is_class:
            return False
        child = ancestor
    return True


def _goes_on(bound: Mapping[str, ast.expr]) -> tuple[ast.expr, bool]:
    """What the old call returned, and whether it is something else than what it was given."""
    result = bound.get("result")
    if result is None or (isinstance(result, ast.Constant) and result.value is None):
        return bound["arg"], False
    return result, True


def _replaced(site: CallSite, new: str, pieces: Mapping[str, Piece]) -> Change:
    return ReplaceExpr(site.node, Template(new, pieces))


def _assigned(site: CallSite, statement: ast.Assign, effect: str, pieces: dict[str, Piece], given: bool) -> Change:
    """``y = id_tap(f, x)``."""
    (target,) = statement.targets
    assert isinstance(target, ast.Name)
    value = pieces["value"]
    assert isinstance(value, ast.expr)
    if target.id == "_" or (isinstance(value, ast.Name) and value.id == target.id):
        return ReplaceStatement(statement, Template(effect, pieces))
    if given or _may_repeat(value):
        return ReplaceStatement(statement, Template(f"{effect}\n{target.id} = {{value}}", pieces))
    return ReplaceStatement(statement, Template(f"{target.id} = {{value}}\n{effect.replace('{arg}', target.id)}", pieces))


def _laid(site: CallSite, function: str, *arguments: str) -> str:
    """The template of a call, over several lines where the old one was."""
    node = site.node
    if node.lineno == node.end_lineno or node.lineno == max(a.lineno for a in [*node.args, *(k.value for k in node.keywords)]):
        return f"{function}({', '.join(arguments)})"
    indent = _indent(site)
    inner = "".join(f"\n{indent}{site.source.indent_unit}{argument}," for argument in arguments)
    return f"{function}({inner}\n{indent})"


def _indent(site: CallSite) -> str:
    """The white space before the line on which the call begins."""
    line = site.source.text.splitlines()[site.node.lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def _may_repeat(node: ast.expr) -> bool:
    """Names and constants, alone or in a tuple, may stand twice."""
    if isinstance(node, ast.Tuple):
        return all(map(_may_repeat, node.elts))
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def _has_own_line(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement does not share its line with the head of its block, so that two can take its place."""
    around = source.parent(statement)
    body = [s for name in ("body", "orelse", "finalbody") for s in getattr(around, name, [])]
    alone = sum(s.lineno == statement.lineno for s in body if isinstance(s, ast.stmt)) == 1
    return alone and (isinstance(around, ast.Module) or getattr(around, "lineno", 0) != statement.lineno)


# -- prints ---------------------------------------------------------------------------------------------------------------------

_PRINT = ("arg", "result", "tap_with_device", "device_index", "output_stream", "threshold", "callback_flavor")


@codemod.call(f"{_HOME}.id_print")
def id_print(site: CallSite) -> Reports:
    """``id_print(x, what="loss")`` prints ``what: loss``, and `x` on the next line."""
    if site.partial:
        return site.manual(_VALUE.format(name="id_print", advice=_PRINT_ADVICE))
    labels = {k.arg: k.value for k in site.node.keywords if k.arg is not None and k.arg not in _PRINT}
    bound = site.bind(*_PRINT, *labels, optional=(*_PRINT[1:], *labels))
    try:
        _refuse(site, bound)
        text = _Text()
        changes = _flowing(site, _printing(site, bound, labels, text), text.pieces, bound)
    except _Stays as reason:
        return site.manual(f"{reason}; {_PRINT_ADVICE}")
    _, order = _order(site.source)
    return Rewrite(f"id_print is jax.debug.print, which writes numbers and trees as Python does; {order}", REVIEW, changes)


def _printing(site: CallSite, bound: Mapping[str, ast.expr], labels: Mapping[str, ast.expr], text: _Text) -> str:
    if _is_on(bound.get("tap_with_device")):
        raise _Stays("jax.debug.print cannot say which device prints")
    if _is_on(bound.get("threshold")):
        raise _Stays("jax.debug.print follows numpy.printoptions, which takes the threshold")
    shown, leaves = _laid_out(bound["arg"])
    if _is_unused(site) or _goes_on(bound)[1] or _may_repeat(bound["arg"]):
        text.pieces |= {f"v{i}": leaf for i, (_, leaf) in enumerate(leaves)}
        values = [f"{{v{i}}}" if path else "{arg}" for i, (path, _) in enumerate(leaves)]
    else:  # it has a name first, so that nothing in it is evaluated twice
        values = [f"{{arg}}{path}" for path, _ in leaves]
    order = ["ordered=True"] if _order(site.source)[0] else []
    stream = bound.get("output_stream")
    to_stream = stream is not None and _is_on(stream)
    if to_stream and not _callbacks.is_stable(site.source, stream or site.node):
        raise _Stays("the stream may be another one by the time the value is written: jax.debug.callback takes a function for it")
    text.pieces["format"] = _format(site, labels, shown + "\n" * to_stream)
    if not to_stream and not _begins_with_brace(site, labels, shown):
        return _laid(site, "{jax.debug.print}", "{format}", *values, *order)
    printed = unused_in(site.text(), "values", "printed")
    write = "print"
    if to_stream and stream is not None:
        text.pieces["stream"], write = stream, "{stream}.write"
    return _laid(site, "{jax.debug.callback}", f"lambda *{printed}: {write}({{format}}.format(*{printed}))", *values, *order)


def _begins_with_brace(site: CallSite, labels: Mapping[str, ast.expr], shown: str) -> bool:
    """Whether a literal brace comes before the first field: then JAX from 0.8 on takes the format for a plain text."""
    heads = "".join(_escaped(text) for text, is_code in (_label(site, k, v) for k, v in sorted(labels.items())) if not is_code)
    return next(iter(Formatter().parse(heads + shown)))[1] is None


def _laid_out(node: ast.expr, path: str = "") -> tuple[str, list[tuple[str, ast.expr]]]:
    """The format of a value, laid out as id_print did, and what goes into its fields, with the way there."""
    if isinstance(node, ast.Dict) and node.keys and all(_is_word(key) for key in node.keys):
        pairs = zip(node.keys, node.values, strict=True)
        items = sorted([(str(k.value), v) for k, v in pairs if isinstance(k, ast.Constant)], key=itemgetter(0))
        parts = [(f"{_escaped(name)}=", _laid_out(value, f'{path}["{name}"]')) for name, value in items]
        left, right = "{{ ", " }}"
    elif isinstance(node, (ast.Tuple, ast.List)) and node.elts and not any(isinstance(e, ast.Starred) for e in node.elts):
        parts = [("", _laid_out(e, f"{path}[{i}]")) for i, e in enumerate(node.elts)]
        left, right = ("( ", " )") if isinstance(node, ast.Tuple) else ("[ ", " ]")
    else:
        return "{}", [(path, node)]
    return left + " ".join(head + shown for head, (shown, _) in parts) + right, [leaf for _, (_, some) in parts for leaf in some]


def _is_word(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier()


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _format(site: CallSite, labels: Mapping[str, ast.expr], shown: str) -> str:
    """The format string as source text; labels that are no constants make it an f-string."""
    parts = [_label(site, name, value) for name, value in sorted(labels.items())]
    head = [(text if is_code else _escaped(text)) for text, is_code in parts]
    if not any(is_code for _, is_code in parts):
        return _literal(" ".join(head) + "\n" * bool(head) + shown)
    quote = next((text_quote for text_quote in ('"', "'") if not any(text_quote in text for text in head)), None)
    if quote is None:
        raise _Stays("its labels hold both kinds of quotes")
    head = [
        text if is_code else _escaped(_escape_codes(text)) for (text, is_code) in zip(head, (c for _, c in parts), strict=True)
    ]
    return f"f{quote}{' '.join(head)}\\n{_escaped(_escape_codes(shown))}{quote}"


def _label(site: CallSite, name: str, value: ast.expr) -> tuple[str, bool]:
    """``name: value`` as it was printed, and whether it is source text of an f-string."""
    if isinstance(value, ast.Constant) and not isinstance(value.value, bytes):
        shown = str(value.value)
        return f"{name}: {shown}", False
    if isinstance(value, ast.JoinedStr):
        text = site.text(value)
        inner = text[2:-1]
        if (
            text[0] in "fF"
            and text[1] == text[-1]
            and text[1:4] not in ('"""', "'''")
            and not {"{{", "}}"} & {inner, *_pairs(inner)}
        ):
            return f"{name}: {inner}", True
    if _may_repeat(value):
        return f"{name}: {{{site.text(value)}}}", True
    raise _Stays(f"the label {name} is computed")


def _pairs(text: str) -> Iterator[str]:
    return map("".join, pairwise(text))


def _escape_codes(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _literal(text: str) -> str:
    quote = "'" if '"' in text and "'" not in text else '"'
    return quote + _escape_codes(text).replace(quote, "\\" + quote) + quote


# -- calls ----------------------------------------------------------------------------------------------------------------------


@codemod.call(f"{_HOME}.call")
def call(site: CallSite) -> Reports:
    """``call(f, x, result_shape=s)``: the function still takes one argument; the shape comes second."""
    if site.partial:
        return site.manual(_VALUE.format(name="host_callback.call", advice=_CALL_ADVICE))
    bound = site.bind(*_CALL, optional=_CALL[2:])
    text = _Text({"arg": bound["arg"]})
    try:
        _refuse(site, bound)
        device, assumed = _device(site, bound["callback_func"], bound.get("call_with_device"))
        function = _called(site, bound, device, text)
    except _Stays as reason:
        return site.manual(f"{reason}; {_CALL_ADVICE}")
    shape = _shape(site, bound.get("result_shape"), text)
    ordered, order = _order(site.source, io=True)
    if shape != "None" and not _is_unused(site) and _callbacks.is_visibly_pure(site.source, bound["callback_func"]):
        new = _laid(site, "{jax.pure_callback}", function, shape, "{arg}")
        message = f"this function only computes: jax.pure_callback{assumed and '; ' + assumed.rstrip('; ')}"
    else:
        new = _laid(site, "{jax.experimental.io_callback}", function, shape, "{arg}", *([ordered] if ordered else []))
        serves = '; if the function has no effects jax.pure_callback serves, under vmap with vmap_method="sequential"'
        pure = "" if shape == "None" else serves
        message = f"host_callback.call is io_callback: {assumed}{order}{pure}"
    given = bound.get("result_shape")
    if shape != "None" and given is not None and site.text(given) != site.text(bound["arg"]) and not _is_x64(site.source):
        message += "; 64-bit types in the shape are refused unless jax_enable_x64 is on"
    if shape != "None" and not site.target_has("0.4.27"):
        message += "; before JAX 0.4.27 the function must give arrays of just these types, no Python numbers"
    is_narrow = "canonicalize_dtype" in shape or "jax.numpy.asarray" in shape
    requires = "0.4.27" if is_narrow else ""  # before, the result itself had to have the narrow type
    return Rewrite(message, REVIEW, (_replaced(site, new, text.pieces),), requires=requires)


def _called(site: CallSite, bound: Mapping[str, ast.expr], device: str, text: _Text) -> str:
    function, arg = bound["callback_func"], bound["arg"]
    kind = _kind(site, function, arg)
    if not kind and not device:
        return text.hole("f", function)
    if not device and isinstance(function, ast.Lambda) and (parameter := _without_transforms(function)):
        return _respelled(site, function, parameter, arg) or _wrapped(site, function, arg, "", text)
    return _wrapped(site, function, arg, device, text)


def _is_unused(site: CallSite) -> bool:
    """Whether the call is made for its effect, whatever it returns."""
    statement = site.parent()
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Name) and t.id == "_" for t in statement.targets)
    return isinstance(statement, ast.Expr)


_NUMBERS = (bool, int, float, complex)
_WIDE = frozenset({"int64", "uint64", "float64", "complex128", "int_", "float_", "double", "longlong"})
_MAKERS = frozenset({"array", "asarray", "empty", "full", "ones", "zeros"}) | _WIDE


def _shape(site: CallSite, given: ast.expr | None, text: _Text) -> str:
    """The shape of the result, in which numbers, and types that were narrowed, must be exact now."""
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return "None"
    return _exact(site, given, text) or text.hole("result", given)


def _exact(site: CallSite, given: ast.expr, text: _Text) -> str:
    """The shape where it must be written in another way; empty if it need not be."""
    number = given.operand if isinstance(given, ast.UnaryOp) else given
    if isinstance(number, ast.Constant) and type(number.value) in _NUMBERS:
        return f"{{jax.ShapeDtypeStruct}}((), {{jax.numpy.result_type}}({type(number.value).__name__}))"
    if isinstance(given, (ast.Tuple, ast.List, ast.Dict)):
        return _exact_parts(site, given, text)
    if not isinstance(given, ast.Call) or _is_x64(site.source):
        return ""
    maker = site.source.resolve(given.func) or ""
    if maker == "jax.ShapeDtypeStruct":
        return _exact_struct(site, given, text)
    module, _, name = maker.rpartition(".")
    return f"{{jax.numpy.asarray}}({_hole(text, given)})" if module == "numpy" and name in _MAKERS else ""


def _hole(text: _Text, piece: ast.expr) -> str:
    return text.hole(f"result{len(text.pieces)}", piece)


def _exact_parts(site: CallSite, given: ast.Tuple | ast.List | ast.Dict, text: _Text) -> str:
    """A tree of shapes, some of which must be written in another way."""
    values = given.values if isinstance(given, ast.Dict) else given.elts
    exact = [_exact(site, value, text) for value in values]
    if not any(exact):
        return ""
    parts = [new or _hole(text, value) for new, value in zip(exact, values, strict=True)]
    if isinstance(given, ast.Dict):
        heads = ["**" if key is None else f"{_hole(text, key)}: " for key in given.keys]
        return "{{" + ", ".join(map(add, heads, parts)) + "}}"
    left, right = ("[", "]") if isinstance(given, ast.List) else ("(", ",)" if len(parts) == 1 else ")")
    return left + ", ".join(parts) + right


def _exact_struct(site: CallSite, given: ast.Call, text: _Text) -> str:
    fields = dict(zip(("shape", "dtype"), given.args, strict=False)) | {k.arg or "**": k.value for k in given.keywords}
    if fields.keys() != {"shape", "dtype"} or not _is_wide(site.source, fields["dtype"]):
        return ""
    shape, dtype = _hole(text, fields["shape"]), _hole(text, fields["dtype"])
    return f"{{jax.ShapeDtypeStruct}}({shape}, {{jax.dtypes.canonicalize_dtype}}({dtype}))"


def _is_wide(source: Source, dtype: ast.expr) -> bool:
    if isinstance(dtype, ast.Constant):
        return dtype.value in _WIDE
    qualified = source.resolve(dtype) or ""
    if isinstance(dtype, ast.Name) and dtype.id in ("int", "float", "complex"):
        return not source.lookup(dtype.id, source.scope(dtype))[0]
    return qualified.rpartition(".")[0] in ("numpy", "jax.numpy") and qualified.rpartition(".")[2] in _WIDE


def _is_x64(source: Source) -> bool:
    """Whether the file turns 64-bit types on."""
    return b"jax_enable_x64" in source.utf8 or source.mentions("enable_x64")


# -- the rest -------------------------------------------------------------------------------------------------------------------


def barrier_wait(site: NameSite) -> Reports:
    """A name for logging goes."""
    around = site.parent()
    if isinstance(around, ast.Call) and around.func is site.node and (around.args or around.keywords):
        drop: frozenset[str | int] = frozenset({0, "logging_name"})
        change = EditCall(around, func=Template("{jax.effects_barrier}"), drop=drop)
        return Rewrite("barrier_wait is jax.effects_barrier, which takes no name", SAFE, (change,))
    return None


def failed(site: NameSite) -> Reports:
    """What is caught around a barrier."""
    return Rewrite(
        f"{site.symbol} is gone: a callback that fails raises jax.errors.JaxRuntimeError, at the latest at the barrier",
        REVIEW,
        (),
    )


for _name in ("CallbackException", "TapFunctionException"):
    codemod.rename({f"{_HOME}.{_name}": "jax.errors.JaxRuntimeError"}, handler=failed)
codemod.rename({f"{_HOME}.barrier_wait": "jax.effects_barrier"}, handler=barrier_wait)


@codemod.name_(f"{_HOME}.stop_outfeed_receiver")
def stop_outfeed_receiver(site: NameSite) -> Reports:
    """There is no thread to stop any more."""
    message = "there is no outfeed receiver to stop any more"
    call = site.parent()
    statement = site.source.parent(call) if isinstance(call, ast.Call) else None
    if not isinstance(statement, ast.Expr):
        return site.manual(message)
    assert isinstance(call, ast.Call)
    registered = site.source.resolve(call.func) == "atexit.register" and call.args == [site.node] and not call.keywords
    if call.func is site.node or registered:
        return Rewrite(message, SAFE, (DeleteStatement(statement),))
    return site.manual(message)


@codemod.name_(*(f"{_HOME}.{name}" for name in ("id_tap", "id_print", "call")))
def as_a_value(site: NameSite) -> Reports:
    """Calls are handled above."""
    name = site.symbol.rpartition(".")[2]
    around = site.parent()
    called = isinstance(around, ast.Call) and around.func is site.node
    partial = (
        isinstance(around, ast.Call)
        and around.args[:1] == [site.node]
        and site.source.resolve(around.func) == "functools.partial"
    )
    if called or partial:
        return None
    advice = {"id_tap": _TAP_ADVICE, "id_print": _PRINT_ADVICE, "call": _CALL_ADVICE}[name]
    return Manual(_VALUE.format(name=name, advice=advice))
