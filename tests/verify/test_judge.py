"""Verdicts from synthetic runs: every rule, with a case in which it must say something else."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from jaxmigrate.reports.verify_text import render
from jaxmigrate.verify.judge import judge
from jaxmigrate.verify.model import Edit, Judgement, Kind, Plan, ProcessRun, Report, Run, Site, Span, Tolerance, Verdict
from tests.verify.values import X, abstract, array, ndarray, opaque, scalar, seq

EQUIVALENT, DIFFERENT, NOT_REACHED, NONDETERMINISTIC, NOT_COMPARABLE = Verdict
Record = dict[str, Any]

START: Record = {"e": "start", "python": "3.12", "jax": "0.12.0", "world": "plain"}
LEGACY = START | {"world": "legacy", "legacy": "auto"}
INSTALLED: Record = {"e": "legacy", "version": "0.4.6", "jax_array": False}
LOAD: Record = {"e": "load", "path": "m.py"}
END: Record = {"e": "end", "status": 0, "x": None}


def site(number: int = 1, kind: Kind = Kind.VALUE, texts: tuple[str, str] = ("old(x)", "new(x)"), **fields: Any) -> Site:
    before = Span(number, 0, number, len(texts[0])) if texts[0] else None
    after = Span(number, 0, number, len(texts[1])) if texts[1] else None
    return Site(
        number, "m.py", kind, **({"before": before, "after": after, "before_text": texts[0], "after_text": texts[1]} | fields)
    )


def plan(*sites: Site, edits: Iterable[tuple[int, ...]] | None = None, source: bytes = b"", path: str = "m.py") -> Plan:
    groups = edits if edits is not None else [(s.id,) for s in sites if s.kind is not Kind.WATCH]
    made = [Edit(i, path, i, 0, "a-codemod", "", "old", "new", group) for i, group in enumerate(groups, 1)]
    return Plan(sites, tuple(made), after={"m.py": source})


def hit(value: Record, n: int = 1, s: int = 1, c: str = "", t: bool = False) -> Record:
    return {"e": "hit", "s": s, "n": n, "c": c, "v": value, "t": t}


def call(value: Record, n: int = 1, s: int = 1, t: bool = False) -> Record:
    return {"e": "call", "s": s, "n": n, "c": "", "v": value, "t": t}


def reach(s: int = 1, n: int = 1) -> Record:
    return {"e": "reach", "s": s, "n": n, "c": ""}


def state(name: str, value: Record, s: int = 1, n: int = 1) -> Record:
    return {"e": "state", "s": s, "n": n, "c": "", "v": {name: value}}


def error(family: str, kind: str | None = None, message: str = "no") -> Record:
    return {"type": kind or family, "family": family, "bases": [], "message": message}


def raised(family: str, kind: str | None = None, s: int = 1, n: int = 1, **more: Any) -> Record:
    return {"e": "raise", "s": s, "n": n, "c": "", "x": error(family, kind)} | more


def final(**values: Record) -> Record:
    return {"e": "final", "v": values}


def of_test(name: str, outcome: str, x: Record | None = None) -> Record:
    return {"e": "test", "id": name, "outcome": outcome, "x": x}


def failed(family: str, message: str = "no") -> Record:
    return {"e": "end", "status": 1, "x": error(family, message=message)}


def process(
    *records: Record, number: int = 0, status: int | None = 0, end: Record | None = END, out: str = "", err: str = ""
) -> ProcessRun:
    status = 1 if end and end.get("x") else status
    return ProcessRun(number, status, (START, LOAD, *records, *([end] if end else [])), out, err)


def run(*processes: ProcessRun, name: str = "after", **fields: Any) -> Run:
    return Run(name, processes, **fields)


def report(plan: Plan, before: ProcessRun, after: ProcessRun, again: ProcessRun | None = None, **options: Any) -> Report:
    return judge(plan, run(before, name="before"), run(after), run(again or after, name="again"), **options)


def verdicts(*args: Any, **options: Any) -> list[Verdict]:
    return [j.verdict for j in report(*args, **options).judgements]


def only(*args: Any, **options: Any) -> Judgement:
    (judgement,) = report(*args, **options).judgements
    return judgement


V, W = hit(array(X, 8)), hit(array(X + 1, 8))


# Values


def test_equal_values() -> None:
    found = only(plan(site()), process(V), process(V))
    assert found.verdict is EQUIVALENT
    assert found.evidence[0] == "equal in 1 evaluation: float32[8,2] on 8 devices"


def test_other_values_places_or_types() -> None:
    for other in (W, hit(array(X, 4)), hit(array(X, 8, devices=list(range(7, -1, -1)))), hit(array(X.astype(np.int32), 8))):
        assert only(plan(site()), process(V), process(other)).verdict is DIFFERENT


def test_a_difference_says_where_and_how_to_see_it_again() -> None:
    command = "jaxmigrate verify --devices 8 m.py --epochs 3"
    found = only(plan(site()), process(V, hit(array(X), 2)), process(V, hit(array(X + 1), 2)), command=command)
    assert found.evidence[0].startswith("evaluation 2: values differ: [0, 0] = 0 (16 of 16 differ) before, [0, 0] = 1 after")
    assert found.reproduce == "jaxmigrate verify --edit 1 --devices 8 m.py --epochs 3"
    assert found.process is None


def test_the_tolerance_is_the_callers() -> None:
    before, after = process(hit(ndarray(np.float32([1])))), process(hit(ndarray(np.float32([1.01]))))
    assert verdicts(plan(site()), before, after) == [DIFFERENT]
    assert verdicts(plan(site()), before, after, tolerance=Tolerance(rtol=0.1)) == [EQUIVALENT]


def test_isinstance_outcomes_decide() -> None:
    assert verdicts(plan(site()), process(hit(scalar(True))), process(hit(scalar(False)))) == [DIFFERENT]
    assert verdicts(plan(site()), process(hit(scalar(True))), process(hit(scalar(True)))) == [EQUIVALENT]


def test_an_edit_is_as_bad_as_the_worst_of_its_sites() -> None:
    both = plan(site(1), site(2), edits=[(1, 2)])
    good, bad = hit(array(X), s=2), hit(array(X + 1), s=2)
    assert verdicts(both, process(V, good), process(V, good)) == [EQUIVALENT]
    assert verdicts(both, process(V, good), process(V, bad)) == [DIFFERENT]


def test_values_of_several_tests_are_not_mixed() -> None:
    a, b = hit(scalar(1), c="t.py::a"), hit(scalar(2), c="t.py::b")
    assert verdicts(plan(site()), process(a, b), process(b, a)) == [EQUIVALENT]
    assert verdicts(plan(site()), process(a, b), process(a | {"v": b["v"]}, b | {"v": a["v"]})) == [DIFFERENT]


def test_calls_of_the_function_that_a_site_gives() -> None:
    gives = hit(opaque("jit"))
    good = process(gives, call(array(X)), call(array(X), 2))
    assert verdicts(plan(site()), good, good) == [EQUIVALENT]
    assert verdicts(plan(site()), good, process(gives, call(array(X)), call(array(X + 1), 2))) == [DIFFERENT]


def test_a_function_that_is_never_called_is_not_reached() -> None:
    gives, x = hit(opaque("jit")), final(x=array(X))
    found = only(plan(site()), process(gives, x), process(gives, x))
    assert found.verdict is NOT_REACHED
    assert found.evidence == ("it gives a function that is never called",)


def test_a_decorator_whose_function_is_never_called_is_not_reached() -> None:
    decorates = process(hit(opaque("partial")), call(opaque("jit")), final(x=array(X)))
    assert verdicts(plan(site()), decorates, decorates) == [NOT_REACHED]
    used = process(hit(opaque("partial")), call(opaque("jit")), call(array(X), 2))
    assert verdicts(plan(site()), used, used) == [EQUIVALENT]


# Not reached


def test_what_never_ran_is_not_reached() -> None:
    found = only(plan(site()), process(final(x=array(X))), process(final(x=array(X))))
    assert (found.verdict, found.evidence) == (NOT_REACHED, ("never executed",))


def test_what_ran_in_one_version_only_is_a_difference_unless_something_explains_it() -> None:
    assert verdicts(plan(site()), process(V), process()) == [DIFFERENT]
    assert verdicts(plan(site()), process(), process(V)) == [DIFFERENT]
    assert verdicts(plan(site(1), site(2)), process(V, hit(scalar(1), s=2)), process(V, hit(scalar(2), s=2))) == [
        EQUIVALENT,
        DIFFERENT,
    ]
    assert verdicts(plan(site(1), site(2)), process(V, hit(scalar(1), s=2)), process(hit(scalar(2), s=2))) == [
        NOT_REACHED,
        DIFFERENT,
    ]


def test_what_comes_after_a_failure_is_not_reached() -> None:
    two = plan(site(1), site(2))
    after = process(raised("ValueError"), end=failed("ValueError"))
    assert verdicts(two, process(V, hit(scalar(1), s=2)), after) == [DIFFERENT, NOT_REACHED]


def test_evaluations_that_an_early_end_prevents_are_no_difference() -> None:
    two = plan(site(1), site(2))
    before = process(V, hit(scalar(1), s=2), hit(array(X + 1, 8), 2))
    found = report(two, before, process(V, hit(scalar(1), s=2), end=failed("AttributeError")))
    assert [j.verdict for j in found.judgements] == [EQUIVALENT, EQUIVALENT]
    assert found.judgements[0].evidence[0].startswith("equal in 1 evaluation, then the migrated program had ended: float32")
    assert found.program_differs
    killed = process(V, hit(scalar(1), s=2), end=None, status=-9)
    assert verdicts(two, before, killed) == [EQUIVALENT, EQUIVALENT]


def test_evaluations_that_are_missing_for_no_early_end_are_a_difference() -> None:
    two = plan(site(1), site(2))
    later = process(V, hit(array(X + 1, 8), 2), hit(scalar(1), s=2))
    assert verdicts(two, later, process(V, hit(scalar(1), s=2), end=failed("AttributeError"))) == [DIFFERENT, EQUIVALENT]
    both = process(V, hit(array(X + 1, 8), 2), end=failed("ValueError")), process(V, end=failed("ValueError"))
    assert verdicts(plan(site()), *both) == [DIFFERENT]
    assert verdicts(plan(site()), later, process(V)) == [DIFFERENT]


def test_calls_that_an_early_end_prevents_are_not_reached() -> None:
    gives = hit(opaque("jit"))
    found = only(plan(site()), process(gives, call(array(X))), process(gives, end=failed("AttributeError")))
    assert found.verdict is NOT_REACHED
    assert found.evidence == ("nothing of it could be compared: the migrated program had ended before",)


@pytest.mark.parametrize("outcomes", [("passed", "failed"), ("failed", "passed")])
def test_evaluations_that_a_failing_test_prevents_are_no_difference(outcomes: tuple[str, str]) -> None:
    def tests(outcome: str, *records: Record) -> ProcessRun:
        ended = [of_test("t::a", outcome), hit(array(X), c="t::b"), of_test("t::b", "passed")]
        return process(*records, *ended, end=END | {"status": int(outcome == "failed")})

    one, more = [hit(array(X), c="t::a")], [hit(array(X), c="t::a"), hit(array(X + 1), 2, c="t::a")]
    pair = [tests(outcome, *(more if outcome == "passed" else one)) for outcome in outcomes]
    found = report(plan(site()), *pair)
    assert [j.verdict for j in found.judgements] == [EQUIVALENT]
    assert ", then the test had failed in the " in found.judgements[0].evidence[0]
    assert found.program_differs
    assert verdicts(plan(site()), tests("passed", *more), tests("passed", *one)) == [DIFFERENT]


def test_a_place_that_could_not_be_watched_is_not_comparable() -> None:
    lost = {"e": "lost", "s": 1, "text": "m.py:1:0"}
    found = only(plan(site()), process(lost, final(x=array(X))), process(V, final(x=array(X))))
    assert (found.verdict, found.evidence) == (NOT_COMPARABLE, ("could not be watched: m.py:1:0",))


def test_what_differs_after_another_edit_did_says_so() -> None:
    one, two = hit(scalar(1), s=2), hit(scalar(2), s=2)
    found = report(plan(site(1), site(2)), process(V, one), process(W, two)).judgements
    assert "edit 1 differs before it, from which this may follow" in found[1].evidence
    assert not any("may follow" in line for line in found[0].evidence)


def test_an_edit_of_which_a_part_did_not_run_is_not_reached() -> None:
    both = plan(site(1), site(2), edits=[(1, 2)])
    assert verdicts(both, process(V), process(V)) == [NOT_REACHED]


def test_a_part_within_a_compared_place_may_stay_unreached() -> None:
    outer = site(1, before=Span(1, 0, 1, 40), after=Span(1, 0, 1, 40))
    inner = site(2, before=Span(1, 5, 1, 9), after=Span(1, 5, 1, 9))
    assert verdicts(plan(outer, inner, edits=[(1, 2)]), process(V), process(V)) == [EQUIVALENT]


def test_values_that_were_cut_are_no_evidence() -> None:
    cut = process(hit({"k": "cut"}), final(x=array(X)))
    assert verdicts(plan(site()), cut, cut) == [NOT_COMPARABLE]


def test_none_is_no_evidence_but_what_follows_is() -> None:
    none = hit(scalar(None))
    assert verdicts(plan(site()), process(none), process(none)) == [NOT_COMPARABLE]
    later = process(none, final(x=array(X)))
    assert only(plan(site()), later, later).evidence == ("ran once in both; 1 value downstream equal",)
    assert verdicts(plan(site()), process(none), process(V)) == [DIFFERENT]


def test_an_edit_without_an_expression_is_not_comparable() -> None:
    assert verdicts(plan(edits=[()]), process(V), process(V)) == [NOT_COMPARABLE]


# Numbers of evaluations


def test_a_callback_that_runs_once_instead_of_per_device() -> None:
    many = [hit(ndarray(X), n) for n in range(1, 9)]
    found = only(plan(site()), process(*many), process(hit(ndarray(X))))
    assert found.verdict is EQUIVALENT
    assert "evaluated 8 times before, once after, with the same outcomes" in found.evidence


def test_an_evaluation_that_the_other_version_never_makes() -> None:
    many = [hit(ndarray(X), 1), hit(ndarray(X + 1), 2)]
    assert verdicts(plan(site()), process(*many), process(hit(ndarray(X)))) == [DIFFERENT]
    assert verdicts(plan(site()), process(hit(ndarray(X))), process(*many)) == [DIFFERENT]


def test_the_same_values_in_another_order_differ() -> None:
    a, b = [hit(scalar(i), n) for n, i in ((1, 1), (2, 2))], [hit(scalar(i), n) for n, i in ((1, 2), (2, 1))]
    assert verdicts(plan(site()), process(*a), process(*b)) == [DIFFERENT]


def test_evaluations_that_were_not_all_recorded_are_paired_by_number() -> None:
    some = [hit(scalar(n), n) for n in (1, 2, 32)]
    count = {"e": "count", "s": 1, "n": 40}
    assert verdicts(plan(site()), process(*some, count), process(*some, count)) == [EQUIVALENT]


def counted(total: int, **fields: Any) -> list[Record]:
    recorded = [n for n in range(1, total + 1) if n <= 20 or n & (n - 1) == 0]
    return [*(hit(scalar(7), n) for n in recorded), {"e": "count", "s": 1, "c": "", "n": total, "calls": 0} | fields]


def test_evaluations_between_the_recorded_ones_by_their_fingerprint() -> None:
    assert verdicts(plan(site()), process(*counted(100, fp="a")), process(*counted(100, fp="a"))) == [EQUIVALENT]
    assert verdicts(plan(site()), process(*counted(100, fp="a")), process(*counted(100, fp="b"))) == [DIFFERENT]
    random = [process(*counted(100, fp=c)) for c in "abc"]
    assert verdicts(plan(site()), *random) == [NONDETERMINISTIC]
    found = only(plan(site()), process(*counted(100)), process(*counted(100)))
    assert "22 of 100 evaluations were recorded and compared" in found.evidence


def test_a_container_that_was_not_recorded_in_full() -> None:
    long = hit(seq(scalar(1)) | {"n": 5000})
    assert verdicts(plan(site()), process(long, final(x=scalar(1))), process(long, final(x=scalar(1)))) == [NOT_COMPARABLE]
    hashed = hit(seq(scalar(1)) | {"n": 5000, "h": "a"})
    assert verdicts(plan(site()), process(hashed), process(hashed)) == [EQUIVALENT]


# Exceptions


def test_a_value_against_an_exception() -> None:
    found = only(plan(site()), process(V), process(raised("TypeError"), V | {"n": 2}))
    assert found.verdict is DIFFERENT
    assert "raises TypeError: no after" in found.evidence[0]
    assert verdicts(plan(site()), process(raised("TypeError")), process(V)) == [DIFFERENT]


def test_the_same_refusal_of_bad_input() -> None:
    found = only(plan(site()), process(raised("ValueError")), process(raised("ValueError", "IndivisibleError")))
    assert found.verdict is EQUIVALENT
    assert "raises IndivisibleError where it raised ValueError, both of them a ValueError" in found.evidence
    found = only(plan(site()), process(raised("KeyError")), process(raised("ValueError")))
    assert found.verdict is EQUIVALENT
    assert "refuses the input in both, with ValueError where it was KeyError" in found.evidence


def test_an_error_class_of_jax_is_the_refusal_of_a_value_error() -> None:
    duplicate = raised("Exception", "DuplicateSpecError")
    duplicate["x"]["module"] = "jax._src.named_sharding"
    assert verdicts(plan(site()), process(raised("ValueError")), process(duplicate)) == [EQUIVALENT]
    assert verdicts(plan(site()), process(raised("ValueError")), process(raised("Exception", "Mine"))) == [DIFFERENT]


@pytest.mark.parametrize(
    ("before", "after"), [("IndexError", "ValueError"), ("TypeError", "ValueError"), ("ValueError", "IndexError")]
)
def test_other_families_break_what_catches_them(before: str, after: str) -> None:
    assert verdicts(plan(site()), process(raised(before)), process(raised(before))) == [EQUIVALENT]
    assert verdicts(plan(site()), process(raised(before)), process(raised(after))) == [DIFFERENT]


@pytest.mark.parametrize("family", ["AttributeError", "ImportError", "NameError"])
def test_what_a_wrong_migration_raises_is_no_refusal_of_input(family: str) -> None:
    assert verdicts(plan(site()), process(raised("ValueError")), process(raised(family))) == [DIFFERENT]


def test_a_call_that_raises_is_paired_with_calls() -> None:
    gives = hit(opaque("jit"))
    bad = raised("ValueError", of="call")
    assert verdicts(plan(site()), process(gives, bad), process(gives, bad)) == [EQUIVALENT]
    assert verdicts(plan(site()), process(gives, call(array(X))), process(gives, bad)) == [DIFFERENT]


# A/A


def test_what_the_migrated_program_does_not_repeat_is_nondeterministic() -> None:
    random = site(texts=("old(np.random.rand(2))", "new(np.random.rand(2))"))
    found = only(plan(random), process(V), process(W), process(hit(array(X + 2, 8))))
    assert (found.verdict, found.hint) == (NONDETERMINISTIC, "probably random numbers without a fixed seed")


@pytest.mark.parametrize(
    ("text", "source", "hint"),
    [
        ("f(time.time())", b"", "the time"),
        ("f(set(names))", b"", "set"),
        ("f(id(x))", b"", "addresses"),
        ("f(x)", b"f(x)(time.time())\nimport random", "probably the time"),
        ("f(x)", b"\nimport random, time", "random numbers without a fixed seed or the time"),
        ("f(x)", b"\nimport threading", "thread"),
        ("f(x)", b"", "look for"),
    ],
)
def test_hints(text: str, source: bytes, hint: str) -> None:
    found = only(plan(site(texts=(text, text + " ")), source=source), process(V), process(V), process(W))
    assert hint in found.hint


def test_a_wrong_shape_is_different_even_where_values_are_random() -> None:
    after, again = process(hit(array(X[:4] + 1, 4))), process(hit(array(X[:4] + 2, 4)))
    assert verdicts(plan(site()), process(hit(array(X, 4))), after, again) == [DIFFERENT]


# Places without values of their own


IMPORT = site(1, Kind.STATEMENT, ("import old", "import new"))


def test_an_import_is_judged_by_what_comes_after_it() -> None:
    found = only(plan(IMPORT), process(reach(), final(x=array(X))), process(reach(), final(x=array(X))))
    assert found.verdict is EQUIVALENT
    assert found.evidence == ("ran once in both; 1 value downstream equal",)


def test_what_came_before_it_is_no_evidence() -> None:
    two = plan(site(1, Kind.STATEMENT), site(2))
    early = process(hit(array(X), s=2), reach(1))
    assert verdicts(two, early, early) == [NOT_COMPARABLE, EQUIVALENT]
    late = process(reach(1), hit(array(X), s=2))
    assert verdicts(two, late, late) == [EQUIVALENT, EQUIVALENT]


def test_without_anything_to_compare_it_is_not_comparable() -> None:
    assert verdicts(plan(IMPORT), process(reach()), process(reach())) == [NOT_COMPARABLE]


def test_equal_output_is_something_to_compare() -> None:
    said = process(reach(), out="loss 1.5\n")
    assert verdicts(plan(IMPORT), said, said) == [EQUIVALENT]


def test_a_deleted_statement_ran_where_it_is() -> None:
    gone = site(1, Kind.STATEMENT, ("jax.config.update('jax_array', True)", ""))
    found = only(plan(gone), process(reach(), final(x=array(X))), process(final(x=array(X))))
    assert found.verdict is EQUIVALENT
    assert "ran once in the original, which alone has it" in found.evidence[0]
    assert verdicts(plan(gone), process(final(x=array(X))), process(final(x=array(X)))) == [NOT_REACHED]


def test_a_context_is_guilty_of_what_nothing_else_explains() -> None:
    context = site(1, Kind.CONTEXT)
    pair = process(reach(), final(x=array(X, 8))), process(reach(), final(x=array(X)))
    found = only(plan(context), *pair)
    assert found.verdict is DIFFERENT
    assert "no other edit explains it: final value of x" in found.evidence[0]
    both = plan(context, site(2))
    pair = (
        process(reach(), hit(array(X, 8), s=2), final(x=array(X, 8), y=scalar(1))),
        process(reach(), hit(array(X), s=2), final(x=array(X), y=scalar(1))),
    )
    assert verdicts(both, *pair) == [EQUIVALENT, DIFFERENT]


def test_imports_are_guilty_only_if_nothing_else_can_be() -> None:
    two = plan(IMPORT, site(2, Kind.CONTEXT))
    before, after = (
        process(reach(), reach(2), final(x=scalar(1), y=scalar(1))),
        process(reach(), reach(2), final(x=scalar(2), y=scalar(1))),
    )
    assert verdicts(two, before, after) == [EQUIVALENT, DIFFERENT]
    assert verdicts(plan(IMPORT), process(reach(), final(x=scalar(1))), process(reach(), final(x=scalar(2)))) == [DIFFERENT]


def test_names_bound_in_a_block_are_compared() -> None:
    block = site(1, Kind.STATEMENT, names=("mesh", "return"))
    same, other = state("x", scalar(1)), state("x", scalar(2))
    assert verdicts(plan(block), process(reach(), same), process(reach(), same)) == [EQUIVALENT]
    found = only(plan(block), process(reach(), same), process(reach(), other))
    assert found.verdict is DIFFERENT
    assert "value of x differs: 1 before, 2 after" in found.evidence[0]


def test_each_name_of_a_block_is_counted_on_its_own() -> None:
    block = site(1, Kind.STATEMENT, names=("x", "y"))
    ran = process(reach(), state("x", scalar(1)), state("y", scalar(2)))
    assert verdicts(plan(block), ran, ran) == [EQUIVALENT]
    assert verdicts(plan(block), ran, process(reach(), state("x", scalar(1)), state("y", scalar(3)))) == [DIFFERENT]


def test_a_block_that_returns_against_one_that_goes_on() -> None:
    block = site(1, Kind.STATEMENT)
    found = only(plan(block), process(reach(), state("return", scalar(1))), process(reach(), state("x", scalar(1))))
    assert found.verdict is DIFFERENT


def test_a_statement_that_raises_in_one_version() -> None:
    before = process(reach(), final(x=scalar(1)))
    assert verdicts(plan(IMPORT), before, process(raised("ImportError"), end=failed("ImportError"))) == [DIFFERENT]


# Traced places


def traced(*more: Record, shape: tuple[int, ...] = (8,)) -> ProcessRun:
    return process(hit(abstract(*shape), t=True), *more)


INSIDE = site(1, watched_by=(9,))
WATCH = site(9, Kind.WATCH, ("f(x)", "f(x)"))


def test_a_traced_place_is_judged_by_the_call_around_it() -> None:
    good = traced(call(array(X), s=9))
    found = only(plan(INSIDE, WATCH), good, good)
    assert found.verdict is EQUIVALENT
    assert found.evidence[0] == "equal in 1 evaluation: traced float32[8]; 1 value of the calls around it equal"
    found = only(plan(INSIDE, WATCH), good, traced(call(array(X + 1), s=9)))
    assert found.verdict is DIFFERENT
    assert "the call around it does (call 1: values differ" in found.evidence[0]


def test_other_abstract_values_differ() -> None:
    assert verdicts(plan(INSIDE, WATCH), traced(), traced(shape=(4,))) == [DIFFERENT]


def test_abstract_values_alone_are_not_enough() -> None:
    assert verdicts(plan(INSIDE, WATCH), traced(), traced()) == [NOT_COMPARABLE]


def test_a_call_whose_inputs_already_differ_tells_nothing_of_its_body() -> None:
    two = plan(INSIDE, WATCH, site(2))
    before = process(hit(scalar(1), s=2), hit(abstract(8), t=True), call(array(X), s=9), final(y=scalar(1)))
    after = process(hit(scalar(2), s=2), hit(abstract(8), t=True), call(array(X + 1), s=9), final(y=scalar(1)))
    assert verdicts(two, before, after) == [EQUIVALENT, DIFFERENT]


def test_a_random_call_makes_its_traced_places_nondeterministic() -> None:
    after, again = traced(call(array(X), s=9)), traced(call(array(X + 1), s=9))
    assert verdicts(plan(INSIDE, WATCH), after, after, again) == [NONDETERMINISTIC]


def test_a_call_that_differs_without_any_edit_in_it() -> None:
    found = report(plan(site(1), WATCH), process(V, call(scalar(1), s=9)), process(V, call(scalar(2), s=9)))
    assert found.program_differs
    assert "call of f(x)" in found.program[0]


# Converted arguments


SOURCE = b"step(put(batch))\n"
CONVERTED = Site(1, "m.py", Kind.VALUE, Span(1, 5, 1, 10), Span(1, 5, 1, 15), "batch", "put(batch, mesh)")
CONVERTED_PLAN = plan(CONVERTED, source=SOURCE)


def test_a_converted_argument_needs_something_downstream() -> None:
    converted = array(X, 8)
    pair = process(hit(ndarray(X))), process(hit(converted))
    assert verdicts(CONVERTED_PLAN, *pair) == [NOT_COMPARABLE]
    pair = process(hit(ndarray(X)), final(x=scalar(1))), process(hit(converted), final(x=scalar(1)))
    assert verdicts(CONVERTED_PLAN, *pair) == [EQUIVALENT]
    assert verdicts(CONVERTED_PLAN, process(hit(ndarray(X))), process(hit(array(X + 1, 8)))) == [DIFFERENT]


def test_a_converted_argument_is_guilty_of_a_wrong_result() -> None:
    pair = process(hit(ndarray(X)), final(x=scalar(1))), process(hit(array(X, 8)), final(x=scalar(2)))
    assert verdicts(CONVERTED_PLAN, *pair) == [DIFFERENT]


def test_elsewhere_an_array_for_a_numpy_array_is_a_difference() -> None:
    pair = process(hit(ndarray(X)), final(x=scalar(1))), process(hit(array(X, 8)), final(x=scalar(1)))
    assert verdicts(plan(CONVERTED, source=b"x = put(batch, mesh)\n"), *pair) == [DIFFERENT]
    assert verdicts(plan(site(texts=("x.to_py()", "x")), source=b"f(x)"), *pair) == [DIFFERENT]


def test_a_value_that_nothing_uses_may_become_none() -> None:
    waits = Site(1, "m.py", Kind.VALUE, Span(1, 0, 1, 8), Span(1, 0, 1, 9), "x.wait()", "x.block()")
    pair = process(hit(scalar(None)), final(x=array(X))), process(hit(array(X)), final(x=array(X)))
    assert verdicts(plan(waits, source=b"x.block()\n"), *pair) == [EQUIVALENT]
    assert verdicts(plan(waits, source=b"x.block() + 1\n"), *pair) == [DIFFERENT]
    assert verdicts(plan(waits, source=b"x.block()\n"), process(V), process(W)) == [DIFFERENT]


# The program as a whole


def test_exit_status() -> None:
    found = report(plan(site()), process(V), process(V, end=END | {"status": 3}, status=3))
    assert found.program_differs
    assert found.program == ("exit status: 0 before, 3 after",)
    assert found.status() == 1


def test_a_failure_that_no_edit_shows() -> None:
    found = report(plan(site()), process(V), process(V, end=failed("RuntimeError")))
    assert found.program_differs
    assert "the migrated program fails: RuntimeError: no" in found.program[0]


def test_a_name_that_is_gone_is_the_fault_of_the_edits_that_name_it() -> None:
    gone = failed("AttributeError", "module 'jax' has no attribute 'tree_map'")
    before, after = process(reach(), hit(scalar(1), s=2)), process(reach(), hit(scalar(1), s=2), end=gone)
    found = report(plan(IMPORT, site(2)), before, after)
    assert [j.verdict for j in found.judgements] == [EQUIVALENT, EQUIVALENT]
    assert found.program_differs
    named = site(1, Kind.STATEMENT, ("from jax import tree_map", "import jax"))
    assert verdicts(plan(named, site(2)), before, after) == [DIFFERENT, EQUIVALENT]


def test_a_failure_at_an_edit_is_that_edits() -> None:
    found = report(plan(site()), process(V), process(raised("TypeError"), end=failed("TypeError")))
    assert not found.program_differs
    assert found.status() == 1


def test_final_values_by_placement_too() -> None:
    found = report(plan(site()), process(V, final(y=array(X, 8))), process(V, final(y=array(X))))
    assert found.program_differs
    assert "final value of y: " in found.program[0]
    assert not report(plan(site()), process(V, final(y=array(X))), process(V, final(y=array(X)))).program


def test_final_values_that_edits_bring_or_take_are_no_difference() -> None:
    assert not report(plan(site(texts=("old(x)", "new(x, put)"))), process(V, final()), process(V, final(put=scalar(1)))).program
    assert report(plan(site()), process(V, final()), process(V, final(z=scalar(1)))).program_differs


def test_final_values_that_are_random_do_not_count() -> None:
    runs = [process(V, final(t=scalar(i))) for i in range(3)]
    found = report(plan(site()), *runs)
    assert not found.program_differs
    assert any("differ between two runs" in note for note in found.notes)


def test_chance_may_spare_a_part_of_a_final_value() -> None:
    def places(*values: int) -> ProcessRun:
        return process(V, final(p=seq(*map(scalar, values))))

    assert not report(plan(site()), places(3, 4), places(4, 3), places(4, 5)).program_differs


def test_chance_may_spare_an_element_of_a_list() -> None:
    def values(*numbers: int) -> ProcessRun:
        return process(hit(seq(*map(scalar, numbers))))

    assert verdicts(plan(site()), values(3, 4), values(4, 3), values(4, 5)) == [NONDETERMINISTIC]


@pytest.mark.parametrize(
    ("end", "status", "sentence"),
    [
        (failed("ValueError", "on purpose"), 1, "end: both versions end with ValueError: on purpose"),
        (None, -11, "end: both versions end with signal 11 (Segmentation fault)"),
        ({"e": "end", "status": 3, "x": None}, 3, "end: both versions end with status 3"),
    ],
)
def test_the_same_unusual_end_is_mentioned(end: Record | None, status: int, sentence: str) -> None:
    ended = process(V, end=end, status=status)
    found = report(plan(site()), ended, ended)
    assert found.program == (sentence,)
    assert not found.program_differs


def test_tests_by_outcome() -> None:
    def tests(a: str, b: str) -> ProcessRun:
        return process(V, of_test("t.py::a", a), of_test("t.py::b", b, error("AssertionError") if b == "failed" else None))

    assert not report(plan(site()), tests("passed", "passed"), tests("passed", "passed")).program
    found = report(plan(site()), tests("passed", "passed"), tests("passed", "failed"))
    assert found.program[0] == "test t.py::b: passed before, failed (AssertionError: no) after"
    assert found.program_differs


def test_unittest_by_what_it_says_at_the_end() -> None:
    def tests(words: str) -> ProcessRun:
        return process(reach(), err=f"..\n-----\nRan 2 tests in 0.{len(words)}s\n\n{words}\n")

    found = report(plan(IMPORT), tests("OK"), tests("OK"))
    assert found.judgements[0].evidence == ("ran once in both; 2 values downstream equal",)
    found = report(plan(IMPORT), tests("OK"), tests("FAILED (failures=1)"))
    assert found.program == ("unittest: 2 ran, OK before, 2 ran, FAILED (failures=1) after",)
    assert found.program_differs


def test_statements_are_not_guilty_of_how_a_program_or_a_test_ends() -> None:
    two = plan(IMPORT, site(2))
    bad = hit(array(X + 1), s=2)

    def tests(outcome: str, value: Record, x: Record | None = None) -> ProcessRun:
        end = END | {"status": int(outcome == "failed")}
        return process(reach(), value | {"c": "t::b"}, of_test("t::a", outcome, x), of_test("t::b", "passed"), end=end)

    good = hit(array(X), s=2)
    for broken in (error("AssertionError"), error("AttributeError", message="module 'jax' has no attribute 'gone'")):
        pair = tests("passed", good), tests("failed", good, broken)
        assert verdicts(two, *pair) == [EQUIVALENT, EQUIVALENT]
        assert report(two, *pair).program_differs
    assert verdicts(two, tests("passed", good), tests("failed", bad)) == [EQUIVALENT, DIFFERENT]
    ended = process(reach(), good, end=failed("RuntimeError"))
    assert verdicts(two, process(reach(), good), ended) == [EQUIVALENT, EQUIVALENT]
    assert verdicts(plan(site(1, Kind.CONTEXT)), process(reach()), process(reach(), end=failed("RuntimeError"))) == [DIFFERENT]


def test_what_a_failing_test_did_not_find_is_the_fault_of_edits_that_name_it() -> None:
    two = plan(site(1, Kind.CONTEXT, ("gone(x)", "new(x)")), site(2, Kind.CONTEXT))
    x = error("AttributeError", message="module 'jax' has no attribute 'gone'")
    fine, broken = (
        process(reach(), reach(2), of_test("t::a", outcome, x if outcome == "failed" else None), of_test("t::b", "passed"))
        for outcome in ("passed", "failed")
    )
    assert verdicts(two, fine, broken) == [DIFFERENT, EQUIVALENT]


def test_what_an_edited_loop_leaves_in_its_variable() -> None:
    loop = site(1, Kind.STATEMENT, ("for option in (a, b):\n    set(option)", "for option in (b,):\n    set(option)"))
    pair = process(reach(), final(option=scalar("a"), x=scalar(1))), process(reach(), final(option=scalar("b"), x=scalar(1)))
    assert verdicts(plan(loop), *pair) == [EQUIVALENT]
    assert verdicts(plan(IMPORT), *pair) == [DIFFERENT]


def test_output_after_normalisation() -> None:
    def said(text: str) -> ProcessRun:
        return process(V, out=text)

    same = (
        said("DeviceArray([1.], dtype=float32)\nat /tmp/w/before/m.py\n"),
        said("Array([1.], dtype=float32)\nat /tmp/w/after/m.py\n"),
    )
    assert not report(plan(site()), *same).program
    found = report(plan(site()), said("loss 1.0\n"), said("loss 2.0\n"))
    assert found.program == ("output: 'loss 1.0' before, 'loss 2.0' after",)
    assert found.program_differs
    gda = said("x GlobalDeviceArray(shape=(2,), dtype=float32) end\n"), said("x Array([1., (2.)], dtype=float32) end\n")
    assert not report(plan(site()), *gda).program


@pytest.mark.parametrize(
    "printed",
    [
        "[Gloo] Rank 1 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7\nsame\n",
        "4 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7\nsame\n[Gloo] Rank \n",
        "[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1same\n",
        "[Gloo] Rank 0 is connected to 3 peer ranks. Expected number of connected peer ranks is : \nsame\n3\n",
    ],
)
def test_what_xla_prints_is_not_the_programs(printed: str) -> None:
    assert not report(plan(site()), process(V, out="same\n"), process(V, out=printed)).program
    assert report(plan(site()), process(V, out="other\n"), process(V, out=printed)).program


def test_large_outputs_take_no_time() -> None:
    texts = ["".join(f"{seed} {n / 7}\n" for n in range(20000)) for seed in ("a", "b", "b")]
    before, after, again = (process(V, out=text + "x\n" * i) for i, text in enumerate(texts))
    assert report(plan(site()), before, after, again).program == (
        "output: 'a 0.0' and 2999 more lines before, 'b 0.0' and 2999 more lines after",
    )


def test_output_that_was_cut_is_compared_up_to_the_cut() -> None:
    def cut(first: str, more: int, dropped: int) -> ProcessRun:
        body = "".join(f"line {n}\n" for n in range(more))
        return process(V, out=f"{first}\n{body}line\n... {dropped} bytes left out ...\nrest {dropped}\n")

    found = report(plan(site()), cut("DeviceArray([1.])", 40, 7000), cut("Array([1.])", 41, 6990))
    assert not found.program
    assert "the output is too large to be kept: only 41 of its lines were compared" in found.notes
    assert report(plan(site()), cut("a", 40, 7000), cut("b", 41, 6990)).program == ("output: 'a' before, 'b' after",)
    assert report(plan(site()), process(V, out="a\n"), cut("a", 40, 7000)).program_differs
    whole = process(V, out="a\n" + "".join(f"line {n}\n" for n in range(50)))
    assert not report(plan(site()), whole, cut("a", 40, 7000)).program


def test_random_output_does_not_count() -> None:
    runs = [process(V, out=f"took {i} s\nsame\n") for i in (111, 222, 333)]
    assert not report(plan(site()), *runs).program


def test_an_edit_that_differs_explains_the_program() -> None:
    found = report(plan(site()), process(V, out="1\n"), process(W, out="2\n"))
    assert found.program == ("output: '1' before, '2' after (see edit 1)",)
    assert not found.program_differs


# Could not run


def errors(before: Run, after: Run) -> tuple[str, ...]:
    found = judge(plan(site()), before, after, after, command="c")
    assert all(j.verdict is NOT_REACHED for j in found.judgements) or not found.errors
    assert (found.status() == 2) == bool(found.errors)
    return found.errors


def test_an_original_that_fails() -> None:
    bad = ProcessRun(
        0, 1, (LEGACY, failed("AttributeError", "no such thing")), stderr='  File "/w/before/pkg/m.py", line 7, in f\n'
    )
    (found,) = errors(run(bad, name="before"), run(process(V)))
    assert "the old JAX that jaxmigrate emulates" in found
    assert found.endswith("AttributeError: no such thing (pkg/m.py:7)")


def test_both_fail_the_same_way() -> None:
    bad = process(end=failed("ValueError"))
    assert "both versions fail before any edited expression was evaluated" in errors(run(bad, name="before"), run(bad))[0]
    imported = process(reach(), end=failed("FileNotFoundError", "data.txt"))
    assert "FileNotFoundError: data.txt" in errors(run(imported, name="before"), run(imported))[0]
    judged = process(V, end=failed("ValueError"))
    assert errors(run(judged, name="before"), run(judged)) == ()
    assert errors(run(judged, name="before"), run(process(V, end=failed("AttributeError")))) != ()


def test_leaving_by_sys_exit_is_no_failure() -> None:
    left = process(V, end={"e": "end", "status": 3, "x": error("SystemExit")}, status=3)
    assert errors(run(left, name="before"), run(left)) == ()


def test_time_limits() -> None:
    late = run(process(V, end=None, status=None), timed_out=True, name="before")
    assert "time limit" in errors(late, run(process(V)))[0]
    found = judge(
        plan(site()), run(process(V), name="before"), run(process(V, end=None, status=None), timed_out=True), run(process(V))
    )
    assert found.errors == ()
    assert found.program_differs
    assert "time limit" in found.program[0]


def test_a_crash_of_the_original() -> None:
    crash = run(process(V, end=None, status=-11), name="before")
    assert "signal 11" in errors(crash, run(process(V)))[0]


def test_a_crash_of_the_migrated_program() -> None:
    found = report(plan(site(1), site(2)), process(V, hit(scalar(1), s=2)), process(V, end=None, status=-6))
    assert [j.verdict for j in found.judgements] == [EQUIVALENT, NOT_REACHED]
    assert found.program_differs
    assert "signal 6" in found.program[0]


def test_nothing_recorded_or_not_started() -> None:
    empty = Run("before", (ProcessRun(0, 1, (), stderr="x\nNo module named jax\n"),))
    assert "No module named jax" in errors(empty, run(process(V)))[0]
    begun = Run("before", (ProcessRun(0, 1, (LEGACY,), stderr="ImportError: numpy"),))
    assert "before any of its code ran: ImportError: numpy" in errors(begun, run(process(V)))[0]
    assert "could not be started: no python" in errors(run(name="before", error="no python"), run(process(V)))[0]
    assert "did not run" in errors(run(name="before"), run(process(V)))[0]


def test_pytest_that_cannot_collect() -> None:
    start = START | {"program": "pytest"}
    bad = ProcessRun(0, 2, (start, END | {"status": 2}))
    assert "could not collect" in errors(run(bad, name="before"), run(process(V)))[0]


def test_all_tests_of_the_original_fail() -> None:
    bad = process(of_test("t.py::a", "failed", error("AttributeError")), end=END | {"status": 1}, status=1)
    assert "all 1 tests fail" in errors(run(bad, name="before"), run(process(V, of_test("t.py::a", "passed"))))[0]


def test_os_exit_is_judged_by_what_was_recorded() -> None:
    left = process(V, end=None, status=0)
    found = report(plan(site()), left, left)
    assert [j.verdict for j in found.judgements] == [EQUIVALENT]
    assert any("os._exit" in note for note in found.notes)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("AttributeError", "module 'jax' has no attribute 'gone'"),
        ("AttributeError", "jax.core.gone was removed in JAX v0.4.36"),
        ("ImportError", "cannot import name 'gone' from 'jax.interpreters.xla' (/lib/jax/interpreters/xla.py)"),
        ("ModuleNotFoundError", "No module named 'jax.experimental.gone'"),
    ],
)
def test_what_jax_has_no_more_and_no_edit_touches(family: str, message: str) -> None:
    before, after = process(V, out="x\n"), process(V, end=failed(family, message))
    said = f"end: the migrated program ends with {family}: {message}: no codemod covers it yet"
    found = report(plan(site()), before, after)
    assert found.program[0] == said
    assert found.program_differs
    assert "no single edit" not in render(found)
    for named in (plan(site(texts=("gone(x)", "new(x)"))), plan(site(texts=("old(x)", "jax.gone(x)")))):
        assert report(named, before, after).program[0].startswith("end: the original ends with status 0, the migrated")
    assert said not in report(plan(site()), before, after, command="jaxmigrate verify --edit 1 m.py").program
    mine = process(V, end=failed("AttributeError", "module 'mine' has no attribute 'gone'"))
    assert not any("no codemod" in text for text in report(plan(site()), before, mine).program)
    assert "no single edit" in render(report(plan(site()), before, mine))
    test = [
        process(V, of_test("t::a", *o), of_test("t::b", "passed"))
        for o in [("passed",), ("failed", error(family, message=message))]
    ]
    assert report(plan(site()), *test).program[0].endswith(" after: no codemod covers it yet")


# Several processes


def both(records: Callable[[int], list[Record]], name: str = "after") -> Run:
    return run(*(process(*records(p), number=p) for p in range(2)), name=name)


def test_one_judgement_over_all_processes() -> None:
    good = both(lambda p: [hit(array(X + p))])
    bad = both(lambda p: [hit(array(X + 2 * p))])
    assert judge(plan(site()), good, good, good).judgements[0].verdict is EQUIVALENT
    (found,) = judge(plan(site()), good, bad, bad).judgements
    assert (found.verdict, found.process) == (DIFFERENT, 1)
    assert found.evidence[0].startswith("process 1, evaluation 1: ")


GLOO = {
    "e": "end",
    "status": 1,
    "x": error("RuntimeError", "JaxRuntimeError", "Gloo context initialization failed: DEADLINE_EXCEEDED"),
}
DIES = failed("RuntimeError", "peer dies")


def ends(first: Record | None, second: Record | None, *records: Record, name: str = "after", **fields: Any) -> Run:
    pair = (process(*records, number=n, end=end, **fields) for n, end in enumerate((first, second)))
    return run(*pair, name=name)


@pytest.mark.parametrize(
    ("waited", "fields"),
    [(GLOO, {}), (None, {"status": None}), (None, {"status": -6, "err": "the JAX distributed service detected fatal errors"})],
)
def test_the_process_that_died_of_its_own_is_named(waited: Record | None, fields: Record) -> None:
    before = ends(waited, DIES, name="before", **fields)
    (found,) = errors(before, ends(failed("ValueError"), DIES))
    assert found == "both versions fail before any edited expression was evaluated: process 1 with RuntimeError: peer dies"
    (found,) = errors(before, ends(END, END, V))
    assert found.endswith("process 1 with RuntimeError: peer dies")
    before, after = ends(waited, DIES, V, name="before", **fields), ends(waited, DIES, V, **fields)
    good = judge(plan(site()), before, after, after)
    assert good.program == ("process 1, end: both versions end with RuntimeError: peer dies",)
    assert not good.program_differs
    fine = ends(END, END, V, hit(scalar(1), s=2), name="before")
    late = judge(plan(site(), site(2)), fine, after, after)
    assert [text for text in late.program if ", end: " in text] == [
        "process 1, end: the original ends with status 0, the migrated program fails: RuntimeError: peer dies"
    ]
    assert late.judgements[1].evidence[0].endswith("which had ended before: RuntimeError: peer dies")


def test_a_process_that_waits_where_nobody_died_fails_itself() -> None:
    fine, bad = ends(END, END, V, name="before"), ends(GLOO, END, V)
    found = judge(plan(site()), fine, bad, bad)
    assert found.program_differs
    assert "Gloo" in found.program[0]
    both = ends(END, DIES, V, name="before"), ends(GLOO, DIES, V)
    assert judge(plan(site()), both[0], both[1], both[1]).program_differs


def test_what_all_processes_show_is_said_once() -> None:
    good, bad = both(lambda p: [V, final(x=scalar(1))]), both(lambda p: [V, final(x=scalar(2))])
    assert judge(plan(site()), good, bad, bad).program == ("both processes, final value of x: value 1 before, 2 after",)
    bad = both(lambda p: [V, final(x=scalar(1 + p))])
    assert judge(plan(site()), good, bad, bad).program == ("process 1, final value of x: value 1 before, 2 after",)


def hazard(kind: str, key: str, value: object) -> Record:
    return {"e": "hazard", "kind": kind, "key": key, "v": value}


def test_replicated_inputs_that_differ_come_first_by_name() -> None:
    same = both(lambda p: [V, hazard("replicated-input", "argument 0 of step", "abc")])
    assert judge(plan(site()), same, same, same).hazards == ()
    unlike = both(lambda p: [V, hazard("replicated-input", "argument 0 of step", p)])
    (found,) = judge(plan(site()), unlike, same, same).hazards
    assert found.startswith("replicated-input: argument 0 of step differs between processes 0 and 1")


def test_a_mesh_that_is_not_contiguous_is_named() -> None:
    odd = both(lambda p: [V, hazard("non-contiguous-mesh", "mesh (x=4, y=2)", f"of process {p}")])
    named = "non-contiguous-mesh: mesh (x=4, y=2) (of process 0; of process 1)"
    assert judge(plan(site()), odd, odd, odd).hazards == (named,)


# What counts, and notes


def test_edits_in_files_that_are_never_loaded() -> None:
    other = Plan((), (*plan(site()).edits, Edit(2, "unused.py", 1, 0, "", "", "", "", (2,))))
    sites = (site(), Site(2, "unused.py", Kind.VALUE, Span(1, 0, 1, 3), Span(1, 0, 1, 3)))
    both_files = Plan(sites, other.edits)
    assert verdicts(both_files, process(V), process(V)) == [EQUIVALENT, NOT_REACHED]
    found = report(both_files, process(V), process(V), scope=frozenset({"m.py"}))
    assert [j.edit.id for j in found.judgements] == [1]
    assert "1 edit in 1 file that this program does not load is not counted: unused.py" in found.notes
    assert verdicts(both_files, process(V), process(V), scope=frozenset({"unused.py"})) == [EQUIVALENT, NOT_REACHED]


def test_notes_name_versions_devices_and_tolerances() -> None:
    backend = {"e": "backend", "platform": "cpu", "devices": 8, "local": 8}
    before = ProcessRun(0, 0, (LEGACY, INSTALLED, V, backend, END))
    found = report(plan(site()), before, process(V, backend | {"devices": 4}))
    text = "\n".join(found.notes)
    assert "the original ran on JAX 0.4.6 emulated on Python 3.12, JAX 0.12.0" in text
    assert "the original had 8 simulated CPU devices, the migrated program 4 simulated CPU devices" in text
    assert "float32 1e-05/1e-06; everything else" in text
    assert "everything was compared exactly" in report(plan(site()), process(hit(scalar(1))), process(hit(scalar(1)))).notes


def test_what_launching_says_is_said_of_the_program() -> None:
    noted = run(process(V), name="before", notes=("process 1 ended with status 3",))
    assert judge(plan(site()), noted, run(process(V)), run(process(V))).program == ("process 1 ended with status 3",)


def test_host_local_views_differ_where_the_program_sees_them() -> None:
    old, new = array(X, 8, local=[4, 2]), array(X, 8)
    assert verdicts(plan(site()), process(hit(old)), process(hit(new))) == [DIFFERENT]
    gives = hit(opaque("jit"))
    found = only(plan(site()), process(gives, call(old)), process(gives, call(new)))
    assert found.verdict is EQUIVALENT
    assert any("host-local" in line for line in found.evidence)


def test_a_call_that_was_refused_before_it_was_made() -> None:
    two = plan(site(1), site(2))
    gives, refused = hit(opaque("jit")), raised("ValueError", s=2)
    before = process(gives, raised("ValueError", of="call"), refused, call(array(X), 2))
    after = process(gives, refused, call(array(X)))
    early = process(gives, raised("ValueError", of="call"), refused)
    assert verdicts(two, early, process(gives, refused)) == [EQUIVALENT, EQUIVALENT]
    assert verdicts(two, before, after)[0] is DIFFERENT
    assert verdicts(two, process(gives, raised("TypeError", of="call"), refused), process(gives, refused))[0] is DIFFERENT


@pytest.mark.parametrize("source", ["assert new(x)", "x = 1 if new(x) else 2", "while y and new(x):\n    pass", "z = not new(x)"])
def test_where_only_the_truth_counts(source: str) -> None:
    start = source.index("new(x)")
    tested = Site(1, "m.py", Kind.VALUE, Span(1, 0, 1, 6), Span(1, start, 1, start + 6), "old(x)", "new(x)")
    judged = plan(tested, source=source.encode())
    assert verdicts(judged, process(hit(scalar(True))), process(hit(scalar(8)))) == [EQUIVALENT]
    assert verdicts(judged, process(hit(scalar(True))), process(hit(scalar(0)))) == [DIFFERENT]
    assert verdicts(plan(tested, source=b"f(new(x))"), process(hit(scalar(True))), process(hit(scalar(8)))) == [DIFFERENT]


def test_samples_are_mentioned() -> None:
    large = np.linspace(1, 2, 5000, dtype=np.float32)
    found = only(plan(site()), process(hit(ndarray(large))), process(hit(ndarray(large * np.float32(1.0000002)))))
    assert "1 large array compared by samples" in found.evidence


def test_sequences_of_shards_name_the_part_that_differs() -> None:
    found = only(plan(site()), process(hit(seq(scalar(1), scalar(2)))), process(hit(seq(scalar(1), scalar(3)))))
    assert [d.where for d in found.differences] == ["[1]"]
