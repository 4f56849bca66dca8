"""`python docs/generate.py`: writes the pages of settings, events, tools, metrics and languages from the code.

In: the settings classes, the contracts, the tables of tools and languages, the registered metrics. Out:
`docs/*.md`. The output depends on the code alone; a test compares it with the committed pages.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import prometheus_client
from faststream.nats.prometheus import NatsPrometheusMiddleware
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

import prism_contracts
from prism_atlas.adapters.metrics import BuildMetrics
from prism_chunker.core.languages.table import LANGUAGES, Language
from prism_chunker.core.parse import QUERIES
from prism_cli.config.known import PARTS, Part
from prism_contracts import events, names
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.base import Lane, Message
from prism_contracts.registry import AnyTopic, Stream
from prism_contracts.topics import ALL_TOPICS, STREAMS, topics_of
from prism_embedder.adapters.metrics import EmbeddingMetrics
from prism_gateway.accounting.audit import AuditMetrics
from prism_gateway.accounting.history import HistoryMetrics
from prism_gateway.accounting.usage import UsageMetrics
from prism_gateway.mcp.tool import AnyTool, Effect, Toolset
from prism_gateway.mcp.tool_metrics import ToolMetrics
from prism_gateway.mcp.toolsets import TOOLS
from prism_gateway.rates.limiter import LimitMetrics
from prism_gateway.traffic import HttpMetrics
from prism_gateway.webhooks.receiver import WebhookMetrics
from prism_ingest.adapters.metrics import (
    DeadLetterMetrics,
    GitMetrics,
    JobMetrics,
    LayerMetrics,
    LeaseMetrics,
    PollMetrics,
    PushMetrics,
    QueueMetrics,
)
from prism_ingest.adapters.scip import ScipMetrics
from prism_qdrant_local.metrics import Metrics
from prism_qdrant_local.store import Store
from prism_runtime.metrics import ConnectionMetrics, DiskMetrics, ReadyMetrics, ReleaseMetrics, RpcMetrics
from prism_runtime.settings import ServiceSettings
from prism_scribe.adapters.model_metrics import ModelMetrics
from prism_search.adapters.answers import AnswerMetrics
from prism_search.adapters.metrics import QueryEmbeddingMetrics, SearchMetrics
from prism_search.adapters.reranker import RerankerMetrics
from prism_store.metrics import StoreMetrics

FOLDER = Path(__file__).resolve().parent
EXAMPLES = Path(prism_contracts.__file__).with_name("examples")
HEAD = "<!-- Written by `make docs` from the code. Change the code, then run it again. -->\n\n"
EXAMPLE_CHARS_MAX = 200  # longer strings of examples are cut: packed lists, vectors


def pages() -> dict[str, str]:
    """Returns every page by its file name."""
    return {
        "settings.md": HEAD + settings_page(),
        "events.md": HEAD + events_page(),
        "tools.md": HEAD + tools_page(),
        "metrics.md": HEAD + metrics_page(),
        "languages.md": HEAD + languages_page(),
    }


# Settings.

SETTINGS_HEAD = """# Settings

Each process reads its settings once, at start, and does not start with an invalid value. A value comes from its
variable, else from `prism.toml`, else it is the default. [Configure Prism](guides/configure.md) explains the
file, and `PRISM_…_FILE` for secrets.

`prism up` itself sets addresses, ports, keys and `PRISM_RUN_DIR`. `PRISM_CONFIG` is the path of `prism.toml`;
the default is the user's configuration folder.
"""


def settings_page() -> str:
    """Returns each settings class as a table."""
    return SETTINGS_HEAD + "".join(_settings_section(part) for part in PARTS)


def _settings_section(part: Part) -> str:
    settings = part.settings()
    inherited = set(ServiceSettings.variables()) if settings is not ServiceSettings else set()
    rows = [
        (f"`{variable}`", _default(field), _meaning(field))
        for variable, field in settings.variables().items()
        if variable not in inherited
    ]
    note = f"\n{part.note}\n" if part.note else ""
    return f"\n## {part.title}\n{note}\n{_table(('variable', 'default', 'meaning'), rows)}"


def _meaning(field: FieldInfo) -> str:
    bounds = [f"{mark} {value:g}" for mark, value in _bounds(field.metadata)]
    return f"{field.description} ({', '.join(bounds)})" if bounds else str(field.description)


def _bounds(metadata: Sequence[Any]) -> Iterator[tuple[str, float]]:
    for constraint in metadata:
        for name, mark in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
            if getattr(constraint, name, None) is not None:
                yield mark, getattr(constraint, name)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if isinstance(value, Path):  # inside this checkout, whose path differs by machine
        return f"`{value.relative_to(FOLDER.parent).as_posix()}`"
    if value in ("", None, ()) or isinstance(value, SecretStr):
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`"


# Events.

EVENTS_HEAD = """# Events and requests

