"""What kind of text a body is, and which layouts are read as tables."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_core.compactors import classify, parse

LOG = "\n".join(f"2024-01-01 12:00:{i:02d},{i:03d} INFO module: did {i} things, {i} more" for i in range(20))
SYSLOG = "\n".join(f"Jan  3 12:00:{i:02d} host sshd[{i}]: Accepted key for user{i}" for i in range(20))
ACCESS = "\n".join(f'10.0.0.{i} - - [10/Oct/2000:13:55:{i:02d} -0700] "GET /a HTTP/1.0" 200 {i}' for i in range(10, 20))
POEM = (
    "Roses are red, violets are blue\nSugar is sweet, and so are you\nOne more line, for the road\nThe end, my friend"
)
LETTER = "Dear all, thank you for coming, it was nice.\nWe met, we talked, we left.\nSee you, soon, then."
CITIES = "Austin, Texas\nBoston, Massachusetts\nDenver, Colorado\nParis, France"
JS = "let x = 1;\nlet y = f(2);\nlet z = {a: 3};\nreturn x;"
PYTHON = "def f(a, b):\n    return a, b\n\nprint(f(1, 2), end='')\n"
MAKE = "\tcc -c a.c\n\tcc -c b.c\n\tcc -o x a.o b.o\n"
DUPLICATE = '[{"a": 1, "a": 2}, {"a": 3}]'
PAGED = "     a\n0    0\n1    1\n..  ..\n98  98\n99  99\n\n[100 rows x 1 columns]"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "text"),
        ("   ", "text"),
        ("hello", "text"),
        ("{}", "json"),
        ("[]", "json"),
        ("12", "text"),
        ('"a"', "text"),
        ('{"a": {"b": [1, 2]}}', "json"),
        ('[{"a": 1}]', "json"),
        ('[{"a": 1}, {"a": 2}]', "table"),
        ('[{"a": 1}, {"b": 2}, {"c": 3}]', "json"),
        ('{"rows": [{"a": 1}, {"a": 2}], "total": 9}', "table"),
        ('{"a": [{"x": 1}, {"x": 2}], "b": [1]}', "json"),
        (DUPLICATE, "table"),
        ("[" * 50_000 + "]" * 50_000, "text"),
        ('{"a": 1', "text"),
        (LOG, "log"),
        (SYSLOG, "log"),
        (ACCESS, "log"),
        (POEM, "text"),
        (LETTER, "text"),
        (CITIES, "text"),
        (JS, "text"),
        (PYTHON, "text"),
        (MAKE, "text"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    """A13, B1: JSON, records and logs are recognised; prose, verse and code with separators aren't tables."""
    assert classify(text) == kind


@pytest.mark.parametrize(
    ("text", "columns", "rows", "layout"),
    [
        ("a,b\n1,x\n2,\n", ("a", "b"), [["1", "x"], ["2", None]], "csv"),
        ('\ufeffa,b\r\n1,"x\r\ny"\r\n2,z\r\n', ("a", "b"), [["1", "x\r\ny"], ["2", "z"]], "csv"),
        ("a,b\r1,x\r2,y\r", ("a", "b"), [["1", "x"], ["2", "y"]], "csv"),
        ("a,,a\n1,2,3\n4,5,6\n", ("a", "c2", "a_2"), [["1", "2", "3"], ["4", "5", "6"]], "csv"),
        ("a;b\nx;1,5\ny;2,25\n", ("a", "b"), [["x", "1,5"], ["y", "2,25"]], "semicolon"),
        ("a|b\nx|1\ny|2\n", ("a", "b"), [["x", "1"], ["y", "2"]], "pipe"),
        ("a\tb\nx y\t1\nz\t\n", ("a", "b"), [["x y", "1"], ["z", None]], "tsv"),
        ("TITLE,,\na,b,c\n1,2,3\n4,5,6\n", ("a", "b", "c"), [["1", "2", "3"], ["4", "5", "6"]], "csv"),
        (
            "Country,2010,2011\nFrance,1,2\nSpain,3,4\n",
            ("Country", "2010", "2011"),
            [["France", "1", "2"], ["Spain", "3", "4"]],
            "csv",
        ),
        (
            "Ann,23,45\nBob,31,50\nCy,1,2\n",
            ("c1", "c2", "c3"),
            [["Ann", "23", "45"], ["Bob", "31", "50"], ["Cy", "1", "2"]],
            "csv",
        ),
        (
            "Here:\n\n| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| 2 |  |\n\nDone.",
            ("a", "b"),
            [["1", "x|y"], ["2", None]],
            "markdown",
        ),
        (
            " id | name \n----+------\n  1 | Ann\n  2 | \n(2 rows)\n",
            ("id", "name"),
            [["1", "Ann"], ["2", None]],
            "grid",
        ),
        ("+--+--+\n|id|n |\n+--+--+\n| 1|NULL|\n| 2|x |\n+--+--+\n", ("id", "n"), [["1", None], ["2", "x"]], "grid"),
        (
            "[('a', 1, None), (\"it's\", -2.50, True)]",
            ("c1", "c2", "c3"),
            [["a", "1", None], ["it's", "-2.50", "true"]],
            "tuples",
        ),
        (
            "[(datetime.date(2024, 1, 5), Decimal('1.20')), (None, Decimal('3'))]",
            ("c1", "c2"),
            [["2024-01-05", "1.20"], [None, "3"]],
            "tuples",
        ),
        ('{"a":1.50,"b":"x"}\n{"a":2,"b":null}\n', ("a", "b"), [["1.50", "x"], ["2", None]], "jsonl"),
        (
            '[{"a":1,"p":{"x":1,"y":""}},{"a":2,"p":null}]',
            ("a", "p.x", "p.y"),
            [["1", "1", ""], ["2", None, None]],
            "json",
        ),
        ('{"columns":["a","b"],"data":[[1,2],[3,null]]}', ("a", "b"), [["1", "2"], ["3", None]], "json"),
        (
            "    name    n\n0    Ann  1.5\n1  B. Li  NaN\n2     Cy  2.0",
            ("name", "n"),
            [["Ann", "1.5"], ["B. Li", None], ["Cy", "2.0"]],
            "fixed",
        ),
        (
            "       n\ncity    \nRome   1\nOslo   2\nBonn   3",
            ("city", "n"),
            [["Rome", "1"], ["Oslo", "2"], ["Bonn", "3"]],
            "fixed",
        ),
        (
            "     n                when long city\n0  1.5 2024-01-01 09:00:00  New York\n"
            "1  2.0 2024-02-01 10:00:00      Rome\n2  NaN                 NaT     Paris",
            ("n", "when", "long city"),
            [["1.5", "2024-01-01 09:00:00", "New York"], ["2.0", "2024-02-01 10:00:00", "Rome"], [None, None, "Paris"]],
            "fixed",
        ),
    ],
)
def test_layouts(text: str, columns: tuple[str, ...], rows: list[list[str | None]], layout: str) -> None:
    """A13: the common layouts of tables are read with their nulls, quotes, titles and missing headers."""
    table = parse(text)
    assert table is not None
    assert classify(text) == "table"
    assert (table.columns, [list(row) for row in table.rows], table.source_format) == (columns, rows, layout)


