"""Links a text to the places of code that it names, within what its writer may see.

A name that several repositories have is meant in the one that the text was linked to before, else in the one that
its writer works in. If neither decides, or one repository has several definitions of that name, it is left alone: a
link to the wrong place would report changes that do not concern the text.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import ANCHORS_MAX, Anchor, AnchorKind, Repository
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.symbols import Definition, SymbolAnswer
from prism_source.classify import classify_path
from prism_workspace.adapters.places import Places
from prism_workspace.core.anchors import IndexedFile, LineSpan, anchored, is_definition, of_lines
from prism_workspace.core.mentions import Mention, mentions

# A path without a repository is looked up in this many of the tenant, those indexed last.
REPOS_MAX = 100
ASKED_AT_ONCE = 4

Files = Mapping[tuple[str, str], ManifestEntry]  # by repository and path


@dataclass(frozen=True)
class Preferred:
    """What decides between repositories that all have a name."""

    repo: str = ""  # where the writer works: the name of a repository, its last part, or the id
    linked: Sequence[Anchor] = ()  # the anchors of the text before

    def home(self, seen: Iterable[Repository]) -> Repository | None:
        """Returns the repository where the writer works, if it is one of these."""
        wanted = self.repo.lower()
        known = list(seen) if wanted else []
        named = [one for one in known if wanted in {one.name.lower(), one.repo}]
        found = named or [one for one in known if wanted == one.name.lower().rpartition("/")[2]]
        return found[0] if len(found) == 1 else None

    def of(self, repos: Iterable[str], home: str, *, path: str = "", symbol: str = "") -> str:
        """Returns the one of several repositories that is meant; empty if nothing decides.

        `path`, or else `symbol`, is what all of them have.
        """
        several = list(repos)
        before = {
            one.repo
            for one in self.linked
            if one.repo in several and (one.path == path if path else f".{one.symbol}".endswith(f".{symbol}"))
        }
        if len(before) == 1:
            return before.pop()
        return home if home in several else ""


NOTHING_PREFERRED = Preferred()


class Linker:
    """Resolves the mentions of texts by the index."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._turns = asyncio.Semaphore(ASKED_AT_ONCE)

    async def of(
        self,
        caller: CallerRequest,
        text: str,
        repositories: Iterable[Repository],
        preferred: Preferred = NOTHING_PREFERRED,
    ) -> list[Anchor]:
        """Returns the anchors of a text, `ANCHORS_MAX` at most, in its order.

        `repositories` are those of the tenant that a text may be linked to. Raises PrismError if search does
        not answer.
        """
        seen = [one for one in repositories if one.served is not None and caller.sees(one.name)]
        found = await asyncio.to_thread(mentions, text)
        if not seen or not found:
            return []
        by_name = {one.name.lower(): one for one in sorted(seen, key=_indexed_at, reverse=True)[:REPOS_MAX]}
        home = preferred.home(seen)
        named = {m.repo for m in found} | ({home.name.lower()} if home else set())
        by_name |= {one.name.lower(): one for one in seen if one.name.lower() in named}
        files = await self._files(caller, found, by_name)
        definitions = await self._definitions(caller, found)
        run = _Run(
            self._places,
            caller,
            by_name=by_name,
            files=files,
            definitions=definitions,
            preferred=preferred,
            home=home.repo if home else "",
        )
        anchors: dict[tuple[str, ...], Anchor] = {}
        for mention in found:
            anchor = await run.anchor(mention)
            if anchor is not None and len(anchors) < ANCHORS_MAX:
                anchors.setdefault((anchor.repo, anchor.path, anchor.symbol, anchor.text), anchor)
        return list(anchors.values())

    async def _files(
        self, caller: CallerRequest, found: Sequence[Mention], by_name: Mapping[str, Repository]
    ) -> Files:
        async def of_repository(repository: Repository) -> Files:
            paths = {one.path for one in found if one.path and one.repo in {"", repository.name.lower()}}
            async with self._turns:
                entries = await self._places.entries(caller.tenant, repository.repo, paths)
            return {(repository.repo, path): entry for path, entry in entries.items()}

        every = await asyncio.gather(*map(of_repository, by_name.values()))
        return {place: entry for files in every for place, entry in files.items()}

    async def _definitions(
        self, caller: CallerRequest, found: Sequence[Mention]
    ) -> Mapping[str, SymbolAnswer]:
        symbols = list(dict.fromkeys(one.symbol for one in found if one.symbol and not one.path))
        try:
            answers = await self._places.definitions(caller, symbols)
        except PrismError as error:
            if error.code in {ErrorCode.REPO_NOT_FOUND, ErrorCode.REPO_NOT_INDEXED}:
                return {}
            raise
        return dict(zip(symbols, answers, strict=True))


