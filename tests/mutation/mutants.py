"""Small wrong changes to a module's source: one at a time, each a place where a test ought to object."""

import ast
import copy
from dataclasses import dataclass

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATIONS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "all": "any", "any": "all"}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes
    ----------
    line, column : int
    change : str
        What it is, in words.
    index : int
        Among all of the module's.
    lines : range
        Of the statement: a test that reaches none of them cannot notice.
    at_import : bool
        Whether the statement runs when the module is imported, and not when a function of it is called.
    """

    line: int
    column: int
    change: str
    index: int
    lines: range
    at_import: bool


def mutants(source):
    """All mutants of a module's source, in the order of its lines."""
    tree = ast.parse(source)
    homes = dict(_homes(tree))
    made = []
    for i, (node, change) in enumerate(_places(tree)):
        statement, at_import = homes[id(node)]
        words = f"{change(copy.deepcopy(node))} in {ast.unparse(node)[:60]}"
        made.append(Mutant(node.lineno, node.col_offset, words, i, _lines(statement), at_import))
    return made


def changed(source, index):
    """The syntax tree of a module with one of its mutants in it; line numbers are as before."""
    tree = ast.parse(source)
    node, change = _places(tree)[index]
    change(node)
    return ast.fix_missing_locations(tree)


def _homes(tree, statement=None, at_import=True):
    """(id of node, (its statement, whether that runs at import)) pairs."""
    for name, field in ast.iter_fields(tree):
        called = isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) and name == "body"
        for node in field if isinstance(field, list) else [field]:
            if isinstance(node, ast.AST):
                home = node if isinstance(node, ast.stmt) else statement
                yield id(node), (home, at_import and not called)
                yield from _homes(node, home, at_import and not called)


def _lines(statement):
    """Those of a statement; of one that holds others, those of its head."""
    body = getattr(statement, "body", None)
    return range(statement.lineno, max(body[0].lineno, statement.lineno + 1) if body else statement.end_lineno + 1)


def _places(tree):
    """(node, change) pairs; messages, annotations and docstrings are left alone."""
    found = []
    skipped = {id(inner) for node in ast.walk(tree) for part in _left_alone(node) for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) not in skipped:
            found += [(node, change) for change in _changes(node)]
    return sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def _left_alone(node):
    """Parts of a node in which a change is no error, or one of types or of words alone."""
    if isinstance(node, ast.Raise):
        return [node]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return [part for part in (node.returns, *(one.annotation for one in arguments), *node.decorator_list) if part]
    if isinstance(node, ast.ClassDef):  # whether it is frozen
        return node.decorator_list
    if isinstance(node, ast.AnnAssign):
        return [node.annotation]
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        # `strict` is a check of our own, which never fires
        return (
            [node] if called == "warnings.warn" else [k for k in node.keywords if (called, k.arg) == ("zip", "strict")]
        )
    return [node] if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)) else []


def _changes(node):
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield _swap_comparison
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _OPERATIONS:
        yield _swap_operation
    elif isinstance(node, ast.BoolOp):
        yield _swap_connective
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield _drop_sign
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        yield _move_constant
    elif isinstance(node, (ast.Name, ast.Attribute)) and _name_of(node) in _NAMES:
        yield _swap_name


def _name_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr


def _swap_comparison(node):
    old, node.ops[0] = node.ops[0], _COMPARISONS[type(node.ops[0])]()
    return f"{type(old).__name__} -> {type(node.ops[0]).__name__}"


def _swap_operation(node):
    old, node.op = node.op, _OPERATIONS[type(node.op)]()
    return f"{type(old).__name__} -> {type(node.op).__name__}"


def _swap_connective(node):
    old, node.op = node.op, (ast.Or if isinstance(node.op, ast.And) else ast.And)()
    return f"{type(old).__name__} -> {type(node.op).__name__}"


def _drop_sign(node):
    words = "not dropped" if isinstance(node.op, ast.Not) else "minus dropped"
    node.op = ast.UAdd()
    if words.startswith("not"):  # +x of a truth value is a number, of an array an error: compare instead
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    return words


def _move_constant(node):
    old = node.value
    node.value = not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else 2 * old + (old == 0)
    return f"{old!r} -> {node.value!r}"


def _swap_name(node):
    old = _name_of(node)
    if isinstance(node, ast.Name):
        node.id = _NAMES[old]
    else:
        node.attr = _NAMES[old]
    return f"{old} -> {_NAMES[old]}"