@pytest.mark.parametrize(
    "text", [POEM, LETTER, CITIES, JS, PYTHON, MAKE, DUPLICATE, PAGED, LOG, ACCESS, "", "a,b", "x" * 999]
)
def test_doubtful_texts_are_no_tables(text: str) -> None:
    """A13: what can't be read with confidence isn't a table, a display that left rows out itself included."""
    assert parse(text) is None


def test_ragged_rows() -> None:
    """A13: short rows are levelled while they are few; a row that is too long, or many short ones, make it no table."""
    few = "a,b,c\n1,2\n" + "7,8,9\n" * 30
    table = parse(few)
    assert table is not None
    assert (table.columns, table.short) == (("a", "b", "c"), 1)
    assert [list(row) for row in table.rows[:2]] == [["1", "2", None], ["7", "8", "9"]]
    assert parse(few + "3,4,5,6\n") is None
    assert parse("a,b,c\n" + "1,2\n3,4,5,6\n7,8,9\n" * 10) is None
    late = "a,b,c\n" + "7,8,9\n" * 15_000
    assert parse(late + "1,2\n" * 5_000) is not None
    assert parse(late + "1,2\n" * 9_000 + "7,8,9\n") is None


def test_caption_is_kept() -> None:
    """A13: lines around a table and values beside it are its caption."""
    table = parse('{"total": 9, "next": null, "rows": [{"a": 1}, {"a": 2}]}')
    assert table is not None
    assert table.caption == ("total: 9", "next: null")
    drawn = parse("Result:\n\na,b\n1,2\n3,4\n5,6\n")
    assert drawn is not None
    assert drawn.caption == ("Result:",)


def test_json_numbers_keep_their_digits() -> None:
    """A13: numbers of JSON records aren't turned into floats."""
    table = parse(json.dumps([{"n": 1}, {"n": 2}]).replace("1", "1.10").replace("2", "12345678901234567890.5"))
    assert table is not None
    assert [row[0] for row in table.rows] == ["1.10", "12345678901234567890.5"]


sentence = st.lists(
    st.sampled_from("we met, then left; so it was | fine and, well, good".split()), min_size=3, max_size=14
)


@given(st.lists(sentence.map(" ".join), min_size=1, max_size=12))
def test_prose_is_no_comma_table(lines: list[str]) -> None:
    """A13: sentences aren't read as CSV, however many commas they have."""
    table = parse("\n".join(lines))
    assert table is None or table.source_format == "pipe"


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_has_a_kind(text: str) -> None:
    """B1: every text has a kind and can be asked for its table."""
    assert classify(text) in ("table", "json", "log", "text")
    table = parse(text)
    assert table is None or all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[(" + "1," * 200_000,
        "[('" + "\\'" * 200_000,
        "a|b\n" + "- " * 200_000 + "|-x",
        "," * 500_000,
        'a,b\n"' + "x,y\n" * 100_000,
        "a b  c\n" * 50_000,
        ("a " * 1_900 + "\n") * 400,
        ("1 2a " * 700 + "\n") * 400,
        " " * 500_000,
        "-" * 500_000,
        "<" + "(1, " * 100_000,
    ],
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    """A2: no text makes reading slower than linear."""
    import time

    start = time.perf_counter()
    classify(text)
    parse(text)
    assert time.perf_counter() - start < 5