class _Run:
    """The linking of one text: what is read once for all of its mentions."""

    def __init__(
        self,
        places: Places,
        caller: CallerRequest,
        *,
        by_name: Mapping[str, Repository],
        files: Files,
        definitions: Mapping[str, SymbolAnswer],
        preferred: Preferred,
        home: str,
    ) -> None:
        self._places = places
        self._caller = caller
        self._by_name = by_name
        self._by_id = {one.repo: one for one in by_name.values()}
        self._files = dict(files)
        self._definitions = definitions
        self._preferred = preferred
        self._home = home  # id of the repository where the writer works, if it is known
        self._read: dict[tuple[str, str], IndexedFile | None] = {}

    async def anchor(self, mention: Mention) -> Anchor | None:
        """Returns the anchor of a mention, if exactly one place has that name."""
        if not mention.path:
            return await self._of_symbol(mention)
        repos = [repo for repo, path in self._files if path == mention.path and self._is_meant(repo, mention)]
        repo = repos[0] if len(repos) == 1 else self._preferred.of(repos, self._home, path=mention.path)
        if not repo:
            return None
        entry = self._files[repo, mention.path]
        if mention.symbol:
            return await self._in_file(repo, mention.path, mention.symbol)
        of_file = Anchor(
            repo=repo,
            repo_name=self._by_id[repo].name,
            kind=AnchorKind.FILE,
            path=mention.path,
            commit=self._commit(repo),
            blob=entry.blob,
        )
        return await self._of_lines(of_file, mention) if mention.start_line else of_file

    def _is_meant(self, repo: str, mention: Mention) -> bool:
        return mention.repo in {"", self._by_id[repo].name.lower()}

    async def _of_lines(self, of_file: Anchor, mention: Mention) -> Anchor:
        """Returns an anchor of lines, or of their file if the lines cannot be found again."""
        file = await self._file(of_file.repo, of_file.path)
        place = LineSpan(mention.start_line, max(mention.start_line, mention.end_line))
        if file is None or place.end > len(file.lines):
            return of_file
        empty = of_file.model_copy(update={"kind": AnchorKind.LINES})
        # Each line of the file may be compared with each of the others.
        return await asyncio.to_thread(of_lines, empty, file, place) or of_file

    async def _of_symbol(self, mention: Mention) -> Anchor | None:
        answer = self._definitions.get(mention.symbol)
        if answer is None or answer.matched:
            return None
        found: Sequence[Definition] = [one for one in answer.definitions if self._is_named(one, mention)]
        is_whole = answer.total <= len(answer.definitions)
        if len(found) > 1 or not is_whole:
            found = await self._preferred_ones(mention, found, is_whole=is_whole)
        if len(found) != 1:
            return None
        one = found[0]
        return await self._in_file(self._repo_of(one), one.file_path, one.symbol.qualified_name)

    async def _preferred_ones(
        self, mention: Mention, found: Sequence[Definition], *, is_whole: bool
    ) -> Sequence[Definition]:
        """Returns the definitions in the repository that is meant; none if nothing says which one it is."""
        repos = {self._repo_of(one) for one in found}
        repo = self._preferred.of(repos | {self._home} - {""}, self._home, symbol=mention.symbol)
        if not repo:
            return ()
        if is_whole:
            return [one for one in found if self._repo_of(one) == repo]
        # There are more than one answer holds, so those of this repository are asked for.
        name = self._by_id[repo].name
        answer = (await self._places.definitions(self._caller, [mention.symbol], repo=name))[0]
        if answer.matched or answer.total > len(answer.definitions):
            return ()
        return [one for one in answer.definitions if self._is_named(one, mention)]

    def _repo_of(self, one: Definition) -> str:
        return self._by_name[one.repo.lower()].repo

    def _is_named(self, one: Definition, mention: Mention) -> bool:
        """Whether a definition has this name, and is of code that a text may mean without naming its file."""
        flags = classify_path(one.file_path)
        if flags.test or flags.vendored or flags.generated or one.repo.lower() not in self._by_name:
            return False
        if mention.is_plain and one.symbol.qualified_name != mention.symbol:
            return False
        return one.symbol.name == mention.symbol.rpartition(".")[2] and is_definition(one.symbol)

    async def _in_file(self, repo: str, path: str, symbol: str) -> Anchor | None:
        """Returns the anchor of a definition in a file, named in full or by its last parts."""
        file = await self._file(repo, path)
        found = [
            one
            for one in (file.symbols if file else ())
            if f".{one.qualified_name}".endswith(f".{symbol}") and is_definition(one)
        ]
        if file is None or len({one.qualified_name for one in found}) != 1:
            return None
        empty = Anchor(
            repo=repo,
            repo_name=self._by_id[repo].name,
            kind=AnchorKind.SYMBOL,
            path=path,
            symbol=found[0].qualified_name,
            commit=self._commit(repo),
            blob=file.blob,
        )
        return anchored(empty, file, LineSpan(found[0].start_line, found[0].end_line))

    async def _file(self, repo: str, path: str) -> IndexedFile | None:
        """Returns a file of the index; None if it is skipped, or changes while it is read."""
        place = (repo, path)
        if place not in self._read:
            tenant = self._caller.tenant
            entry = self._files.get(place) or (await self._places.entries(tenant, repo, {path})).get(path)
            is_indexed = entry is not None and bool(entry.generation)
            self._read[place] = await self._places.file(tenant, repo, entry) if entry and is_indexed else None
        return self._read[place]

    def _commit(self, repo: str) -> str:
        served = self._by_id[repo].served
        return served.commit if served else ""


def _indexed_at(repository: Repository) -> float:
    return repository.served.indexed_at.timestamp() if repository.served else 0.0
