"""Names of modules."""

import pytest

from prism_resolver.modules import File, import_roots


@pytest.mark.parametrize(
    ("file", "roots"),
    [
        (File("src/parcels/depot.py", "python", "tracker"), {"parcels", "tracker"}),
        (File("depot.py", "python", "tracker"), {"depot", "tracker"}),
        (File("lib/depot/scale.ts", "typescript", "tracker"), {"depot", "tracker"}),
        (File("store/disk/disk.go", "go", "tracker"), {"store", "disk", "tracker"}),
        (File("include/scale.h", "c", "tracker"), {"scale", "tracker"}),
    ],
)
def test_packages_are_imported_by_their_root(file, roots):
    assert import_roots(file) == roots
