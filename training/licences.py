"""Which packages may be read: permissive licences only, and none of the evaluation repositories."""

import re

# The repositories of the evaluation benchmark, under the names by which packages carry or vendor them.
_NAMES = """
    aiohttp fastapi flask httpx model2vec pydantic pydantic-core requests starlette click axios express redux gin gin-gonic
    cobra chi gson commons-lang commons-lang3 jackson guzzle guzzlehttp monolog laravel illuminate sinatra rack rails
    railties activerecord activemodel activesupport activejob activestorage actionpack actionview actionmailer actioncable
    tokio tokio-util serde serde_json serde_derive axum tower trpc zod vitest messagepack-csharp messagepack newtonsoft
    newtonsoft-json newtonsoft.json dapper ktor kotlinx-coroutines kotlinx.coroutines coroutines-core exposed cats circe
    http4s alamofire vapor rxswift snapkit plug phoenix ecto absl abseil abseil-cpp fmt nlohmann nlohmann-json curl libcurl
    redis hiredis libuv uv bats nvm bash-it aeson pandoc pandoc-types xmonad telescope lazy.nvim mini.nvim zig zls zig-clap
"""
_EVALUATION_NAMES = _NAMES.split()
# Too common as words inside package names; their folders are still skipped.
_COMMON_WORDS = frozenset({"uv", "fmt", "exposed", "messagepack", "plug", "tower"})

_EVALUATION_PATH = re.compile(
    r"(^|/)({})([-_.]?v?\d[\w.]*)?(/|$)".format("|".join(map(re.escape, _EVALUATION_NAMES))), re.IGNORECASE
)
_EVALUATION_PACKAGE = re.compile(
    r"(^|[-_/@.])({})([-_.]|$)".format(
        "|".join(re.escape(name) for name in _EVALUATION_NAMES if name not in _COMMON_WORDS)
    ),
    re.IGNORECASE,
)
_PERMISSIVE = re.compile(
    r"\b(mit|expat|bsd|apache|isc|psf|python|zlib|boost|bsl|unlicense|cc0|public.domain|postgresql|ruby|hpnd|openssl|wtfpl|"
    r"0bsd|php|x11|ncsa|zpl|blueoak|artistic|libpng|tcl|upl|ms-pl|icu|llvm|pil|go$)",
    re.IGNORECASE,
)
_RESTRICTED = re.compile(
    r"\b(a?gpl|lgpl|gnu|epl|cddl|mpl|sspl|busl|cc-by-nc|proprietary|unlicensed|see license|elastic)",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(or|dual)\b|/", re.IGNORECASE)
_KNOWN_TEXTS = {
    "GNU (AFFERO|LESSER|LIBRARY|GENERAL)|GPL": "GPL-family",
    "Mozilla Public": "MPL-2.0",
    "Eclipse Public": "EPL",
    "Apache License": "Apache-2.0",
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary": "BSD",
    "Permission to use, copy, modify": "ISC",
    "Boost Software": "BSL-1.0",
}
_NAME_CHARS_MAX = 60
_TEXT_CHARS_READ = 6_000


def is_evaluation_package(name: str) -> bool:
    """Returns whether a package is, or is named after, a repository of the benchmark."""
    return bool(_EVALUATION_PACKAGE.search(name))


def is_evaluation_path(path: str) -> bool:
    """Returns whether a path leads through a folder named after a repository of the benchmark."""
    return bool(_EVALUATION_PATH.search(path))


def is_permissive(licence: str) -> bool:
    """Returns whether a licence, as a package names it, is permissive. One permissive choice is enough."""
    if _CHOICE.search(licence) and _PERMISSIVE.search(licence):
        return True
    return bool(_PERMISSIVE.search(licence)) and not _RESTRICTED.search(licence)


def licence_of_debian_copyright(text: str) -> str:
    """Returns the licence of a debian/copyright file: of `Files: *`, else the first one named, else read from
    its text.
    """
    whole = re.findall(r"^Files: *\*.*?^License: *(\S.*?)$", text, re.MULTILINE | re.DOTALL)
    if whole:
        return str(whole[0]).strip()[:_NAME_CHARS_MAX]
    first = re.search(r"^License: *(\S.*)$", text, re.MULTILINE)
    return first.group(1).strip()[:_NAME_CHARS_MAX] if first else licence_of_text(text)


def licence_of_text(text: str) -> str:
    """Returns the name of a licence from its text, empty if it is unknown."""
    for pattern, name in _KNOWN_TEXTS.items():
        if re.search(pattern, text[:_TEXT_CHARS_READ], re.IGNORECASE):
            return name
    return ""