Messages are JSON of the models in `libs/contracts`. Readers ignore unknown fields, so a field may be added
and is never renamed or reused. A body above {claim} KiB after compression is stored as a claim (an object),
and the message refers to it. Long strings of the examples are cut here; the full examples are in
`libs/contracts/prism_contracts/examples`, and a test compares them byte for byte.
"""


def events_page() -> str:
    """Returns the streams, each event with its fields and an example, and the requests."""
    shared = _fields(events.FileEvent, skip=()).rstrip("\n") + "\n"
    return "".join(
        [
            EVENTS_HEAD.format(claim=names.MESSAGE_BYTES_MAX // 1024),
            "\n## Streams\n\n",
            _table(("stream", "facts", "kept until", "limit"), [_stream_row(s) for s in STREAMS]),
            "\nA full work queue refuses messages, and its producers wait; the other streams drop their oldest messages.\n",
            f"Messages that failed for good go to `{names.DEAD_LETTERS}`, subject `prism.dead.<stream>.<consumer>`, for\n",
            f"{names.DEAD_LETTERS_MAX_AGE_S // 86_400} days, with headers `Prism-Subject`, `Prism-Consumer`, `Prism-Code`, ",
            "`Prism-Reason`\nand `Prism-Deliveries`.\n",
            f"\n## Every event about a file\n\n{_doc(events.FileEvent)}\n\n{shared}",
            *map(_topic_section, ALL_TOPICS),
            '\n## Requests\n\nA reply on the wire is `{"ok": …}` or `{"error": …}`; the copies of a service share its subjects.\n\n',
            _table(
                ("subject", "request", "reply", "does"),
                [
                    (
                        f"`{rpc.subject}`",
                        f"`{rpc.request.__name__}`",
                        f"`{rpc.reply.__name__}`",
                        _doc(rpc.request),
                    )
                    for rpc in ALL_RPCS
                ],
            ),
        ]
    )


def _stream_row(stream: Stream) -> tuple[str, ...]:
    facts = ", ".join(f"`{topic.fact}`" for topic in topics_of(stream))
    days = stream.max_age_s / 86_400
    until = f"acked, {days:g} days" if stream.work_queue else f"{days:g} day"
    return f"`{stream.name}`", facts, until, f"{stream.max_bytes // names.MIB} MiB"


def _topic_section(topic: AnyTopic) -> str:
    model = topic.event
    purpose, producer, consumer = _roles(model)
    shared = issubclass(model, events.FileEvent)
    fields = _fields(model, skip=events.FileEvent.model_fields if shared else ())
    subjects = ", ".join(f"`{topic.subject(lane)}`" for lane in Lane)
    also = "Also the fields of every event about a file.\n" if shared else ""
    return (
        f"\n## `{topic.fact}` — {model.__name__}\n\n{purpose}\n\n"
        f"From {producer}, to {consumer}, on {subjects}, in `{topic.stream.name}`.\n{also}\n"
        f"{fields}```json\n{_example(model)}\n```\n"
    )


def _roles(model: type[Message]) -> tuple[str, str, str]:
    found = re.fullmatch(
        r"(.*?)\s*Producer: (.*?)\. Consumers?: (.*)\.", inspect.getdoc(model) or "", re.DOTALL
    )
    if not found:
        raise ValueError(f"{model.__name__} does not name its producer and consumer")
    return found[1].strip(), found[2], found[3]


def _doc(model: type[Message]) -> str:
    return " ".join((inspect.getdoc(model) or "").split())


def _fields(model: type[Message], skip: Iterable[str]) -> str:
    source = {field.name: field for field in _source_fields(model)}
    rows = [
        (f"`{name}`", f"`{source[name].type}`", _field_default(field), source[name].comment or _values(field))
        for name, field in model.model_fields.items()
        if name not in skip
    ]
    return _table(("field", "type", "default", "meaning"), rows) + "\n" if rows else ""


def _field_default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    return "none set" if isinstance(field.default, Message) else f"`{json.dumps(field.default)}`"


def _values(field: FieldInfo) -> str:
    """Returns the values of an enumeration."""
    is_enum = isinstance(field.annotation, type) and issubclass(field.annotation, StrEnum)
    return ", ".join(cast("type[StrEnum]", field.annotation)) if is_enum else ""


class SourceField(NamedTuple):
    """A field as declared in the source: its type, and the comment after or above it."""

    name: str
    type: str
    comment: str


def _source_fields(model: type[Message]) -> Iterator[SourceField]:
    above: list[str] = []
    for line in inspect.getsource(model).splitlines():
        text = line.strip()
        if text.startswith("# "):
            above.append(text.removeprefix("# "))
            continue
        field = re.match(r"(\w+): ([^=#]+?)(?: = [^#]+?)?(?:  # (.*))?$", text)
        if field:
            yield SourceField(field[1], field[2], field[3] or " ".join(above))
        above = []


def _example(model: type[Message]) -> str:
    example = json.loads((EXAMPLES / f"{model.__name__}.json").read_text(encoding="utf-8"))
    return json.dumps(_cut(example), indent=2, ensure_ascii=False)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    long = isinstance(value, str) and len(value) > EXAMPLE_CHARS_MAX
    return value[:EXAMPLE_CHARS_MAX] + "…" if long else value


# Tools.

TOOLS_HEAD = """# MCP tools

