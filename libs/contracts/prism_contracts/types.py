"""Types of fields that callers fill in, each with its limits.

Every string, list, mapping and number that enters Prism has one of these types, or bounds of its own. A test
walks every model that a caller can reach. pydantic checks them without Python code, which keeps a snapshot of
500,000 files cheap.

Names that are stored have an alphabet. Names that are only looked up have a maximum length.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

KIB = 1024
MIB = 1024 * KIB

REPO_CHARS_MAX = 200
REF_CHARS_MAX = 255
COMMIT_CHARS_MAX = 70
PATH_CHARS_MAX = 4_096
PLACE_LINES_CHARS_MAX = 24
GLOB_CHARS_MAX = 1_000
GLOBS_MAX = 100
QUERY_CHARS_MAX = 4_000
PATTERN_CHARS_MAX = 1_000
SYMBOL_CHARS_MAX = 500
CURSOR_CHARS_MAX = 8_000
LANGUAGE_CHARS_MAX = 64
WORD_CHARS_MAX = 64
ID_CHARS_MAX = 200
URL_CHARS_MAX = 2_048
SHORT_TEXT_CHARS_MAX = 1_000
LABEL_CHARS_MAX = 100
FEEDBACK_HITS_MAX = 20
DOCUMENT_CHARS_MAX = MIB
IMPORTED_CHARS_MAX = 4 * MIB
DOCUMENT_TITLE_CHARS_MAX = 200
DOCUMENT_TAGS_MAX = 100
DOCUMENT_SOURCES_MAX = 100
DOCUMENT_FIELDS_MAX = 50
TASK_TITLE_CHARS_MAX = 200
TASK_TEXT_CHARS_MAX = 20_000
COMMIT_MESSAGE_CHARS_MAX = 4_000
PUSHED_COMMITS_MAX = 100
DIFF_CHARS_MAX = 400_000
INDEXED_NAME_CHARS_MAX = 100_000
MODEL_TEXT_CHARS_MAX = 20_000
# The most bytes that one edit may contain. A deployment lowers it by `PRISM_EDIT_BYTES_MAX`.
EDIT_BYTES_MAX = 64 * MIB
PACK_BYTES_MAX = 64 * MIB
# The highest count and position. Exact in the integers of Qdrant and in a float.
COUNT_MAX = 2**53 - 1
LINE_MAX = 2**31 - 1
# No underscore: it separates tenant and model in the name of a collection.
TENANT_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"

_TENANT_OR_NONE = r"^(?:[a-z0-9][a-z0-9-]{0,62})?$"
_SEGMENT = r"\.?[\p{L}\p{M}\p{N}_+@~-]+(?:\.[\p{L}\p{M}\p{N}_+@~-]+)*\.?"
# A name without a slash that begins with @ is a group's.
_ONE_SEGMENT = r"\.?[\p{L}\p{M}\p{N}_+~-][\p{L}\p{M}\p{N}_+@~-]*(?:\.[\p{L}\p{M}\p{N}_+@~-]+)*\.?"
_REPO = rf"{_SEGMENT}(?:/{_SEGMENT})+|{_ONE_SEGMENT}"
_GROUP = r"@[a-z0-9][a-z0-9-]{0,62}"
_REPO_PATTERN = rf"^(?:{_REPO})$"
_REPO_OR_NONE = rf"^(?:{_REPO})?$"
_COMMIT_PATTERN = r"^(?:tree:)?[0-9a-f]{1,64}$"
_VERSION_OR_NONE = r"^(?:[0-9a-f]{40}|[0-9]{1,9})?$"
_COMMIT_OR_NONE = r"^(?:(?:tree:)?[0-9a-f]{1,64})?$"
_BLOB_PATTERN = r"^(?:[0-9a-f]{40}|[0-9a-f]{64})?$"
_DIGEST_PATTERN = r"^[0-9a-fA-F]{64}$"
_GROUP_PATTERN = rf"^{_GROUP}$"
_REPO_OR_GROUP = rf"^(?:{_GROUP}|{_REPO})$"
_HEX_12_PATTERN = r"^[0-9a-f]{12}$"
_ID_PATTERN = r"^[A-Za-z0-9_-]+$"
_ID_OR_NONE = r"^[A-Za-z0-9_-]*$"
# The rules of git check-ref-format for single characters: no space, no control character, none of ~^:?*[\.
_REF_PATTERN = r"^[^\s\p{Cc}~^:?*\[\\]*$"
_FULL_REF_PATTERN = r"^refs/[^\s\p{Cc}~^:?*\[\\]*$"
_NO_CONTROL = r"^\P{Cc}*$"

# The message for a value that does not match, instead of the pattern.
MEANINGS: Mapping[str, str] = {
    TENANT_PATTERN: "should have 1 to 63 lower-case letters, digits and dashes",
    _TENANT_OR_NONE: "should have 1 to 63 lower-case letters, digits and dashes",
    _REPO_PATTERN: "should be owner/name, of letters, digits and . _ - + @ ~, without `..`",
    _REPO_OR_NONE: "should be owner/name, of letters, digits and . _ - + @ ~, without `..`",
    _COMMIT_PATTERN: "should be a commit hash in lower-case hex",
    _COMMIT_OR_NONE: "should be a commit hash in lower-case hex",
    _VERSION_OR_NONE: "should be a commit hash of 40 hex digits, or the number of a draft",
    _BLOB_PATTERN: "should be a git blob hash of 40 or 64 hex digits",
    _DIGEST_PATTERN: "should be a SHA-256 in hex",
    _GROUP_PATTERN: "should be @ and 1 to 63 lower-case letters, digits and dashes",
    _REPO_OR_GROUP: "should be owner/name, or @group",
    _HEX_12_PATTERN: "should be the id of a token: 12 hex digits",
    _ID_PATTERN: "should have letters, digits, dashes and underscores only",
    _ID_OR_NONE: "should have letters, digits, dashes and underscores only",
    _REF_PATTERN: "should be a name that git allows for a ref",
    _FULL_REF_PATTERN: "should be a name that git allows for a ref, and begin with refs/",
    _NO_CONTROL: "should have no control characters",
}

TenantId = Annotated[str, StringConstraints(max_length=63, pattern=TENANT_PATTERN)]
TenantIdOrNone = Annotated[str, StringConstraints(max_length=63, pattern=_TENANT_OR_NONE)]
# A repository's name where it is stored, and where it is looked up (also by its id).
RepoName = Annotated[str, StringConstraints(max_length=REPO_CHARS_MAX, pattern=_REPO_PATTERN)]
RepoNameOrNone = Annotated[str, StringConstraints(max_length=REPO_CHARS_MAX, pattern=_REPO_OR_NONE)]
RepoKey = Annotated[str, StringConstraints(min_length=1, max_length=REPO_CHARS_MAX)]
RepoKeyOrNone = Annotated[str, StringConstraints(max_length=REPO_CHARS_MAX)]
GroupName = Annotated[str, StringConstraints(max_length=64, pattern=_GROUP_PATTERN)]
RepoOrGroup = Annotated[str, StringConstraints(max_length=REPO_CHARS_MAX, pattern=_REPO_OR_GROUP)]
# A ref where it is stored, and where it is looked up (also the handle of an overlay).
RefName = Annotated[str, StringConstraints(max_length=REF_CHARS_MAX, pattern=_REF_PATTERN)]
FullRef = Annotated[  # `refs/heads/main`
    str, StringConstraints(max_length=REF_CHARS_MAX + len("refs/heads/"), pattern=_FULL_REF_PATTERN)
]
Ref = Annotated[str, StringConstraints(min_length=1, max_length=REF_CHARS_MAX)]
RefOrNone = Annotated[str, StringConstraints(max_length=REF_CHARS_MAX)]
# A git commit, or `tree:<digest>` for a folder without git; the second may be empty.
CommitId = Annotated[str, StringConstraints(max_length=COMMIT_CHARS_MAX, pattern=_COMMIT_PATTERN)]
CommitIdOrNone = Annotated[str, StringConstraints(max_length=COMMIT_CHARS_MAX, pattern=_COMMIT_OR_NONE)]
BlobHash = Annotated[str, StringConstraints(max_length=64, pattern=_BLOB_PATTERN)]  # empty: none
Digest = Annotated[str, StringConstraints(max_length=64, pattern=_DIGEST_PATTERN)]
JobId = Annotated[str, StringConstraints(max_length=ID_CHARS_MAX, pattern=_ID_PATTERN)]
JobIdOrNone = Annotated[str, StringConstraints(max_length=ID_CHARS_MAX, pattern=_ID_OR_NONE)]
TokenId = Annotated[str, StringConstraints(max_length=12, pattern=_HEX_12_PATTERN)]
LayerId = Annotated[str, StringConstraints(max_length=ID_CHARS_MAX)]
PointId = Annotated[str, StringConstraints(max_length=64)]
FilePath = Annotated[str, StringConstraints(max_length=PATH_CHARS_MAX)]
# A path, which may end with `:7` or `:10-40`.
Place = Annotated[str, StringConstraints(min_length=1, max_length=PATH_CHARS_MAX + PLACE_LINES_CHARS_MAX)]
# The id or the place of a hit.
FeedbackHit = Annotated[str, StringConstraints(min_length=1, max_length=SYMBOL_CHARS_MAX)]
FeedbackHits = Annotated[tuple[FeedbackHit, ...], Field(max_length=FEEDBACK_HITS_MAX)]
Glob = Annotated[str, StringConstraints(max_length=GLOB_CHARS_MAX)]
Globs = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=GLOB_CHARS_MAX)], ...],
    Field(max_length=GLOBS_MAX),
]
Query = Annotated[str, StringConstraints(max_length=QUERY_CHARS_MAX)]
Pattern = Annotated[str, StringConstraints(max_length=PATTERN_CHARS_MAX)]
SymbolName = Annotated[str, StringConstraints(max_length=SYMBOL_CHARS_MAX)]
# Names from a parser, and texts for a model. They travel between services and never come from a caller.
IndexedName = Annotated[str, StringConstraints(max_length=INDEXED_NAME_CHARS_MAX)]
ModelText = Annotated[str, StringConstraints(max_length=MODEL_TEXT_CHARS_MAX)]
Word = Annotated[str, StringConstraints(max_length=WORD_CHARS_MAX)]  # one of a few
Language = Annotated[str, StringConstraints(max_length=LANGUAGE_CHARS_MAX)]
Cursor = Annotated[str, StringConstraints(max_length=CURSOR_CHARS_MAX)]
GitUrl = Annotated[str, StringConstraints(max_length=URL_CHARS_MAX)]
Diff = Annotated[str, StringConstraints(max_length=DIFF_CHARS_MAX)]  # that is only read
EditDiff = Annotated[str, StringConstraints(max_length=EDIT_BYTES_MAX)]  # that changes files
FileText = Annotated[str, StringConstraints(max_length=EDIT_BYTES_MAX)]
FileBytes = Annotated[bytes, Field(max_length=EDIT_BYTES_MAX)]
PackBytes = Annotated[bytes, Field(max_length=PACK_BYTES_MAX)]
DocumentText = Annotated[str, StringConstraints(max_length=DOCUMENT_CHARS_MAX)]
# Longer than a document, so that one file that is too long does not refuse the others.
ImportedText = Annotated[str, StringConstraints(max_length=IMPORTED_CHARS_MAX)]
DocumentTitle = Annotated[
    str, StringConstraints(min_length=1, max_length=DOCUMENT_TITLE_CHARS_MAX, pattern=_NO_CONTROL)
]
DocumentTag = Annotated[str, StringConstraints(min_length=1, max_length=WORD_CHARS_MAX, pattern=_NO_CONTROL)]
# A commit, or the number of a draft.
DocumentVersionOrNone = Annotated[str, StringConstraints(max_length=40, pattern=_VERSION_OR_NONE)]
DocumentTags = Annotated[tuple[DocumentTag, ...], Field(max_length=DOCUMENT_TAGS_MAX)]
TaskTitle = Annotated[
    str, StringConstraints(min_length=1, max_length=TASK_TITLE_CHARS_MAX, pattern=_NO_CONTROL)
]
CommitMessage = Annotated[str, StringConstraints(max_length=COMMIT_MESSAGE_CHARS_MAX)]
TaskText = Annotated[str, StringConstraints(max_length=TASK_TEXT_CHARS_MAX)]
ShortText = Annotated[str, StringConstraints(max_length=SHORT_TEXT_CHARS_MAX)]
ShortLine = Annotated[str, StringConstraints(max_length=SHORT_TEXT_CHARS_MAX, pattern=_NO_CONTROL)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_CHARS_MAX, pattern=_NO_CONTROL)]
LabelOrNone = Annotated[str, StringConstraints(max_length=LABEL_CHARS_MAX, pattern=_NO_CONTROL)]
Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
Line = Annotated[int, Field(ge=1, le=LINE_MAX)]
LineOrNone = Annotated[int, Field(ge=0, le=LINE_MAX)]  # 0: none
# What a front matter holds besides the fields that Prism knows.
DocumentFields = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=WORD_CHARS_MAX, pattern=_NO_CONTROL)],
        ShortText
        | bool
        | Annotated[int, Field(ge=-COUNT_MAX, le=COUNT_MAX)]
        | Annotated[float, Field(ge=-1e300, le=1e300)]
        | DocumentTags
        | None,
    ],
    Field(max_length=DOCUMENT_FIELDS_MAX),
]
DocumentSources = Annotated[tuple[ShortLine, ...], Field(max_length=DOCUMENT_SOURCES_MAX)]
MessageVersion = Annotated[int, Field(ge=1, le=1_000)]
