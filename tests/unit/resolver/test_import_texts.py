"""Texts that import a file from another repository."""

import pytest

from prism_resolver.modules import File, import_texts


@pytest.mark.parametrize(
    ("file", "packages", "texts"),
    [
        (File("src/parcels/depot.py", "python", "tracker"), ["tracker"], {"from parcels", "import parcels"}),
        (File("depot.py", "python", "tracker"), [], {"from depot", "import depot"}),
        (
            File("lib/scale.ts", "typescript", "tracker"),
            ["@acme/scale"],
            {"'@acme/scale'", "'@acme/scale/", '"@acme/scale"', '"@acme/scale/'},
        ),
        (File("disk/disk.go", "go", "tracker"), ["acme.dev/store"], {'acme.dev/store"', "acme.dev/store/"}),
        (File("disk/disk.go", "go", "tracker"), [], {'tracker"', "tracker/"}),
        (File("include/scale.h", "c", "tracker"), [], {"scale.h"}),
        (File("app/src/main/java/dev/acme/Depot.java", "java", "tracker"), [], {"dev.acme"}),
        (File("src/lib.rs", "rust", "tracker"), ["parcel-scale"], {"parcel_scale::"}),
        (File("lib/parcels/depot.rb", "ruby", "tracker"), [], {"parcels", "tracker"}),
    ],
)
def test_a_file_is_imported_by_one_of_these_texts(file, packages, texts):
    assert import_texts(file, packages) == texts
