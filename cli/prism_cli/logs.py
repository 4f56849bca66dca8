"""`prism logs`: the logs of the local stack, merged by time.

Services log JSON lines, nats-server and the supervisor lines of text. A line without a time, as in a traceback,
belongs to the line before it.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rich.text import Text

from prism_cli import terminal
from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir
from prism_cli.stack.logs import LogFile

PAUSE_S = 0.25
# How far back the time of the first line may be.
TRACEBACK_LINES = 100
SUFFIX = ".log"
UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)

_ISO = re.compile(r"(?P<moment>\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (?P<text>.*)", re.DOTALL)
# nats-server writes local time: https://docs.nats.io/running-a-nats-service/configuration/logging
_NATS = re.compile(
    r"\[\d+\] (?P<moment>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+) \[(?P<level>[A-Z]{3})\] (?P<text>.*)", re.DOTALL
)
_NATS_TIME = "%Y/%m/%d %H:%M:%S.%f"
_NATS_LEVELS = {
    "INF": "info",
    "WRN": "warning",
    "ERR": "error",
    "FTL": "critical",
    "DBG": "debug",
    "TRC": "debug",
}
_LEVEL_STYLES = {"warning": "yellow", "error": "red", "critical": "bold red", "debug": "dim"}
# Keys of a JSON line that have a column of their own, or that the file implies.
_SHOWN_ELSEWHERE = {"event", "level", "timestamp", "service", "logger", "exception"}
# The event of a line that the gateway logs for a call, and what is in columns: they line up where most names fit.
CALL = "call"
_COLUMNS = {"tool", "route", "tenant", "code", "total_ms"}
CALLED_CHARS, TENANT_CHARS, CODE_CHARS, MS_CHARS = 32, 12, 16, 9


class Choice(NamedTuple):
    """The command's arguments."""

    service: str
    last: int
    follow: bool
    as_json: bool


class Line(NamedTuple):
    """A line of a log. `moment` is in UTC; `fields` is the object of a JSON line, None for text."""

    service: str
    moment: datetime
    level: str
    text: str
    fields: dict[str, Any] | None = None


class Logs:
    """The logs of one service, or of all including those that start later. Raises CommandError."""

    def __init__(self, data: DataDir, service: str = "") -> None:
        self._data = data
        self._service = service
        found = services(data)
        if not found or (service and service not in found):
            raise _unknown(data, service, found)
        self._files = {name: LogFile(data.log(name)) for name in found if service in ("", name)}
        # The time of the last line of each service, for lines without one.
        self._moments: dict[str, datetime] = {}

    def last(self, count: int) -> list[Line]:
        """Returns the last lines, by time."""
        lines = self._merged({name: file.last(count + TRACEBACK_LINES) for name, file in self._files.items()})
        return lines[-count:] if count else []

    def follow(self, pause: Callable[[float], None] = time.sleep) -> Iterator[list[Line]]:
        """Returns what is appended, each time there is something; without end. Ordered by time within each."""
        while True:
            pause(PAUSE_S)
            if not self._service:
                self._find_new()
            if lines := self._merged({name: file.appended() for name, file in self._files.items()}):
                yield lines

    def _find_new(self) -> None:
        for name in services(self._data):
            if name not in self._files:
                self._files[name] = LogFile(self._data.log(name), is_new=True)

    def _merged(self, texts: dict[str, list[str]]) -> list[Line]:
        lines = [line for name, found in texts.items() for line in self._dated(name, found)]
        return sorted(lines, key=lambda line: line.moment)

    def _dated(self, service: str, texts: list[str]) -> list[Line]:
        parsed = [parse(service, text) for text in texts if text]
        known = (line.moment for line in parsed if line.moment is not UNKNOWN_TIME)
        # A process that failed before it could log wrote only a traceback.
        moment = self._moments.get(service) or next(known, self._files[service].written_at())
        dated = []
        for line in parsed:
            moment = moment if line.moment is UNKNOWN_TIME else line.moment
            dated.append(line._replace(moment=moment))
        self._moments[service] = moment
        return dated


def run(data: DataDir, choice: Choice, pause: Callable[[float], None] = time.sleep) -> None:
    """Print the last lines, and with `follow` those that come, until Ctrl-C. Raises CommandError."""
    logs = Logs(data, choice.service)
    name_width = 0 if choice.service else max(map(len, services(data)), default=1)

    def print_lines(lines: list[Line]) -> None:
        if choice.as_json:
            terminal.print_json_lines(map(as_json, lines))
        else:
            show(lines, name_width=name_width)

    print_lines(logs.last(choice.last))
    if choice.follow:
        with contextlib.suppress(KeyboardInterrupt):
            for lines in logs.follow(pause):
                print_lines(lines)


