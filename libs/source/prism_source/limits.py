"""Limits on the contents of a source. Past one, a file gets a skip reason, or the call a clear error."""

from dataclasses import dataclass

from prism_source.secret_policy import DEFAULT_POLICY, SecretPolicy

KIB = 1024
MIB = 1024 * KIB

# A manifest of this many files is about 60 MiB of JSON, and is sent as a claim.
FILES_MAX = 500_000
# PATH_MAX of Linux, which cannot open longer paths.
PATH_BYTES_MAX = 4_096
# A larger file is a bundle, a dump or a data set. The largest hand-written files of well-known projects are
# smaller.
FILE_BYTES_MAX = 1 * MIB
# A chunk is whole lines, so one line must fit a message (768 KiB with its frame). Minified libraries, which
# people do search, have lines of up to 300 KiB.
LINE_BYTES_MAX = 512 * KIB
# As many bytes as git examines to call a file binary.
HEAD_BYTES = 8_000
# Bytes that are read of a `.gitignore`, which is always the user's own.
IGNORE_BYTES_MAX = 1 * MIB
# A `.gitattributes` may be a stranger's. Larger files are ignored, as are lines of a file and files of a tree
# past these limits.
ATTRIBUTES_BYTES_MAX = 64 * KIB
ATTRIBUTES_LINES_MAX = 1_000
ATTRIBUTES_FILES_MAX = 200

# Raw bytes of a pack. At the usual ratio of 4:1 and in base64, a pack fits the 768 KiB of a bus message.
PACK_BYTES_MAX = 2 * MIB
PACK_FILES_MAX = 10_000

# One git call that lists, resolves or reads. 500,000 files take about ten seconds on a cold disk.
GIT_SECONDS_MAX = 120.0

# Memory of one git process that handles other people's data. An index of a million objects takes about 300
# MiB.
GIT_MEMORY_BYTES_MAX = 1024 * MIB
# CPU time of one git process that reads fetched data; `git cat-file` lives as long as a snapshot.
GIT_CPU_SECONDS_MAX = 3_600

# A clone: pack, index and temporary files, checked while it runs.
CLONE_BYTES_MAX = 4 * 1024 * MIB
CLONE_SECONDS_MAX = 900.0
# A fetch fails when the server sends nothing for this long.
CLONE_SILENCE_SECONDS_MAX = 30
# Listing the refs of a server: time, and memory of one process.
LISTING_SECONDS_MAX = 60.0
LISTING_MEMORY_BYTES_MAX = 512 * MIB
# Size of a server's list of refs; a million refs are about 70 MiB.
REFS_BYTES_MAX = 128 * MIB


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """The limits that a caller may set."""

    files_max: int = FILES_MAX
    file_bytes_max: int = FILE_BYTES_MAX
    line_bytes_max: int = LINE_BYTES_MAX
    git_seconds_max: float = GIT_SECONDS_MAX
    secrets: SecretPolicy = DEFAULT_POLICY


DEFAULT_LIMITS = SourceLimits()
