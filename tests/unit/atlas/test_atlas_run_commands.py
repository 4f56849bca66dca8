"""The commands that run some tests and no others."""

import pytest

from prism_atlas.core.run_commands import NAMES_PER_FILE_MAX, NamedTest, Project, commands


def run(tests: list[NamedTest], has: tuple[str, ...] = (), imports: tuple[str, ...] = ()) -> list[str]:
    return [one.command for one in commands(tests, Project(has.__contains__, frozenset(imports)))]


def named(path: str, language: str, *symbols: str) -> list[NamedTest]:
    return [NamedTest(path, language, 3 + number, symbol) for number, symbol in enumerate(symbols)]


@pytest.mark.parametrize(
    ("tests", "has", "expected"),
    [
        (named("tests/test_a.py", "python", "TestA.test_one", "test_two"), (),
         ["pytest tests/test_a.py::TestA::test_one tests/test_a.py::test_two"]),
        (named("van/van_test.go", "go", "TestOne", "TestTwo"), (), ["go test ./van -run '^(TestOne|TestTwo)$'"]),
        (named("van_test.go", "go", "VanSuite.TestOne"), (), ["go test . -testify.m '^(TestOne)$'"]),
        (named("src/van/mod.rs", "rust", "tests.ships"), (), ["cargo test -- --exact van::tests::ships"]),
        (named("crates/a/tests/all.rs", "rust", "ships"), ("crates/a/Cargo.toml",),
         ["cargo test --manifest-path crates/a/Cargo.toml --test all -- --exact ships"]),
        (named("tests/VanTests.cs", "csharp", "Vans.VanTests.Ships"), (),
         ["dotnet test --filter 'FullyQualifiedName~Vans.VanTests.Ships'"]),
        (named("src/test/java/a/VanTest.java", "java", "VanTest.ships", "VanTest.waits"), ("pom.xml",),
         ["mvn test '-Dtest=VanTest#ships+waits'"]),
        (named("app/src/test/kotlin/VanTest.kt", "kotlin", "VanTest.ships"), ("gradlew",),
         ["./gradlew :app:test --tests VanTest.ships"]),
        ([NamedTest("test/van_test.exs", "elixir", 7, title="ships")], (), ["mix test test/van_test.exs:7"]),
        ([NamedTest("spec/van_spec.rb", "ruby", 7, title="ships")], (), ["bundle exec rspec spec/van_spec.rb:7"]),
        (named("test/van_test.rb", "ruby", "VanTest.test_ships"), (),
         ["ruby -Ilib -Itest test/van_test.rb -n '/^(test_ships)$/'"]),
        (named("tests/VanTest.php", "php", "VanTest.testShips"), (),
         ["vendor/bin/phpunit --filter '/::(testShips)( |$)/' tests/VanTest.php"]),
        (named("Tests/VanTests.swift", "swift", "VanTests.testShips"), (), ["swift test --filter VanTests/testShips"]),
    ],
)  # fmt: skip
def test_each_runner_gets_the_names_in_its_form(tests, has, expected) -> None:
    assert run(tests, has) == expected


@pytest.mark.parametrize(
    ("imported", "expected"),
    [
        ("vitest", "npx vitest run a.test.ts -t 'ships \\(fast\\)'"),
        ("@jest/globals", "npx jest a.test.ts -t 'ships \\(fast\\)'"),
        ("mocha", "npx mocha a.test.ts -g 'ships \\(fast\\)'"),
        ("node:test", "node --test --test-name-pattern 'ships \\(fast\\)' a.test.ts"),
    ],
)
def test_titles_are_patterns_of_the_imported_runner(imported, expected) -> None:
    assert run([NamedTest("a.test.ts", "typescript", 3, title="ships (fast)")], imports=(imported,)) == [
        expected
    ]


def test_file_whose_titles_are_unknown_runs_as_a_whole() -> None:
    assert run([NamedTest("a.test.ts", "typescript", 1)]) == ["npx jest a.test.ts"]


def test_many_tests_of_a_file_run_as_the_file() -> None:
    many = named("tests/test_a.py", "python", *(f"test_{n:03}" for n in range(NAMES_PER_FILE_MAX + 1)))
    assert run(many) == ["pytest tests/test_a.py"]


def test_language_without_a_known_runner_has_no_command() -> None:
    assert run(named("test.zig", "zig", "ships")) == []
