"""Where a name comes from that the repository does not define."""

import pytest
from source_files import source

from prism_search.core.references.origins import SOURCES_MAX, import_sources


@pytest.mark.parametrize(
    ("path", "text", "modules"),
    [
        ("a.py", "from functools import lru_cache\n", ["functools"]),
        ("a.py", "from functools import lru_cache as cached\n", ["functools"]),
        ("a.py", "import lru_cache\n", ["lru_cache"]),
        ("a.py", "from lru_cache import lru_cache\n", ["lru_cache"]),
        ("a.py", "import functools\nfunctools.lru_cache()\n", ["functools"]),
        ("a.py", "import functools as f\nf.lru_cache()\n", ["functools"]),
        ("a.py", "def g(f):\n    f.lru_cache()\n", []),
        ("a.py", "import functools\ndef g(f):\n    f.lru_cache()\n", []),
        ("a.ts", "import { lru_cache } from 'caching';\n", ["caching"]),
        ("a.ts", "import * as caching from 'caching';\ncaching.lru_cache();\n", ["caching"]),
        ("a.js", "const { lru_cache } = require('caching');\n", ["caching"]),
        ("a.rs", "use caching::lru_cache;\n", ["caching"]),
        ("A.java", "import caching.lru_cache;\nclass A {}\n", ["caching"]),
    ],
)
def test_a_name_has_the_modules_that_files_import_it_from(path, text, modules) -> None:
    assert [one.module for one in import_sources("lru_cache", [source(path, text)])] == modules


def test_the_module_of_most_files_comes_first() -> None:
    texts = ["from b import x\n", "from a import x\nfrom a import x as y\n", "import b\nb.x()\n"]
    found = import_sources("x", [source(f"{at}.py", text) for at, text in enumerate(texts)])
    assert [(one.module, one.files) for one in found] == [("b", 2), ("a", 1)]


def test_a_name_has_a_limited_number_of_modules() -> None:
    files = [source(f"{at}.py", f"from m{at} import x\n") for at in range(SOURCES_MAX + 2)]
    assert len(import_sources("x", files)) == SOURCES_MAX
