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
    line : int
    change : str
        What it is, in words.
    source : str
        Of the whole module, changed.
    """

    line: int
    change: str
    source: str


def mutants(source):
    """All mutants of a module's source, in the order of its lines."""
    tree = ast.parse(source)
    count = len(_places(tree))
    made = []
    for i in range(count):
        changed = copy.deepcopy(tree)
        node, change = _places(changed)[i]
        words = change(node)
        made.append(Mutant(node.lineno, words, ast.unparse(ast.fix_missing_locations(changed))))
    return made


def _places(tree):
    """(node, change) pairs; messages, annotations and docstrings are left alone."""
    found = []
    skipped = {id(inner) for node in ast.walk(tree) for part in _left_alone(node) for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) not in skipped:
            found += [(node, change) for change in _changes(node)]
    return sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def _left_alone(node):
    """Parts of a node in which a change is no error, or one of types alone."""
    if isinstance(node, ast.Raise):
        return [node]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return [part for part in (node.returns, *(one.annotation for one in arguments), *node.decorator_list) if part]
    if isinstance(node, ast.AnnAssign):
        return [node.annotation]
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
