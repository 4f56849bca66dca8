"""Which files are the tests of others by their names."""

import pytest

from prism_contracts.types import GLOB_CHARS_MAX
from prism_scribe.core.named_tests import glob_of_tests, names_of_tests, nearest_test


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/depot.py", "test_depot.py"),
        ("depot.go", "depot_test.go"),
        ("src/depot/index.ts", "index.spec.ts"),
        ("src/main/java/Depot.java", "DepotTest.java"),
        ("lib/depot.rb", "depot_spec.rb"),
        ("lib/depot.ex", "depot_test.exs"),
    ],
)
def test_a_file_has_the_test_names_of_its_language(path, name) -> None:
    assert name in names_of_tests(path)


@pytest.mark.parametrize("path", ["tests/test_depot.py", "depot_test.go", "DepotTest.java", "README.md", ""])
def test_a_test_or_a_document_has_no_tests(path) -> None:
    assert names_of_tests(path) == ()
    assert glob_of_tests([path]) == ""


def test_a_glob_names_the_tests_of_the_first_files_and_is_never_too_long() -> None:
    assert glob_of_tests(["a/depot.go", "b/depot.go", "crane.go"]) == "{**/depot_test.go,**/crane_test.go}"
    glob = glob_of_tests(f"src/{'depot' * 20}{number}.go" for number in range(50))
    assert len(glob) <= GLOB_CHARS_MAX
    assert glob.endswith("_test.go}")


def test_a_name_that_a_glob_would_read_otherwise_is_left_out() -> None:
    assert glob_of_tests(["app/[depot].ts", "app/{crane}.ts"]) == ""


def test_of_several_tests_of_a_name_the_nearest_one_counts() -> None:
    found = ["src/crane/index.test.ts", "src/depot/index.test.ts", "src/depot/other.test.ts"]
    assert nearest_test("src/depot/index.ts", found) == "src/depot/index.test.ts"
    assert nearest_test("src/depot/main.ts", found) == ""
