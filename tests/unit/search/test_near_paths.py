import pytest

from prism_search.core.near_paths import NEAR_MAX, near_paths

KNOWN = ["README.md", "src/Depot/Route.java", "src/harbour/route.py", "src/depot/routes.py", "web/parcel.ts"]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("readme.md", "README.md"),
        ("Readme", "README.md"),
        ("depot/route.java", "src/Depot/Route.java"),
        ("src/somewhere/route.py", "src/harbour/route.py"),
        ("lib/Parcel.js", "web/parcel.ts"),
        ("src/depot/route_s.py", "src/depot/routes.py"),
    ],
)
def test_nearest_path_comes_first_ignoring_case(asked, first):
    assert near_paths(asked, KNOWN)[0] == first


def test_near_paths_are_similar_and_limited():
    assert near_paths("zzz", KNOWN) == []
    assert len(near_paths("route", [f"{n}/route.py" for n in range(9)])) == NEAR_MAX