The endpoint is `/mcp`: stateless Streamable HTTP, with `Authorization: Bearer prism_…`. By default it lists
the toolset `code`; `?toolsets=code,docs` or the header `X-Prism-Toolsets` selects others, `all` selects every
one. Unlisted tools can be called too.

The header `X-Prism-Repo: owner/name` is the default of an empty `repo`. Without both, tools that can search
every repository of the tenant do so. `ref` selects a branch, a tag, a pull request (`pull/12`), an indexed
commit or an overlay; the header `X-Prism-Ref` is its default. With `X-Prism-Wait-For-Commit: HASH` a call
waits until that commit is served, and fails with `deadline_exceeded` after 20 s.

Answers are text. `?structured=true` or the header `X-Prism-Structured: true` adds structured content to each
result and output schemas to the list, for programs ([why](decisions/0034-text-only-answers.md)). A failure is a
result with `isError`: its text has the code, the message and the next step; the structured content is
`{"error": {"code", "message", "next_action", "details"}}`.

Common other names of arguments and values are understood (`path` for `file_path`, `symbol` for `symbols`, `py`
for `python`), numbers out of range are brought into it with a note, and null means omitted. Any other unknown
argument is an error that names the known ones. `max_tokens` counts four characters
per token: long texts are shortened first, then the last results are dropped, and the answer reports both. The
remaining results follow with `next_cursor`.

`confidence` of `search_code` rates its first result. The shares below were measured on questions that have an
answer ([quality.md](quality.md), [how it was chosen](decisions/0018-confidence.md)):

- `high`: the first result is right for {high} of the questions with this level. Read it.
- `medium`: for {medium}. Look at the next results as well.
- `low`: for {low}. Several files match equally well, or none does: when the level was chosen, 72 % of the
  questions without an answer got it. Rephrase the question, or use `grep_code`.
- `none`: nothing was found; `diagnostics` shows which leg found nothing and why, and what the filters
  dropped.
