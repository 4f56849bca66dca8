import json

import pytest
from pydantic import ValidationError

from bench.quality.questions import Corpus, Question, Target, load_questions

CORPUS = Corpus(name="shop", language="python")


def question(text: str, *paths: str) -> Question:
    return Question(CORPUS, text, "semantic", tuple(map(Target, paths)))


def write(folder, repos, **annotations) -> None:
    (folder / "repos.json").write_text(json.dumps(repos))
    (folder / "annotations").mkdir()
    for name, asked in annotations.items():
        (folder / "annotations" / f"{name}.json").write_text(json.dumps(asked))


def test_questions_come_with_their_corpus_and_all_targets(tmp_path) -> None:
    shop = {"name": "shop", "language": "go", "revision": "abc", "root": "src", "github": "us/shop"}
    absent = {"name": "absent", "language": "c"}
    lines = {"path": "b.go", "start_line": 3, "end_line": 5}
    asked = {"query": "who pays", "category": "symbol", "relevant": ["a.go"], "secondary": [lines]}
    write(tmp_path, [absent, shop], shop=[asked])
    (found,) = load_questions(tmp_path / "annotations")
    assert (found.text, found.category) == ("who pays", "symbol")
    assert found.targets == (Target("a.go"), Target("b.go", 3, 5))
    assert (found.corpus.language, found.corpus.revision, found.corpus.root) == ("go", "abc", "src")


def test_the_root_has_the_benchmarks_own_name_as_well(tmp_path) -> None:
    write(tmp_path, [{"name": "shop", "language": "go", "benchmark_root": "lib"}], shop=[])
    assert load_questions(tmp_path / "annotations") == []
    assert Corpus.model_validate({"name": "shop", "language": "go", "benchmark_root": "lib"}).root == "lib"


@pytest.mark.parametrize("wrong", [{"query": "q", "category": "c"}, {"query": "q", "relevant": ["a"]}])
def test_a_question_without_targets_or_category_is_an_error(tmp_path, wrong) -> None:
    write(tmp_path, [{"name": "shop", "language": "go"}], shop=[wrong])
    with pytest.raises(ValidationError):
        load_questions(tmp_path / "annotations")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("send the invoice", "billing/invoice.py"),
        ("invoices that are late", "billing/invoice.py"),
        ("how is a message serialized", "wire/serializer.rs"),
        ("where are users stored", "app/UserStore.kt"),
        ("HTTPServer", "net/http_server.c"),
        ("what parses the cfg", "cfg.lua"),
    ],
)
def test_a_word_of_the_path_closes_the_gap(text, path) -> None:
    assert not question(text, path).is_gap
    assert not question(text, "zz/qq.py", path).is_gap


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("why is a payment refused", "billing/invoice.py"),
        ("forward a request", "src/for.py"),
        ("stray rules", "strict/mode.ts"),
        ("py", "a/b.py"),
    ],
)
def test_a_gap_shares_no_word_with_any_path(text, path) -> None:
    assert question(text, path, "zz/qq.py").is_gap
