"""Public kit for pack authors: two verbs for tests of codemods.

``unchanged(src)`` asserts that no edit and no finding was emitted, ``rewritten(before, after)`` asserts the text and that a
second run emits no edit and says nothing new. Both take ``select``, ``target``, ``allowed``, ``options`` and whatever
`rewrite_source` takes.
"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from jaxmigrate import quiet
from jaxmigrate.engine import rewrite_source
from jaxmigrate.model import Applicability, FileResult, Finding, Outcome, Settings, Status, Version
from jaxmigrate.registry import known_newest


def run(
    source: str | bytes,
    *,
    select: str | Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    target: str | None = None,
    allowed: str = "review",
    options: Mapping[str, str] | None = None,
    origin: str | None = None,
    **engine: Any,
) -> FileResult:
    """Run the engine on `source` (a str is dedented)."""
    data = source if isinstance(source, bytes) else _text(source).encode("utf-8")
    settings = Settings(
        target=Version.parse(target) if target else known_newest(),
        select=frozenset([select] if isinstance(select, str) else select) if select is not None else None,
        ignore=frozenset(ignore),
        allowed=Applicability[allowed.upper()],
        options=tuple(sorted((options or {}).items())),
        origin=Version.parse(origin) if origin else None,
    )
    result = rewrite_source(data, settings, **engine)
    if result.findings or result.facts or result.status is not Status.UNCHANGED:
        assert not _is_passed_over(data, settings, engine), "a run would pass over this file: see only_with and only_where"
    return result


def _is_passed_over(data: bytes, settings: Settings, engine: Mapping[str, Any]) -> bool:
    if engine.get("pack") is not None or not quiet.may_be_asked(settings):
        return False
    index = engine.get("index")
    own = {"module": engine.get("module", ""), "is_package": engine.get("is_package", False)}
    return quiet.is_quiet(data, settings.target.numbers, exports=index.exports if index is not None else None, **own)


def _text(source: str) -> str:
    return textwrap.dedent(source).removeprefix("\n")


def applied(result: FileResult) -> list[Finding]:
    """The findings whose edits were made."""
    return [f for f in result.findings if f.outcome is Outcome.APPLIED]


def findings(source: str | bytes, **kw: Any) -> list[Finding]:
    """All findings of a run, applied or not."""
    return list(run(source, **kw).findings)


def unchanged(source: str | bytes, *, findings: int | Iterable[str] = 0, **kw: Any) -> FileResult:
    """Assert that `source` is left as it is, and that exactly the given findings (count, or parts of their messages) remain.

    Guarded and suppressed places are no findings here; those of low severity are not counted, but may be named.
    """
    result = run(source, **kw)
    assert result.status is Status.UNCHANGED, f"{result.status}: {result.reason or result.after.decode()}"
    assert not applied(result), applied(result)
    _expect(result, findings)
    return result


def _expect(result: FileResult, expected: int | Iterable[str]) -> None:
    if isinstance(expected, int):
        left = [f for f in result.findings if f.outstanding]
        assert len(left) == expected, left
        return
    left = [f for f in result.findings if f.is_left]
    wanted = list(expected)
    assert len(left) == len(wanted), left
    for part, finding in zip(wanted, left, strict=True):
        assert part in f"{finding.codemod}: {finding.applicability}: {finding.message}", (part, finding)


def rewritten(before: str | bytes, after: str | bytes, *, findings: int | Iterable[str] = 0, **kw: Any) -> FileResult:
    """Assert that `before` becomes `after`, that it parses, and that a second run emits no edit and says nothing new."""
    result = run(before, **kw)
    assert result.status is Status.REWRITTEN, f"{result.status} {result.reason} {result.findings}"
    wanted = after if isinstance(after, bytes) else _text(after).encode("utf-8")
    if isinstance(after, bytes):
        assert result.after == wanted
    else:
        assert result.after.decode("utf-8") == wanted.decode("utf-8")
    ast.parse(result.after)
    _expect(result, findings)
    second = run(result.after, **kw)
    assert second.status is Status.UNCHANGED, f"second run: {applied(second)}"
    assert not applied(second), f"second run: {applied(second)}"
    assert not news(result, second), f"second run: {news(result, second)}"
    return result


def news(first: FileResult, second: FileResult) -> list[Finding]:
    """What a run over the result of another leaves to do that the first did not speak of."""
    known = Counter((f.codemod, f.symbol) for f in first.findings if f.is_left)
    left = Counter((f.codemod, f.symbol) for f in second.findings if f.is_left)
    return [f for f in second.findings if f.is_left and (f.codemod, f.symbol) in left - known]
