"""The folders of a repository: how large each is, and what is in it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from prism_contracts.code import CALLING_LANGUAGES
from prism_contracts.rpc.files import FileEntry
from prism_scribe.core.wiki import markdown, prose
from prism_scribe.core.wiki.contents import describes
from prism_scribe.core.wiki.orientation import Orientation

FOLDERS_MAX = 30
NAMES_MAX = 6
# A folder that has so many folders is described by their names.
INNER_MIN = 3
# A folder with more of the source than this is shown by its own folders.
SHARE_MAX = 0.4
DEPTH_MAX = 4
# With less source than this, a folder is what its other files are.
SOURCE_SHARE_MIN = 0.25

_NAMES = {
    "c": "C",
    "cpp": "C++",
    "csharp": "C#",
    "css": "CSS",
    "html": "HTML",
    "javascript": "JavaScript",
    "ocaml": "OCaml",
    "php": "PHP",
    "r": "R",
    "sql": "SQL",
    "tsx": "TypeScript",
    "typescript": "TypeScript",
}


def lines(orientation: Orientation) -> list[str]:
    """Returns a table of folders, those with the most source first."""
    folders = _folders(orientation)
    rows = [
        (
            markdown.code(f"{folder}/"),
            f"{len(files):,}",
            _mostly(orientation, files),
            _about(orientation, folder, files),
        )
        for folder, files in folders[:FOLDERS_MAX]
    ]
    table = markdown.table(("folder", "files", "mostly", "what is in it"), rows)
    if len(folders) > FOLDERS_MAX:
        table.append(f"{markdown.counted(len(folders) - FOLDERS_MAX, 'more folder')} are smaller.")
    return table


def language_name(language: str) -> str:
    """Returns the name of a language as its users write it."""
    return _NAMES.get(language, language.title())


def _folders(orientation: Orientation) -> list[tuple[str, list[FileEntry]]]:
    files = [file for file in orientation.files.values() if not file.file_path.startswith(".")]
    source = _weight(orientation, files)
    folders = _by_folder(files, "")
    for _ in range(DEPTH_MAX):
        largest = max(folders, key=lambda one: _weight(orientation, folders[one]), default="")
        inner = _by_folder(folders.get(largest, ()), largest)
        if not inner or _weight(orientation, folders[largest]) <= SHARE_MAX * source:
            break
        here = [file for file in folders.pop(largest) if str(PurePosixPath(file.file_path).parent) == largest]
        folders |= inner | ({largest: here} if here else {})
    return sorted(folders.items(), key=lambda one: (-_weight(orientation, one[1]), -len(one[1]), one[0]))


def _by_folder(files: Sequence[FileEntry], within: str) -> dict[str, list[FileEntry]]:
    depth = len(PurePosixPath(within).parts) if within else 0
    found: dict[str, list[FileEntry]] = {}
    for file in files:
        parts = PurePosixPath(file.file_path).parts
        if len(parts) > depth + 1:
            found.setdefault("/".join(parts[: depth + 1]), []).append(file)
    return found


def _weight(orientation: Orientation, files: Sequence[FileEntry]) -> int:
    return sum(_is_source(orientation, file) for file in files)


def _mostly(orientation: Orientation, files: Sequence[FileEntry]) -> str:
    own = [file for file in files if _is_source(orientation, file)]
    counted = own if len(own) >= SOURCE_SHARE_MIN * len(files) else files
    return Counter(_kind(orientation, file) for file in counted).most_common(1)[0][0]


def _kind(orientation: Orientation, file: FileEntry) -> str:
    if orientation.is_test(file.file_path):
        return "tests"
    if file.flags.documentation:
        return "documents"
    return language_name(file.language) if file.language in CALLING_LANGUAGES else "other files"


def _is_source(orientation: Orientation, file: FileEntry) -> bool:
    return orientation.is_own(file.file_path) and file.language in CALLING_LANGUAGES


def _about(orientation: Orientation, folder: str, files: Sequence[FileEntry]) -> str:
    """Returns what a folder's introduction or main file says, else the names of what is in it."""
    for document in orientation.documents:
        path = PurePosixPath(document.path)
        is_readme = str(path.parent) == folder and path.name.lower().startswith("readme")
        if is_readme and (quote := prose.first_paragraph(document)):
            return f"{markdown.text(quote.text)} ({markdown.place(quote.path, quote.line)})"
    paths = {file.file_path for file in files}
    modules = [one for one in orientation.modules if one.file_path in paths]
    for module in modules:
        if describes(module.file_path, folder) and (said := prose.sentence(module.summary)):
            return f"{markdown.text(said)} ({markdown.place(module.file_path, 1)})"
    return _names(orientation, folder, files, [one.file_path for one in modules])


def _names(orientation: Orientation, folder: str, files: Sequence[FileEntry], main: Sequence[str]) -> str:
    """Returns the largest folders in a folder, or its most used files."""
    inner = sorted(_by_folder(files, folder).items(), key=lambda one: (-_weight(orientation, one[1]), one[0]))
    if len(inner) >= INNER_MIN:
        names = [f"{PurePosixPath(path).name}/" for path, _ in inner]
    else:
        source = sorted(file.file_path for file in files if _is_source(orientation, file))
        paths = dict.fromkeys([*main, *source]) or sorted(file.file_path for file in files)
        names = [path.removeprefix(f"{folder}/") for path in paths]
    return markdown.joined([markdown.code(name) for name in names[:NAMES_MAX]], len(names))
