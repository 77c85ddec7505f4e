"""Texts of every class for which tokens are estimated: from the standard library, made up by rule, or written here."""

from __future__ import annotations

import base64
import csv
import importlib.util
import io
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

CLASSES = ("prose", "code", "json", "csv", "table", "log", "cjk", "base64")
_CODE = "argparse ast asyncio.events csv datetime difflib email.message enum http.client json.decoder logging typing"
_CJK = (
    "上个季度的销售数据显示，华东地区的收入比去年同期增长了百分之十二。",
    "请把每个产品类别的平均价格按月份列出来，然后画一张折线图。",
    "数据库里有三百二十万条记录，其中大约百分之五缺少客户编号。",
    "我们需要先清洗这张表，再检查日期列的格式是否一致。",
    "如果查询结果太大，就只显示前二十行，并说明总行数。",
    "昨天的会议讨论了预算、人员安排以及下一阶段的开发计划。",
    "这个模型在测试集上的准确率不高，可能是因为训练样本太少。",
    "天气预报说明天下午有雨，所以我们把活动改到了星期天上午。",
    "先月の売上データを地域ごとに集計して、表にまとめてください。",
    "このファイルには日付と顧客名、それから注文の金額が入っています。",
    "欠損値が多い列は、分析の前に取り除いたほうがよいと思います。",
    "会議は来週の火曜日に変更されましたので、ご確認をお願いします。",
    "グラフを見ると、夏の間は利用者の数が大きく増えていることがわかります。",
    "検索結果が多すぎる場合は、条件をもう少し絞り込んでみましょう。",
    "지난 분기의 매출은 지역별로 큰 차이를 보였습니다.",
    "고객 번호가 없는 기록은 먼저 제거하고 나서 평균을 계산해 주세요.",
    "이 표에는 날짜와 상품 이름, 그리고 판매 금액이 들어 있습니다.",
    "내일 회의에서 다음 달 개발 계획을 함께 검토할 예정입니다.",
)
_NAMES = (
    "revenue order_id customer region unit_price created_at status discount category quantity email is_active".split()
)
_WORDS = (
    "North South Laptop Phone Desk Chair pending shipped returned Anna Boris Chen retail online Berlin Tokyo".split()
)
_LOG_WORDS = "connection timeout for user request cache worker retry upstream failed ok started payload session".split()


def samples(name: str, number: int, seed: int = 0) -> Iterator[str]:
    """So many texts of a class, from 100 to 6,000 characters; the same ones for the same seed."""
    rng = random.Random(f"{name}-{seed}")
    make = {
        "prose": _prose, "code": _code, "json": _json, "csv": _csv, "table": _table, "log": _log, "cjk": _cjk,
        "base64": _base64,
    }[name]  # fmt: skip
    for _ in range(number):
        yield make(rng, int(10 ** rng.uniform(2, 3.8)))


def _window(text: str, rng: random.Random, size: int) -> str:
    start = rng.randrange(max(1, len(text) - size))
    start = text.find("\n", start) + 1 if start else 0
    return text[start : start + size] or text[:size]


def _prose(rng: random.Random, size: int) -> str:
    # The language reference, without its program examples.
    text = topics.topics[rng.choice(sorted(topics.topics))]
    paragraphs = [p for p in text.split("\n\n") if not p.startswith("   ") and not re.search(r"::=|[=*-]{4}", p)]
    return _window("\n\n".join(paragraphs), rng, size) or text[:size]


def _code(rng: random.Random, size: int) -> str:
    spec = importlib.util.find_spec(rng.choice(_CODE.split()))
    assert spec is not None
    assert spec.origin is not None
    return _window(Path(spec.origin).read_text(encoding="utf-8"), rng, size)


def _records(rng: random.Random, size: int) -> list[dict[str, object]]:
    names = rng.sample(_NAMES, rng.randrange(3, 9))
    kinds = [rng.randrange(6) for _ in names]
    make = (
        lambda: rng.randrange(100_000), lambda: round(rng.random() * 10_000, 2), lambda: rng.choice(_WORDS),
        lambda: f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
        lambda: rng.random() < 0.5,
        lambda: f"{rng.choice(_WORDS)} {rng.choice(_WORDS)}".lower(),
    )  # fmt: skip
    rows = max(2, size // (14 * len(names)))
    return [{name: make[kind]() for name, kind in zip(names, kinds, strict=True)} for _ in range(rows)]


def _json(rng: random.Random, size: int) -> str:
    records = _records(rng, size)
    form = rng.randrange(4)
    if form == 0:
        return "\n".join(map(json.dumps, records))
    data: object = {"rows": records, "total": len(records)} if rng.random() < 0.3 else records
    return json.dumps(data, indent=2 if form == 1 else None, separators=(",", ":") if form == 2 else None)


def _csv(rng: random.Random, size: int) -> str:
    records, file = _records(rng, size), io.StringIO()
    writer = csv.DictWriter(file, records[0], delimiter=rng.choice(",,,;\t"), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


def _table(rng: random.Random, size: int) -> str:
    records = _records(rng, size)
    cells = [list(records[0]), *([str(value) for value in record.values()] for record in records)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    form = rng.randrange(3)
    if form == 0:
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([lines[0], "|" + "---|" * len(widths), *lines[1:]])
    rows = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells]
    if form == 1:
        return "\n".join("  ".join(row) for row in rows)
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    return "\n".join([rule, *("| " + " | ".join(row) + " |" for row in rows), rule])


def _log(rng: random.Random, size: int) -> str:
    form, lines, seconds = rng.randrange(4), [], rng.randrange(80_000)
    while sum(map(len, lines)) < size:
        seconds += rng.randrange(9)
        clock = f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        words = " ".join(rng.choices(_LOG_WORDS, k=rng.randrange(3, 9)))
        level, number = rng.choice(("INFO", "WARN", "ERROR", "DEBUG")), rng.randrange(10_000)
        address = ".".join(str(rng.randrange(256)) for _ in range(4))
        lines.append(
            (
                f"2024-05-03T{clock}.{number % 1000:03d}Z {level} [worker-{number % 8}] {words} took={number}ms",
                f'{address} - - [03/May/2024:{clock} +0000] "GET /api/{level}/{number} HTTP/1.1" 200 {number}',
                f"May  3 {clock} host sshd[{number}]: {words} from {address} port {number}",
                f'{{"ts":"2024-05-03T{clock}Z","level":"{level.lower()}","msg":"{words}","user":{number}}}',
            )[form]
        )
    return "\n".join(lines)


def _cjk(rng: random.Random, size: int) -> str:
    part = rng.choice((_CJK[:8], _CJK[8:14], _CJK[14:]))
    return "".join(rng.choice(part) + rng.choice(("", "", "\n")) for _ in range(max(2, size // 60)))


def _base64(rng: random.Random, size: int) -> str:
    raw = rng.randbytes(size * 3 // 4)
    return base64.b64encode(raw).decode() if rng.random() < 0.7 else base64.encodebytes(raw).decode()
