"""Sync and async differ by `await` alone."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from tiered_core import MemoryStore, TieredContext, drive
from tiered_core.stores.protocol import ConversationStore

NAMES = {"arun": "run", "_arun": "_run", "aentered": "entered", "aclose": "close"}


class _Sync(ast.NodeTransformer):
    """Turns the body of an async twin into what its synchronous twin must be."""

    def visit_Await(self, node: ast.Await) -> ast.AST:
        return self.visit(node.value)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        self.generic_visit(node)
        return ast.With(items=node.items, body=node.body)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return ast.Attribute(value=node.value, attr=NAMES.get(node.attr, node.attr), ctx=node.ctx)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(id=NAMES.get(node.id, node.id), ctx=node.ctx)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.left, ast.Constant) and node.left.value == "a":
            return self.visit(node.right)
        return node


def body(function: object, sync: bool) -> str:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]  # type: ignore[arg-type]
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    statements = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if sync:
        statements = [_Sync().visit(s) for s in statements]
    return "\n".join(ast.dump(s) for s in statements)


def twins(owner: type) -> list[str]:
    names = {n for n, f in vars(owner).items() if inspect.isfunction(f)}
    return sorted(n for n in names if n.startswith("a") and n[1:] in names)


@pytest.mark.parametrize("name", twins(TieredContext))
def test_context_twins(name: str) -> None:
    """Each async method of the context has the body of its synchronous twin but for `await`."""
    assert body(getattr(TieredContext, name), True) == body(getattr(TieredContext, name[1:]), False)


def test_drivers() -> None:
    """The two drivers differ by `await` and the name of the store's method."""
    assert body(drive.arun, True) == body(drive.run, False)


def test_every_operation_has_a_twin() -> None:
    """What waits for a store exists in both forms, in the context and in the store Protocol."""
    waits = {"add", "replace", "view", "transcript", "recall", "report", "events", "state", "explain", "export",
             "restore", "clear", "close"}  # fmt: skip
    assert {f"a{n}" for n in waits} <= set(twins(TieredContext))
    methods = {n for n, f in vars(ConversationStore).items() if inspect.isfunction(f) and not n.startswith("_")}
    sync = {n for n in methods if f"a{n}" in methods}
    assert {f"a{n}" for n in sync} == methods - sync
    assert all(hasattr(MemoryStore, n) for n in methods)