"""


def tools_page() -> str:
    """Returns each toolset with its tools, each tool with its arguments."""
    shares = first_right_shares()
    head = re.sub(r"\{(high|medium|low)\}", lambda found: shares[found[1]], TOOLS_HEAD)
    return head + "".join(_toolset_section(toolset) for toolset in Toolset)


def first_right_shares() -> dict[str, str]:
    """Returns the share of right first results by confidence, as `make quality` measured it."""
    quality = Path(__file__).with_name("quality.md").read_text(encoding="utf-8")
    table = quality.partition("\n## Confidence\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| (high|medium|low) \|.*\| ([\d.]+ %) \|$", table, re.MULTILINE))


def _toolset_section(toolset: Toolset) -> str:
    default = " (listed by default)" if toolset is Toolset.CODE else ""
    tools = [tool for tool in TOOLS if tool.toolset is toolset]
    return f"\n## Toolset `{toolset}`{default}\n" + "".join(map(_tool_section, tools))


def _tool_section(tool: AnyTool) -> str:
    schema = tool.arguments.model_json_schema()  # with the limits that the tool's definition omits
    required = set(schema.get("required", ()))
    rows = [
        (f"`{name}`", _json_type(field), _argument_default(tool, name, required), _limits(field))
        for name, field in schema.get("properties", {}).items()
    ]
    gives = ", ".join(f"`{name}`" for name in tool.output["properties"])
    arguments = (
        _table(("argument", "type", "default", "meaning and limits"), rows) if rows else "No arguments.\n"
    )
    writes = " Needs a token with the scope `write`." if tool.effect is not Effect.READS else ""
    return f"\n### `{tool.name}`\n\n{tool.description}{writes}\n\n{arguments}\nGives {gives}.\n"


def _json_type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(map(_json_type, field["anyOf"]))
    inner = field.get("items", {}).get("type")
    return f"{field['type']} of {inner}" if inner else str(field.get("type", "object"))


def _argument_default(tool: AnyTool, name: str, required: set[str]) -> str:
    if name in required:
        return "required"
    value = tool.arguments.model_fields[name].default
    return "" if value in ("", []) or isinstance(value, BaseModel) else f"`{json.dumps(value)}`"


LIMITS = {
    "minimum": "≥ {}", "maximum": "≤ {}", "minLength": "at least {} character", "maxItems": "at most {}",
}  # fmt: skip


def _limits(field: dict[str, Any]) -> str:
    limits = [text.format(field[key]) for key, text in LIMITS.items() if key in field]
    return "; ".join(filter(None, [field.get("description", ""), ", ".join(limits)]))


# Metrics.

METRICS_HEAD = """# Metrics

Every service answers `GET /metrics` in Prometheus' text format, without a token, on the port of its `/livez`
and `/readyz`; for the gateway that is the port of MCP and REST. The tables list the names of the metrics: a
counter is exposed with the suffix `_total`, a histogram with `_bucket`, `_sum` and `_count`.

Every service but the local store also exposes the default metrics of Prometheus' Python client:
`python_info`, `python_gc_…` and, on Linux, `process_…` (memory, CPU seconds, file descriptors, start time).

A client that accepts `application/openmetrics-text` gets OpenMetrics, in which the histograms of calls carry the
trace id of an example per bucket, if traces are exported (`PRISM_OTLP_ENDPOINT`).

A gauge of queues, streams or jobs disappears, or is `NaN`, while NATS does not answer: a last value that stayed
would hide the outage.

Labels have few values: methods, tools, templates of routes, error codes. None names a repository, a path or a
query, and only `prism_tenant_use` names tenants.

## Every service but the local store

`method` is `<service>.<method>`. The metrics `faststream_…` count messages on NATS: `app_name` is
`prism-<service>`; `handler` and `destination` are subjects, which contain no ids.