def services(data: DataDir) -> list[str]:
    """Returns the names of the processes that have a log."""
    return sorted(path.name.removesuffix(SUFFIX) for path in data.logs.glob(f"*{SUFFIX}"))


def parse(service: str, text: str) -> Line:
    """Returns the parts of a line; the time is UNKNOWN_TIME if it has none."""
    if text.startswith("{") and (fields := _object(text)) is not None:
        shown = (
            _call(fields) if fields.get("event") == CALL else _fields(str(fields.get("event", "")), fields)
        )
        moment = _iso_time(str(fields.get("timestamp", "")))
        return Line(service, moment, str(fields.get("level", "")), shown, fields)
    if found := _ISO.fullmatch(text):
        return Line(service, _iso_time(found["moment"]), "", found["text"])
    if found := _NATS.fullmatch(text):
        return Line(service, _nats_time(found["moment"]), _NATS_LEVELS.get(found["level"], ""), found["text"])
    return Line(service, UNKNOWN_TIME, "", text)


def show(lines: list[Line], *, name_width: int) -> None:
    """Print lines for people; without names if the width is 0."""
    for line in lines:
        text = Text(line.moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"), style="dim")
        if name_width:
            text.append(f" {line.service:{name_width}}", style="cyan")
        text.append(f" {line.level:8}", style=_LEVEL_STYLES.get(line.level, "dim"))
        text.append(terminal.printable(line.text), style=_LEVEL_STYLES.get(line.level, "default"))
        for row in _traceback((line.fields or {}).get("exception")):
            text.append(f"\n  {terminal.printable(row)}", style="dim")
        terminal.out.print(text, soft_wrap=True)


def as_json(line: Line) -> dict[str, Any]:
    """Returns a line as `--json` prints it: a JSON line as it was written, any other in the same shape."""
    if line.fields is not None:
        return line.fields | {"service": line.service}
    return {
        "event": line.text,
        "service": line.service,
        "level": line.level,
        "timestamp": line.moment.isoformat(),
    }


def _unknown(data: DataDir, service: str, found: list[str]) -> CommandError:
    if not found:
        return CommandError(
            f"There are no logs in {data.logs}.",
            "Start Prism with `prism up`, or name the data folder with --data-dir. "
            "The logs of a Prism on another machine are on that machine.",
            code="not_running",
            exit_code=Exit.NOT_RUNNING,
        )
    return CommandError(
        f"There is no log of {service!r} in {data.logs}.",
        f"Choose one of: {', '.join(found)}.",
        code="service_unknown",
        exit_code=Exit.USAGE,
    )


def _call(fields: dict[str, Any]) -> str:
    """Returns the line of a call in columns, and then its other fields."""
    called = str(fields.get("tool") or fields.get("route", ""))
    columns = (
        f"{called:{CALLED_CHARS}} {fields.get('tenant', '-')!s:{TENANT_CHARS}} "
        f"{fields.get('code', '')!s:{CODE_CHARS}} {fields.get('total_ms', '')!s:>{MS_CHARS}} ms"
    )
    return _fields(columns, {key: value for key, value in fields.items() if key not in _COLUMNS})


def _fields(text: str, fields: dict[str, Any]) -> str:
    rest = (f"{key}={value}" for key, value in fields.items() if key not in _SHOWN_ELSEWHERE)
    return " ".join([text, *rest])


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _iso_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return UNKNOWN_TIME
    return moment.astimezone(UTC) if moment.tzinfo else UNKNOWN_TIME


def _nats_time(text: str) -> datetime:
    try:
        return datetime.strptime(text, _NATS_TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        return UNKNOWN_TIME


def _traceback(exceptions: object) -> Iterator[str]:
    """Returns the rows of structlog's exceptions: frames, then type and message."""
    for exception in exceptions if isinstance(exceptions, list) else ():
        if isinstance(exception, dict):
            for frame in exception.get("frames") or ():
                yield f"{frame.get('filename')}:{frame.get('lineno')} in {frame.get('name')}"
            yield f"{exception.get('exc_type')}: {exception.get('exc_value')}"
