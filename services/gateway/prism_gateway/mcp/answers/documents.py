"""Documents: what was found, read, written and committed."""

from collections.abc import Iterable, Iterator

from prism_contracts.base import Message
from prism_contracts.rpc.documents import (
    CommitDocumentsReply,
    CreateDocumentReply,
    DocumentDiffReply,
    DocumentHit,
    DocumentMetadata,
    DocumentMetadataReply,
    DocumentReply,
    DocumentSummary,
    DocumentVersion,
    DocumentVersionsReply,
    EmbeddingState,
    GenerateEmbeddingsReply,
    GenerateTagsReply,
    ListDocumentsReply,
    RelatedDocument,
    RelatedDocumentsReply,
    SearchDocumentsReply,
    UpdateDocumentReply,
)
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.stale import stale_lines
from prism_gateway.mcp.tool import Answer


def found(reply: SearchDocumentsReply) -> Answer:
    """The best excerpt of each document."""
    blocks = ["\n".join(_hit(hit)) for hit in reply.results] or ["No document matches."]
    left_out = reply.total_found - len(reply.results)
    notes = [f"note: {several(left_out, 'more document')}: raise max_results."] if left_out > 0 else []
    return _answer(reply, "\n\n".join([*blocks, *notes]))


def document(reply: DocumentReply) -> Answer:
    """A document with its text."""
    head = "\n".join(_metadata(reply.metadata)) + "\n\n" if reply.metadata else ""
    return _answer(reply, f"{reply.path} ({reply.document_id})\n{head}{reply.content}")


def changes(reply: DocumentReply, compared: DocumentDiffReply, base: str) -> Answer:
    """What differs between two versions of a document."""
    head = "\n".join(_metadata(reply.metadata)) + "\n\n" if reply.metadata else ""
    diff = compared.diff or f"No difference from {base}."
    data = reply.model_dump(mode="json", exclude={"content"}) | {"diff": compared.diff}
    return Answer(data, f"{reply.path} ({reply.document_id})\n{head}{diff}")


def metadata(
    reply: DocumentMetadataReply,
    history: DocumentVersionsReply | None = None,
    related: RelatedDocumentsReply | None = None,
) -> Answer:
    """A document without its text, and its versions and related documents if they are asked for."""
    head = [f"{reply.path} ({reply.document_id})", *_metadata(reply.metadata), reply.frontmatter.rstrip()]
    data = reply.model_dump(mode="json")
    if history:
        data["versions"] = [one.model_dump(mode="json") for one in history.versions]
        head += ["versions:", *map(_version, history.versions)]
        head += ["note: older ones are not listed."] if history.next_cursor else []
    if related:
        data["related"] = [one.model_dump(mode="json") for one in related.related]
        head += ["related:", *(map(_related, related.related) if related.related else ["none"])]
    return Answer(data, "\n".join(head).rstrip())


def listed(reply: ListDocumentsReply) -> Answer:
    """A page of documents, one a line."""
    lines = [_summary(one) for one in reply.documents] or ["No documents."]
    shown = reply.offset + len(reply.documents)
    if shown < reply.total:
        lines.append(f"note: {several(reply.total - shown, 'more document')}: offset={shown}.")
    return _answer(reply, "\n".join(lines))


def created(reply: CreateDocumentReply) -> Answer:
    """A new draft."""
    text = f"Created {reply.path} ({reply.document_id}), a draft: commit_to_git commits it."
    return _answer(reply, text + _suggestions(reply.processing_results.tags_generated))


def updated(reply: UpdateDocumentReply) -> Answer:
    """An updated draft."""
    changes = ", ".join(reply.changes_applied) or "nothing: it has these values already"
    text = f"{reply.path} ({reply.document_id}), version {reply.version}. Changed: {changes}."
    return _answer(reply, text + _suggestions(reply.tags_generated))


def embedded(reply: GenerateEmbeddingsReply) -> Answer:
    """What the index has of a document."""
    match reply.state:
        case EmbeddingState.INDEXED:
            text = f"Searchable: {several(reply.chunks_processed, 'chunk')}, model {reply.model_used}."
        case EmbeddingState.SKIPPED:
            text = f"Not searchable: {reply.reason}."
        case EmbeddingState.PENDING:
            text = "Not searchable yet. It is being indexed: call again in some seconds."
    return _answer(reply, text)


def tagged(reply: GenerateTagsReply) -> Answer:
    """Proposed tags."""
    lines = [
        f"tags: {', '.join(reply.final_tags) or 'none'}",
        f"new: {', '.join(reply.generated_tags) or 'none'} (confidence {reply.confidence:.2f})",
        *([f"category: {reply.category}"] if reply.category else []),
        *([f"chosen by {reply.model}"] if reply.model else []),
        "note: nothing was changed; update_document sets them.",
    ]
    return _answer(reply, "\n".join(lines))


def committed(reply: CommitDocumentsReply) -> Answer:
    """A commit of drafts."""
    files = several(len(reply.files_committed), "file")
    pushed = ", pushed" if reply.pushed else ", waits to be pushed" if reply.pending_push else ""
    lines = [f"{reply.commit_hash}: {files}{pushed}", *reply.files_committed]
    if reply.push_error:
        lines.append(f"push: {reply.push_error.message} {reply.push_error.next_action}")
    lines += [f"{one.path} was changed at the remote, too: see {one.kept_path}" for one in reply.conflicts]
    return Answer(reply.model_dump(mode="json", exclude_none=True), "\n".join(lines))


def _suggestions(tags: Iterable[str]) -> str:
    shown = ", ".join(tags)
    return f"\nsuggested tags: {shown} (update_document sets them)" if shown else ""


def _answer(reply: Message, text: str) -> Answer:
    return Answer(reply.model_dump(mode="json"), text)


def _hit(hit: DocumentHit) -> Iterator[str]:
    yield f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.title} ({hit.document_id}), {hit.similarity_score:.2f}"
    yield from _labels(hit.metadata.tags, hit.metadata.category)
    yield from stale_lines(hit.metadata.stale)
    yield hit.snippet.rstrip("\n")


def _metadata(found: DocumentMetadata) -> Iterator[str]:
    kind = "generated" if found.is_generated else "captured, read-only"
    state = ", draft" if found.is_draft else ""
    yield f"{found.title}: {kind}{state}, version {found.version}, {several(found.word_count, 'word')}"
    yield from _labels(found.tags, found.category)
    yield from stale_lines(found.stale)


def _version(one: DocumentVersion) -> str:
    what = f"draft {one.version}" if one.is_draft else f"{one.version} {one.message}"
    return f"{one.at:%Y-%m-%d %H:%M} {one.author or 'unknown'}: {what}"


def _related(one: RelatedDocument) -> str:
    why = [f"text {one.score:.2f}"] if one.score else []
    why += [f"both name {', '.join(one.shared_places)}"] if one.shared_places else []
    why += [f"tags {', '.join(one.shared_tags)}"] if one.shared_tags else []
    return f"{one.path} {one.title} ({one.document_id}): {'; '.join(why)}"


def _labels(tags: Iterable[str], category: str) -> Iterator[str]:
    if category:
        yield f"category: {category}"
    if shown := ", ".join(tags):
        yield f"tags: {shown}"


def _summary(one: DocumentSummary) -> str:
    draft = (" (draft)" if one.is_draft else "") + (" (stale)" if one.stale else "")
    tags = f" [{', '.join(one.tags)}]" if one.tags else ""
    return f"{one.created_at:%Y-%m-%d} {one.path}{draft} {one.title}{tags} ({one.document_id})"