"""

METRIC_COLUMNS = ("metric", "type", "labels", "meaning")
COMMON_METRICS = (ReleaseMetrics, ReadyMetrics, RpcMetrics, ConnectionMetrics, DiskMetrics)
SERVICE_METRICS: dict[str, tuple[Callable[[CollectorRegistry], object], ...]] = {
    "Gateway": (
        HttpMetrics,
        ToolMetrics,
        WebhookMetrics,
        LimitMetrics,
        UsageMetrics,
        AuditMetrics,
        HistoryMetrics,
    ),
    "Ingest": (
        QueueMetrics,
        DeadLetterMetrics,
        JobMetrics,
        PushMetrics,
        GitMetrics,
        PollMetrics,
        LeaseMetrics,
        LayerMetrics,
        ScipMetrics,
    ),
    "Embedder": (EmbeddingMetrics,),
    "Indexer, search and atlas": (StoreMetrics,),
    "Search": (SearchMetrics, AnswerMetrics, QueryEmbeddingMetrics, RerankerMetrics),
    "Atlas": (BuildMetrics,),
    "Scribe": (ModelMetrics,),
}


def metrics_page() -> str:
    """Returns the metrics of the bus, of each service, and of the local store."""
    return (
        METRICS_HEAD
        + _table(METRIC_COLUMNS, [*_service_metrics(COMMON_METRICS), *_bus_metrics()])
        + "".join(
            f"\n## {service}\n\n{_table(METRIC_COLUMNS, _service_metrics(metrics))}"
            for service, metrics in SERVICE_METRICS.items()
        )
        + "\n## The local store\n\nMetrics that Qdrant also has carry its names.\n\n"
        + _table(METRIC_COLUMNS, _store_metrics())
    )


def _bus_metrics() -> list[tuple[str, ...]]:
    registry = CollectorRegistry()
    NatsPrometheusMiddleware(registry=registry, app_name="prism")
    return _registered(registry)


def _service_metrics(metrics: Iterable[Callable[[CollectorRegistry], object]]) -> list[tuple[str, ...]]:
    registry = CollectorRegistry()
    for make in metrics:
        make(registry)
    return _registered(registry)


def _registered(registry: CollectorRegistry) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    # The client has no public way to list the labels of a metric.
    collectors = cast("Iterable[Any]", registry._collector_to_names)  # noqa: SLF001
    for collector in collectors:
        metric = next(iter(collector.describe()))
        labels = ", ".join(f"`{label}`" for label in collector._labelnames)  # noqa: SLF001
        rows.append((f"`{metric.name}`", metric.type, labels, metric.documentation))
    return rows


def _store_metrics() -> list[tuple[str, ...]]:
    shard = SimpleNamespace(info=lambda: SimpleNamespace(points_count=0))
    collection = SimpleNamespace(name="collection", shard=shard)
    metrics = Metrics(cast("Store", SimpleNamespace(collections=[collection])))
    metrics.observe("GET", "/", 200, 0.0)
    families = text_string_to_metric_families(metrics.render().decode())
    return [
        (f"`{family.name}`", family.type, _labels(family), family.documentation)
        for family in families
        if not family.name.endswith("_created")
    ]


def _labels(family: prometheus_client.Metric) -> str:
    known = dict.fromkeys(label for sample in family.samples for label in sample.labels if label != "le")
    return ", ".join(f"`{label}`" for label in known)


# Languages.

LANGUAGES_HEAD = """# Languages

The tier of a language follows from its grammar and queries in
`services/chunker/prism_chunker/core/languages`. Each tier includes the ones above it:

- *text*: files are searchable by words, by meaning, and by exact pattern.
- *symbols*: definitions or headings are extracted, so files have outlines, and chunks follow the symbols.
- *resolved edges*: calls and imports are extracted, and `find_references` follows them across files. Its
  accuracy was measured for some of these languages ([graph.md](graph.md)); the others use the same rules.

"""
CAPTURE = re.compile(r"@(\w+)")
IMPORTS = frozenset({"import", "item", "file"})


class Tier(StrEnum):
    """What Prism extracts from files of a language, in ascending order."""

    TEXT = "text"
    SYMBOLS = "symbols"
    EDGES = "resolved edges"


def languages_page() -> str:
    """Returns every language with its file name extensions and its tier, the highest tier first."""
    tiers = {language: _tier(language) for language in sorted(LANGUAGES.values(), key=lambda one: one.id)}
    ranked = sorted(tiers.items(), key=lambda one: -list(Tier).index(one[1]))
    rows = [(language.id, ", ".join(_file_names(language)), tier) for language, tier in ranked]
    counts = [(tier, str(sum(one is tier for one in tiers.values()))) for tier in reversed(Tier)]
    languages = _table(("language", "files", "tier"), rows)
    return f"{LANGUAGES_HEAD}{_table(('tier', 'languages'), counts)}\n{languages}"


def _tier(language: Language) -> Tier:
    if language.reader == "component":  # its scripts are parsed in their own language
        return _tier(LANGUAGES["javascript"])
    if language.reader != "syntax":
        return Tier.TEXT if language.reader == "lines" else Tier.SYMBOLS
    queries = "".join((QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in language.queries)
    captures = set(CAPTURE.findall(queries))
    return Tier.EDGES if "call" in captures and captures & IMPORTS else Tier.SYMBOLS


def _file_names(language: Language) -> Iterator[str]:
    yield from (f"`.{extension}`" for extension in language.extensions)
    yield from (f"`{name}`" for name in language.filenames)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
