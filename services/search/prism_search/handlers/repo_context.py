"""Answers `repo_context`: what the documents of a repository say, by section, quoted with their headings."""

from collections.abc import Mapping, Sequence

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.rpc.guidance import ContextDocument, ContextSection, RepoContextReply, RepoContextRequest
from prism_search.adapters.documents import Documents, DocumentText
from prism_search.adapters.listing import Listing
from prism_search.core.documents import LineRange, head, headings, opening, sections_about
from prism_search.core.repo_documents import ABOUT_PURPOSE, CHARS_MAX, choose, documents_max


class RepoContextHandler:
    """Answers `repo_context`."""

    def __init__(self, repositories: RepositoryCatalog, listing: Listing, documents: Documents) -> None:
        self._repositories = repositories
        self._listing = listing
        self._documents = documents

    async def repo_context(self, request: RepoContextRequest) -> RepoContextReply:
        """Returns the documents of the section, or of all sections, and the sections that have none."""
        target = await self._repositories.target(request, single=True)
        points = {point.text("path"): point for point in (await self._listing.files(target)).points}
        chosen = choose((path, point.text("language")) for path, point in points.items())
        asked = [*([request.section] if request.section else []), *request.sections]
        wanted = list(dict.fromkeys(asked)) or list(ContextSection)
        if wanted == [ContextSection.VISION] and not chosen[ContextSection.VISION]:
            chosen[ContextSection.VISION] = [
                path for path in chosen[ContextSection.README] if "/" not in path
            ][:1]
        shown = {section: chosen[section][: documents_max(section)] for section in wanted}
        paths = sorted({path for some in shown.values() for path in some})
        files = {
            file.path: file for file in await self._documents.read(target, [points[path] for path in paths])
        }
        return RepoContextReply(
            repo=target.repositories[0].name,
            documents=tuple(
                _quoted(section, files[path])
                for section, some in shown.items()
                for path in some
                if path in files
            ),
            missing=tuple(section for section in wanted if not _has_document(section, chosen)),
            left_out=sum(len(chosen[section]) - len(some) for section, some in shown.items()),
            receipt=await self._repositories.receipt(target),
        )


def _has_document(section: ContextSection, chosen: Mapping[ContextSection, Sequence[str]]) -> bool:
    """Whether the section has a document. A README also covers the vision."""
    return bool(chosen[section] or (section is ContextSection.VISION and chosen[ContextSection.README]))


def _quoted(section: ContextSection, file: DocumentText) -> ContextDocument:
    lines = head(file.lines, CHARS_MAX[section], _lines_about(section, file))
    return ContextDocument(
        section=section,
        file_path=file.path,
        line_count=len(file.lines),
        start_line=lines.start,
        end_line=lines.end,
        content=file.quote(lines, CHARS_MAX[section]),
        headings=headings(file.symbols),
    )


def _lines_about(section: ContextSection, file: DocumentText) -> LineRange:
    """Returns the lines of a document that are about the section."""
    if section is ContextSection.VISION:
        about: Sequence[LineRange] = sections_about(file.symbols, ABOUT_PURPOSE)
        return about[0] if about else opening(file.lines, file.symbols)
    return LineRange(1, len(file.lines))
