"""The report of a verification as one HTML file that needs nothing else: verdicts to filter by, drawn placements."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmigrate import __version__
from jaxmigrate.reports import placement
from jaxmigrate.reports.verify_text import explained, summary, where
from jaxmigrate.verify.model import Difference, Placement, Report, Verdict

TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>jaxmigrate verify: {{ summary }}</title>
<style>
:root {
  color-scheme: light dark;
  --fg: #1c2024; --dim: #60646c; --bg: #ffffff; --card: #f5f6f8; --line: #d9dce1;
  --equivalent: #1a7f37; --different: #c62828; --not-reached: #9a6700; --nondeterministic: #8250df; --not-comparable: #9a6700;
}
@media (prefers-color-scheme: dark) {
  :root {
    --fg: #e6e8eb; --dim: #9ba1a9; --bg: #14171a; --card: #1e2226; --line: #363c43;
    --equivalent: #4ac26b; --different: #ff7b72; --not-reached: #d4a72c; --nondeterministic: #c297ff; --not-comparable: #d4a72c;
  }
}
body { margin: 0 auto; padding: 1.5rem; max-width: 68rem; font: 15px/1.5 system-ui, sans-serif; }
body { color: var(--fg); background: var(--bg); }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
code, pre, .where { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: .87em; }
pre { margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.dim { color: var(--dim); }
.box { border-left: 4px solid var(--different); background: var(--card); padding: .5rem .9rem; margin: .75rem 0; }
.box p { margin: .2rem 0; }
.filter { position: absolute; opacity: 0; }
.filters { margin: 1rem 0; display: flex; gap: .4rem; flex-wrap: wrap; }
.filters label { border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .75rem; cursor: pointer; }
.edit { border: 1px solid var(--line); border-radius: .4rem; background: var(--card); margin: .6rem 0; padding: .5rem .9rem; }
.edit summary { cursor: pointer; }
.verdict { font-weight: 600; }
{%- for v in verdicts %}
.{{ v.key }} .verdict, label.{{ v.key }} { color: var(--{{ v.key }}); }
#show-{{ v.key }}:checked ~ .edits .edit:not(.{{ v.key }}) { display: none; }
#show-{{ v.key }}:checked ~ .filters label[for="show-{{ v.key }}"],
#show-{{ v.key }}:focus-visible ~ .filters label[for="show-{{ v.key }}"] { background: var(--card); border-color: currentColor; }
{%- endfor %}
#show-all:checked ~ .filters label[for="show-all"],
#show-all:focus-visible ~ .filters label[for="show-all"] { background: var(--card); border-color: currentColor; }
.minus { color: var(--different); } .plus { color: var(--equivalent); }
.pictures { display: flex; gap: 2rem; flex-wrap: wrap; margin: .5rem 0; overflow-x: auto; }
.pictures table { border-collapse: collapse; font-size: .85em; }
.pictures caption { text-align: left; color: var(--dim); padding-bottom: .2rem; }
.pictures th { font-weight: normal; color: var(--dim); padding: .15rem .5rem; font-family: ui-monospace, monospace; }
.pictures td { border: 1px solid var(--line); padding: .3rem .5rem; min-width: 2rem; text-align: center; }
.device { display: inline-block; min-width: 1.4em; padding: 0 .3em; margin: .1em; border-radius: .25em; }
.device { color: #111; text-align: center; }
ul { padding-left: 1.2rem; }
</style>
</head>
<body>
<h1>{{ summary }}</h1>
{%- if report.command %}
<p class="dim"><code>{{ report.command }}</code></p>
{%- endif %}
{%- if report.errors %}
<div class="box"><strong>Nothing was verified</strong>{% for e in report.errors %}<p>{{ e }}</p>{% endfor %}</div>
{%- endif %}
{%- if report.hazards %}
<div class="box"><strong>Hazards: undefined behaviour of the original</strong>
{%- for h in report.hazards %}<p>{{ h }}</p>{% endfor %}</div>
{%- endif %}
{%- if report.program %}
<div class="box"><strong>The program as a whole
{%- if report.program_differs %} differs{% if not explained %}, and no single edit shows why{% endif %}{% endif %}</strong>
{%- for p in report.program %}<p>{{ p }}</p>{% endfor %}</div>
{%- endif %}
{%- if edits %}
<input class="filter" type="radio" name="show" id="show-all" checked>
{%- for v in verdicts %}
<input class="filter" type="radio" name="show" id="show-{{ v.key }}">
{%- endfor %}
<div class="filters">
<label for="show-all">all {{ edits|length }}</label>
{%- for v in verdicts %}
<label class="{{ v.key }}" for="show-{{ v.key }}">{{ v.count }} {{ v.name }}</label>
{%- endfor %}
</div>
<div class="edits">
{%- for e in edits %}
<details class="edit {{ e.key }}" id="edit-{{ e.id }}"{% if e.open %} open{% endif %}>
<summary><span class="where">{{ e.where }}</span> {{ e.codemod }} <span class="verdict">{{ e.verdict }}</span>
<span class="dim">{{ e.evidence[0] if e.evidence }}</span></summary>
{%- if e.message %}<p>{{ e.message }}</p>{% endif %}
{%- if e.before or e.after %}
<pre>{% for l in e.before %}<span class="minus">- {{ l }}</span>
{% endfor %}{% for l in e.after %}<span class="plus">+ {{ l }}</span>
{% endfor %}</pre>
{%- endif %}
{%- if e.evidence[1:] or e.hint %}
<ul>{% for line in e.evidence[1:] %}<li>{{ line }}</li>{% endfor %}{% if e.hint %}<li>{{ e.hint }}</li>{% endif %}</ul>
{%- endif %}
{%- for d in e.differences %}
<p><strong>{{ d.aspect }}</strong>{% if d.where %} of <code>{{ d.where }}</code>{% endif %}
{%- if e.process is not none %} in process {{ e.process }}{% endif %}
{%- if not d.pictures and not d.table %}: <code>{{ d.before }}</code> before, <code>{{ d.after }}</code> after{% endif %}</p>
{%- if d.pictures %}
<div class="pictures">
{%- for p in d.pictures %}
<table><caption>{{ p.caption }}</caption>
{%- if p.columns|join %}<tr><th></th>{% for c in p.columns %}<th>{{ c }}</th>{% endfor %}</tr>{% endif %}
{%- for label, row in p.rows %}
<tr><th>{{ label }}</th>{% for cell in row %}<td>{% for device in cell %}<span class="device" \
style="background:hsl({{ device * 137 % 360 }} 65% 75%)">{{ device }}</span>{% endfor %}</td>{% endfor %}</tr>
{%- endfor %}
</table>
{%- endfor %}
</div>
{%- endif %}
{%- if d.table %}
<div class="pictures"><table><tr><th>device</th><th>before</th><th>after</th></tr>
{%- for device, old, new in d.table %}
<tr><th>{{ device }}</th><td><code>{{ old }}</code></td><td><code>{{ new }}</code></td></tr>
{%- endfor %}
</table></div>
{%- endif %}
{%- endfor %}
{%- if e.reproduce %}<p>Again: <code>{{ e.reproduce }}</code></p>{% endif %}
</details>
{%- endfor %}
</div>
{%- endif %}
{%- if report.notes %}
<ul class="dim">{% for n in report.notes %}<li>{{ n }}</li>{% endfor %}</ul>
{%- endif %}
<p class="dim">jaxmigrate {{ version }}</p>
</body>
</html>
"""


