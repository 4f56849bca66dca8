"""Tasks in memory, as tables with indexes: what lists, filters and searches read.

It is a projection of the bucket of tasks, which each copy of workspace follows. Nothing is written to a disk: the
bucket is the truth, and a new copy reads it. Every tenant has a database of its own, so no query can return
another tenant's task. See docs/decisions/0053-tasks.md.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import TaskRecord
from prism_contracts.rpc.tasks import ListTasksRequest, TaskSummary

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
WORDS_MAX = 32
# Follows every digit and dash of an id.
AFTER_DIGITS = "g"
# A search ranks the newest matches, and pages through these: a word of every task would make it slow.
RANKED_MAX = 2_000
# BM25 as an integer, for a cursor.
SCORE_UNIT = 1_000_000_000
_WORD = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_SCHEMA = """
PRAGMA journal_mode = OFF;
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, status TEXT, repo TEXT, version INTEGER,
    created_us INTEGER, updated_us INTEGER
);
CREATE INDEX newest ON tasks (updated_us, id, repo);
CREATE INDEX newest_of_status ON tasks (status, updated_us, id, repo);
CREATE INDEX newest_of_repo ON tasks (repo, updated_us, id);
CREATE TABLE links (number INTEGER, kind TEXT, name TEXT, repo TEXT);
CREATE INDEX links_by_name ON links (kind, name);
CREATE INDEX links_by_task ON links (number);
CREATE VIRTUAL TABLE words USING fts5 (title, text, tokenize = "unicode61 remove_diacritics 2");
"""
_COLUMNS = "tasks.number AS number, tasks.id AS id, tasks.title AS title, status, tasks.repo AS repo, version, created_us, updated_us"


class Page(NamedTuple):
    """A page of tasks, the number of all that match, and the position after it if there are more."""

    tasks: list[TaskSummary]
    total: int
    next_position: tuple[int, str] | None


class TaskTable:
    """The tasks of all tenants."""

    def __init__(self) -> None:
        self._tenants: dict[str, sqlite3.Connection] = {}

    def put(self, _key: str, record: TaskRecord) -> None:
        """Take a new or changed task."""
        database = self._tenants.get(record.tenant) or self._open(record.tenant)
        self._remove(database, record.task)
        row = (
            record.task,
            record.title,
            record.status,
            record.repo,
            record.version,
            _microseconds(record.created_at),
            _microseconds(record.updated_at),
        )
        number = database.execute(
            "INSERT INTO tasks (id, title, status, repo, version, created_us, updated_us) VALUES (?,?,?,?,?,?,?)",
            row,
        ).lastrowid
        branches = [(number, "branch", link.branch_name, link.repo) for link in record.branches]
        commits = [(number, "commit", link.commit_hash, link.repo) for link in record.commits]
        if branches or commits:
            database.executemany("INSERT INTO links VALUES (?, ?, ?, ?)", [*branches, *commits])
        names = (record.task, *(name for _, _, name, _ in [*branches, *commits]))
        text = _searchable("\n".join((record.description, record.notes, *names)))
        database.execute(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            (number, _searchable(record.title), text),
        )

    def remove(self, key: str) -> None:
        """Forget a task, known or not."""
        tenant, _, task = key.partition(".")
        database = self._tenants.get(tenant)
        if database is not None:
            self._remove(database, task)
            if not self.count(tenant):
                self._tenants.pop(tenant).close()

    def count(self, tenant: str) -> int:
        """Returns the number of a tenant's tasks."""
        database = self._tenants.get(tenant)
        return database.execute("SELECT count(*) FROM tasks").fetchone()[0] if database else 0

    def title(self, tenant: str, task: str) -> tuple[str, str, str] | None:
        """Returns the title, the status and the repository of a task, if it is known."""
        database = self._tenants.get(tenant)
        query = "SELECT title, status, repo FROM tasks WHERE id = ?"
        row = database.execute(query, (task,)).fetchone() if database else None
        return tuple(row) if row else None

    def ids(self, tenant: str, prefix: str, limit: int) -> list[str]:
        """Returns the ids that begin so, in order."""
        database = self._tenants.get(tenant)
        if database is None:
            return []
        query = "SELECT id FROM tasks WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
        return [row[0] for row in database.execute(query, (prefix, prefix + AFTER_DIGITS, limit))]

    def holders(self, tenant: str, repo: str, branch: str) -> list[str]:
        """Returns the ids of the tasks that a branch of a repository is linked to, in order."""
        database = self._tenants.get(tenant)
        if database is None:
            return []
        query = (
            "SELECT DISTINCT tasks.id FROM links JOIN tasks ON tasks.number = links.number"
            " WHERE kind = 'branch' AND name = ? AND links.repo = ? ORDER BY tasks.id"
        )
        return [row[0] for row in database.execute(query, (branch, repo))]

    def page(
        self, request: ListTasksRequest, after: tuple[int, str] | None, stale: Collection[str] = ()
    ) -> Page:
        """Returns the tasks that a request lists, from a position on. Raises EMPTY_QUERY.

        `stale` are the ids of the stale ones, for a request that asks for these or for the others.
        """
        database = self._tenants.get(request.tenant)
        match = _match(request.query) if request.query else ""
        if database is None:
            return Page([], 0, None)
        source, position, conditions, values = _selection(request, match, stale)
        where = f"{source} WHERE {' AND '.join(conditions) or '1'}"
        # What these statements are made of are constants of this module. Whatever a caller sends is a parameter.
        if match:
            # A task that changes gets a new number, so the highest are the newest.
            where += f" ORDER BY words.rowid DESC LIMIT {RANKED_MAX}"
        counted = f"SELECT count(*) FROM (SELECT 1 FROM {where})"  # noqa: S608
        total = database.execute(counted, values).fetchone()[0]
        found = f"SELECT {_COLUMNS}, {position} AS position FROM {where}"  # noqa: S608
        if after is not None:
            values = [*values, *after]
        rows = database.execute(
            f"SELECT * FROM ({found}) {'WHERE (position, id) < (?, ?)' if after else ''}"  # noqa: S608
            " ORDER BY position DESC, id DESC LIMIT ?",
            [*values, request.limit + 1],
        ).fetchall()
        shown = rows[: request.limit]
        following = (shown[-1][-1], shown[-1][1]) if len(rows) > len(shown) else None
        return Page(_summaries(database, request, shown), total, following)

    def _open(self, tenant: str) -> sqlite3.Connection:
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.executescript(_SCHEMA)
        # One transaction without an end: there is no other reader, nothing to be durable, and the words of many
        # tasks are merged into their index at once.
        database.execute("BEGIN")
        self._tenants[tenant] = database
        return database

    def _remove(self, database: sqlite3.Connection, task: str) -> None:
        found = database.execute("SELECT number FROM tasks WHERE id = ?", (task,)).fetchone()
        if found:
            for table, column in (("tasks", "number"), ("links", "number"), ("words", "rowid")):
                database.execute(f"DELETE FROM {table} WHERE {column} = ?", found)  # noqa: S608


