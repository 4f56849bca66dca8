"""Collects what the pages of a wiki are made of, by asking search and atlas. Raises PrismError only."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_contracts.registry import Rpc
from prism_contracts.rpc.files import (
    LIST_FILES,
    LIST_LIMIT_MAX,
    OUTLINE,
    READ_FILE,
    FileEntry,
    ListFilesRequest,
    OutlineReply,
    OutlineRequest,
    ReadFileRequest,
)
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    TYPE_HIERARCHY,
    CallDirection,
    CallHierarchyReply,
    CallHierarchyRequest,
    TypeHierarchyReply,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.guidance import (
    CONVENTIONS,
    REPO_CONTEXT,
    ContextSection,
    ConventionsRequest,
    RepoContextRequest,
)
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureRequest,
    ComponentDetail,
    ModuleMapRequest,
)
from prism_runtime.bus import Bus
from prism_scribe.core.wiki import contents, helpers_of_tests
from prism_scribe.core.wiki.commands import is_manifest, is_workflow
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose
from prism_scribe.core.wiki.pages import extending, types
from prism_scribe.core.wiki.prose import guides, is_translation

TIMEOUT_S = 14.0
OVERVIEW_LIMIT = 60
COMPONENT_LIMIT = 60
MODULES_LIMIT = 300
PAGES_OF_FILES_MAX = 10
DOCUMENTS_MAX = 16
MANIFESTS_MAX = 12
GUIDES_MAX = 24
# Questions that one page asks at a time: indexing and other callers go on.
AT_ONCE = 4

# A document that is not worth reading whole for a wiki.
_NOT_QUOTED = frozenset({ContextSection.CHANGELOG})
# What a file or symbol may have become since it was listed.
_GONE = frozenset({ErrorCode.FILE_NOT_FOUND, ErrorCode.SYMBOL_NOT_FOUND})

Request = TypeVar("Request", bound=Message)
Reply = TypeVar("Reply", bound=Message)
Item = TypeVar("Item")
Key = TypeVar("Key")


class WikiSources:
    """The index of one repository, as the pages of its wiki need it."""

    def __init__(self, bus: Bus, tenant: str, repo: str, name: str) -> None:
        """`repo` is the id of the repository, `name` is its owner/name."""
        self._bus = bus
        self._scope: dict[str, Any] = {"tenant": tenant, "repo": repo}
        self._name = name
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._outlines: dict[str, OutlineReply | None] = {}
        self._texts: dict[str, tuple[str, ...]] = {}

    async def orient(self, version: int) -> Orientation:
        """Returns what is known of the repository as a whole.

        Raises GRAPH_NOT_BUILT while the graph is older than a version of the index.
        """
        overview_reply, modules, files, conventions = await asyncio.gather(
            self._ask(ARCHITECTURE, ArchitectureRequest(**self._scope, by_folder=True, limit=OVERVIEW_LIMIT)),
            self._ask(MODULE_MAP, ModuleMapRequest(**self._scope, limit=MODULES_LIMIT)),
            self._files(),
            self._ask(CONVENTIONS, ConventionsRequest(**self._scope)),
        )
        if overview_reply.receipt.graph_version < version:
            raise PrismError(
                ErrorCode.GRAPH_NOT_BUILT,
                f"The graph of {self._name} is older than its index.",
                "Try again in a few seconds: it is being built.",
            )
        overview = overview_reply.overview
        assert overview is not None  # no component was requested
        manifests = sorted(filter(is_manifest, files), key=is_workflow)[:MANIFESTS_MAX]
        return Orientation(
            repo=self._name,
            overview=overview,
            modules=modules.entries,
            files=files,
            documents=await self._documents(files),
            manifests=await self._each(manifests, self._lines),
            conventions=conventions.conventions,
            rules=conventions.rules,
        )

    async def evidence(self, entry: WikiTocEntry, orientation: Orientation) -> Evidence:
        """Returns what one page needs besides the orientation."""
        of_kind: Mapping[WikiPageKind, Callable[[Orientation], Awaitable[Evidence]]] = {
            WikiPageKind.COMPONENT: partial(self._of_component, entry.subject),
            WikiPageKind.FLOWS: self._of_flows,
            WikiPageKind.TYPES: self._of_types,
            WikiPageKind.EXTENDING: self._of_extending,
            WikiPageKind.SETTINGS: self._survey,
            WikiPageKind.ERRORS: self._survey,
            WikiPageKind.DOCUMENTS: self._survey,
            WikiPageKind.GLOSSARY: self._survey,
            WikiPageKind.GUIDE: self._of_guide,
        }
        collect = of_kind.get(entry.kind)
        return await collect(orientation) if collect else Evidence()

    async def _of_component(self, name: str, orientation: Orientation) -> Evidence:
        component = await self._component(name)
        paths = [one.file_path for one in component.interface] + [one.file_path for one in component.files]
        wanted = contents.outlined_of_component(orientation, list(dict.fromkeys(paths)))
        return Evidence(
            component=component, outlines=await self._outlined(wanted), texts=await self._read(wanted)
        )

    async def _of_flows(self, orientation: Orientation) -> Evidence:
        survey = await self._survey(orientation)
        starts = contents.flow_starts(orientation, survey.outlines)
        calls = await self._each(starts, self._calls)
        reached = {
            (node.file_path, node.line)
            for reply in calls.values()
            for node in (*reply.roots, *(branch.node for branch in reply.branches))
        }
        calls |= await self._each(
            contents.further_starts(survey.outlines, survey.texts, reached), self._calls
        )
        called = [branch.node.file_path for reply in calls.values() for branch in reply.branches]
        roots = [root.file_path for reply in calls.values() for root in reply.roots]
        paths = list(dict.fromkeys([*roots, *called]))
        direct = [
            branch.node.file_path
            for reply in calls.values()
            for branch in reply.branches
            if branch.depth == 1
        ]
        return Evidence(
            calls=tuple(calls.values()),
            outlines=await self._outlined(paths),
            texts=await self._read(list(dict.fromkeys([*roots, *direct]))),
        )

    async def _of_guide(self, orientation: Orientation) -> Evidence:
        paths = helpers_of_tests.helper_files(orientation)
        return Evidence(outlines=await self._outlined(paths), texts=await self._read(paths))

    async def _of_types(self, orientation: Orientation) -> Evidence:
        survey = await self._survey(orientation)
        places = [(one.path, one.symbol.name_line) for one in types.main_types(orientation, survey)]
        return await self._with_hierarchies(survey, places[: contents.HIERARCHIES_MAX])

    async def _of_extending(self, orientation: Orientation) -> Evidence:
        survey = await self._survey(orientation)
        places = [(one.path, one.symbol.name_line) for one in extending.interfaces(orientation, survey)]
        return await self._with_hierarchies(survey, places)

    async def _with_hierarchies(self, survey: Evidence, places: Sequence[tuple[str, int]]) -> Evidence:
        return replace(survey, types=await self._each(places, self._hierarchy))

    async def _survey(self, orientation: Orientation) -> Evidence:
        """Returns the main source files of the repository, each read once for a wiki."""
        paths = contents.surveyed(orientation)
        return Evidence(outlines=await self._outlined(paths), texts=await self._read(paths))

    async def _component(self, name: str) -> ComponentDetail:
        request = ArchitectureRequest(**self._scope, by_folder=True, component=name, limit=COMPONENT_LIMIT)
        reply = await self._ask(ARCHITECTURE, request)
        assert reply.component is not None  # a component was requested
        return reply.component

    async def _files(self) -> dict[str, FileEntry]:
        files: dict[str, FileEntry] = {}
        cursor = ""
        for _ in range(PAGES_OF_FILES_MAX):
            request = ListFilesRequest(**self._scope, limit=LIST_LIMIT_MAX, cursor=cursor)
            page = await self._ask(LIST_FILES, request)
            files |= {file.file_path: file for file in page.files}
            cursor = page.next_cursor
            if not cursor:
                break
        return files

    async def _documents(self, files: Mapping[str, FileEntry]) -> tuple[Prose, ...]:
        reply = await self._ask(REPO_CONTEXT, RepoContextRequest(**self._scope))
        own = [one for one in reply.documents if not is_translation(one.file_path)]
        sections: dict[str, ContextSection | None] = {
            one.file_path: one.section for one in own[:DOCUMENTS_MAX]
        }
        for path in guides(files)[:GUIDES_MAX]:
            sections.setdefault(path, None)
        read = [path for path, section in sections.items() if section not in _NOT_QUOTED]
        lines = await self._each(read, self._lines)
        outlines = await self._outlined(read)
        return tuple(
            Prose(
                path=path,
                section=section,
                lines=lines.get(path, ()),
                headings=outlines[path].symbols if path in outlines else (),
            )
            for path, section in sections.items()
            if path in lines
        )

    async def _read(self, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Returns the lines of files, each read once for a wiki."""
        missing = [path for path in paths if path not in self._texts]
        self._texts |= dict.fromkeys(missing, ()) | await self._each(missing, self._lines)
        return {path: self._texts[path] for path in paths}

    async def _lines(self, path: str) -> tuple[str, ...]:
        """Returns the first lines of a file: as many as one read returns."""
        reply = await self._ask(READ_FILE, ReadFileRequest(**self._scope, path=path))
        return tuple(reply.content.removesuffix("\n").split("\n"))

    async def _calls(self, start: tuple[str, int]) -> CallHierarchyReply:
        path, line = start
        request = CallHierarchyRequest(
            **self._scope,
            symbol=f"{path}:{line}" if line else path,
            direction=CallDirection.CALLEES,
            depth=contents.FLOW_DEPTH,
            limit=contents.FLOW_WIDTH,
            include_candidates=False,
            source_only=True,
        )
        return await self._ask(CALL_HIERARCHY, request)

    async def _hierarchy(self, place: tuple[str, int]) -> TypeHierarchyReply:
        """Returns the relatives of a type, which its line names: several types may have its name."""
        path, line = place
        request = TypeHierarchyRequest(
            **self._scope, symbol=f"{path}:{line}", include_candidates=False, source_only=True, limit=30
        )
        return await self._ask(TYPE_HIERARCHY, request)

    async def _outlined(self, paths: Sequence[str]) -> dict[str, OutlineReply]:
        """Returns the outlines of files, each read once for a wiki."""
        missing = [path for path in paths if path not in self._outlines]
        found = await self._each(missing, self._outline)
        self._outlines |= {path: found.get(path) for path in missing}
        return {path: known for path in paths if (known := self._outlines[path]) is not None}

    async def _outline(self, path: str) -> OutlineReply:
        return await self._ask(OUTLINE, OutlineRequest(**self._scope, path=path))

    async def _each(self, keys: Sequence[Key], ask: Callable[[Key], Awaitable[Item]]) -> dict[Key, Item]:
        """Returns the reply for each key, without what is not found any more."""

        async def one(key: Key) -> Item | None:
            try:
                return await ask(key)
            except PrismError as error:
                if error.code not in _GONE:
                    raise
                return None

        replies = await asyncio.gather(*map(one, keys))
        return {key: reply for key, reply in zip(keys, replies, strict=True) if reply is not None}

    async def _ask(self, rpc: Rpc[Request, Reply], request: Request) -> Reply:
        async with self._slots:
            return await self._bus.ask(rpc, request, timeout_s=TIMEOUT_S)