def render(report: Report, *, require: float = 0.0) -> str:
    """The report as one HTML page.

    Args:
        report: what the verification found.
        require: percent of the edits that must have been reached; the page says when they were not.
    """
    from jinja2 import Environment  # comes with the extra ``verify``

    template = Environment(autoescape=True).from_string(TEMPLATE)
    verdicts = [{"key": _key(v), "name": v.value, "count": report.count(v)} for v in Verdict if report.count(v)]
    page: str = template.render(
        report=report,
        explained=explained(report),
        summary=_title(report, require),
        verdicts=verdicts,
        edits=[_edit(report, i) for i in range(len(report.judgements))],
        version=__version__,
    )
    return page


def _title(report: Report, require: float) -> str:
    total = len(report.judgements)
    short = total and 100.0 * report.reached < require * total
    return f"{summary(report)}{f' ({require:g} % of them were to be reached)' if short else ''}"


def _key(verdict: Verdict) -> str:
    return verdict.value.replace(" ", "-")


def _edit(report: Report, position: int) -> dict[str, object]:
    judgement = report.judgements[position]
    edit = judgement.edit
    return {
        "id": edit.id,
        "key": _key(judgement.verdict),
        "open": judgement.verdict is Verdict.DIFFERENT,
        "where": where(edit),
        "codemod": edit.codemod,
        "message": edit.message,
        "verdict": judgement.verdict.value,
        "evidence": judgement.evidence,
        "hint": judgement.hint,
        "before": edit.before.splitlines(),
        "after": edit.after.splitlines(),
        "differences": [_difference(d) for d in judgement.differences],
        "process": judgement.process,
        "reproduce": judgement.reproduce,
    }


def _difference(difference: Difference) -> dict[str, object]:
    shown: dict[str, object] = {
        "aspect": difference.aspect,
        "where": difference.where,
        "before": difference.before,
        "after": difference.after,
    }
    if difference.placements:
        pair = placement.grids(*difference.placements)
        if pair:
            shown["pictures"] = [_picture(*side) for side in zip(("before", "after"), difference.placements, pair, strict=True)]
        else:
            shown["table"] = placement.table(*difference.placements)
    return shown


def _picture(name: str, held: Placement, grid: placement.Grid) -> dict[str, object]:
    rows: Sequence[tuple[str, tuple[tuple[int, ...], ...]]] = list(zip(grid.rows, grid.cells, strict=True))
    return {"caption": f"{name} {placement.shape(held)}: the devices that hold each block", "columns": grid.columns, "rows": rows}