def _selection(
    request: ListTasksRequest, match: str, stale: Collection[str]
) -> tuple[str, str, list[str], list[object]]:
    """Returns the tables, the value that orders their rows, the conditions, and the values of these."""
    # Words and links select few tasks, which are looked up by number. Without the hint, SQLite may walk through
    # all tasks of a status instead.
    source, position = "tasks", "updated_us"
    if request.branch or request.commit:
        source = "tasks NOT INDEXED"
    conditions: list[str] = []
    values: list[object] = []
    if match:
        source = "words CROSS JOIN tasks NOT INDEXED ON tasks.number = words.rowid"
        position = f"CAST(-bm25(words, 5.0, 1.0) * {SCORE_UNIT} AS INTEGER)"
        conditions.append("words MATCH ?")
        values.append(match)
    for column, wanted in (("status", request.status), ("tasks.repo", request.repo.lower())):
        if wanted:
            conditions.append(f"{column} = ?")
            values.append(wanted)
    links = (("branch", request.branch, request.branch), ("commit", request.commit, f"{request.commit}g"))
    for kind, first, last in links:
        if first:
            seen, names = _visible(request, "links.repo")
            in_range = "name = ?" if kind == "branch" else "name >= ? AND name < ?"
            conditions.append(
                f"tasks.number IN (SELECT number FROM links WHERE kind = ? AND {in_range}{seen})"  # noqa: S608
            )
            values += [kind, first, *([last] if kind == "commit" else []), *names]
    if request.stale is not None:
        is_in = "IN" if request.stale else "NOT IN"
        conditions.append(f"tasks.id {is_in} (SELECT value FROM json_each(?))")  # noqa: S608
        values.append(json.dumps(sorted(stale)))
    seen, names = _visible(request, "tasks.repo")
    if seen:
        conditions.append(seen.removeprefix(" AND "))
        values += names
    return source, position, conditions, values


def _visible(request: ListTasksRequest, column: str) -> tuple[str, list[object]]:
    """Returns the condition that a row is for this caller, as `CallerRequest.sees` has it, and its values."""
    if request.visible is None:
        return "", []
    condition = f" AND ({column} = '' OR {column} IN (SELECT value FROM json_each(?)))"  # noqa: S608
    return condition, [json.dumps(sorted(request.visible))]


def _summaries(
    database: sqlite3.Connection, request: ListTasksRequest, rows: Iterable[tuple[object, ...]]
) -> list[TaskSummary]:
    seen, names = _visible(request, "repo")
    query = f"SELECT kind, name FROM links WHERE number = ?{seen} ORDER BY rowid"  # noqa: S608
    found = []
    for number, task, title, status, repo, version, created_us, updated_us, _ in rows:
        links = database.execute(query, [number, *names]).fetchall()
        found.append(
            TaskSummary.model_validate(
                {
                    "id": task,
                    "title": title,
                    "status": status,
                    "repo": repo,
                    "version": version,
                    "created_at": EPOCH + int(str(created_us)) * MICROSECOND,
                    "updated_at": EPOCH + int(str(updated_us)) * MICROSECOND,
                    "branches": tuple(name for kind, name in links if kind == "branch"),
                    "commits": tuple(name for kind, name in links if kind == "commit"),
                }
            )
        )
    return found


def _match(query: str) -> str:
    """Returns the query of FTS5: every word, or the beginning of one. Raises EMPTY_QUERY."""
    words = _WORD.findall(query)[:WORDS_MAX]
    if not words:
        raise PrismError(ErrorCode.EMPTY_QUERY, "The query has no word.", "Give some words of the task.")
    return " ".join(f'"{word}"*' for word in words)


def _searchable(text: str) -> str:
    """Returns a text with the parts of its compound identifiers: `pushRetry` is found by `retry`, too."""
    compound = {word for word in _WORD.findall(text) if _HUMP.search(word)}
    return "\n".join((text, *(_HUMP.sub(" ", word) for word in sorted(compound))))


def _microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND
