"""Run by another Python: whether the places in a file of JSON are nodes of the texts that they are in."""

import ast
import json
import sys


def is_expression(tree, span):
    """Whether one expression, or the definition of a function, lies exactly there."""
    kinds = (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        isinstance(node, kinds) and [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset] == span
        for node in ast.walk(tree)
    )


def is_run(tree, span):
    """Whether statements of one block begin and end there."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            first = [n for n, s in enumerate(block) if [s.lineno, s.col_offset] == span[:2]]
            last = [n for n, s in enumerate(block) if [s.end_lineno, s.end_col_offset] == span[2:]]
            if first and last and first[0] <= last[-1]:
                return True
    return False


def main(path):
    """Print how many places there are and how many are wrong, and those."""
    with open(path, encoding="utf-8") as file:
        places = json.load(file)
    trees = {}
    wrong = []
    for text, kind, span in places:
        tree = trees.get(text)
        if tree is None:
            tree = trees[text] = ast.parse(text)
        if not (is_run if kind == "statement" else is_expression)(tree, span):
            wrong.append((kind, span, text.split("\n")[span[0] - 1]))
    print("%d places, %d wrong" % (len(places), len(wrong)))  # noqa: UP031
    for kind, span, line in wrong:
        print(kind, span, line)


main(sys.argv[1])
