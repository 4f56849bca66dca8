"""Names of functions that JavaScript assigns to modules, prototypes and `this`."""

import pytest

from prism_chunker.core import chunk_file


def symbols(text: str, path: str = "depot.js") -> str:
    found = chunk_file(path, text).symbols
    return " ".join(
        f"{one.qualified_name}:{one.kind}"
        for one in found
        if "function" in str(one.kind) or str(one.kind) == "method"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exports.open = function open() {};", "exports.open:function"),
        ("module.exports.open = () => 1;", "exports.open:function"),
        ("exports['open'] = function () {};", "exports.open:function"),
        ("exports.open = exports.start = function () {};", "exports.start:function"),
        ("module.exports = { open: function () {}, shut() {}, go: () => 1 };", "exports.open:method exports.shut:method exports.go:method"),
        ("exports = module.exports = { open: function () {} };", "exports.open:method"),
        ("const depot = exports;\ndepot.open = function () {};", "exports.open:function"),
        ("const depot = module.exports = { open() {} };", "depot.open:method"),
        ("(function () { exports.open = function () {}; })();", "exports.open:function"),
        ("Depot.prototype.open = function () {};", "Depot.open:method"),
        ("Depot.prototype = { open: function () {}, shut() {} };", "Depot.open:method Depot.shut:method"),
        ("const proto = Depot.prototype;\nfunction Depot() {}\nproto.open = function () {};", "Depot:function Depot.open:method"),
        ("Object.assign(Depot.prototype, { open() {}, shut: () => 1 });", "Depot.open:method Depot.shut:method"),
        ("Depot.prototype[name] = function () {};", "Depot.[name]:method"),
        ("exports[name] = function () {};", "exports.[name]:function"),
        ("Depot.open = function () {};", "Depot.open:function"),
        ("function Depot() { this.open = function () {}; }", "Depot:function Depot.open:method"),
        ("class Depot { init() { this.open = () => 1; } }", "Depot.init:method Depot.open:method"),
        ("Depot.prototype.init = function () { this.open = () => 1; };", "Depot.init:method Depot.open:method"),
        ("function make() { const app = {}; app.use = function use() {}; return app; }", "make:function make.app.use:function"),
    ],
)  # fmt: skip
def test_function_is_named_by_the_object_that_has_it(text: str, expected: str) -> None:
    assert symbols(text) == expected


def test_exported_functions_are_marked() -> None:
    text = "module.exports = { open() {} };\nexports.shut = function () {};\nfunction own() {}\nmodule.exports.own = own;\n"
    found = chunk_file("depot.js", text).symbols
    assert [one.qualified_name for one in found if one.exported] == ["exports.open", "exports.shut", "own"]


def inherited(text: str) -> list[str]:
    parsed = chunk_file("depot.js", text)
    found = [one for one in parsed.references if str(one.kind) == "extends"]
    return [f"{parsed.symbols[one.symbol].qualified_name} < {one.qualifier}.{one.name}" for one in found]


@pytest.mark.parametrize(
    "inheriting",
    [
        "util.inherits(Depot, Town);",
        "inherits(Depot, Town);",
        "Depot.prototype = Object.create(Town.prototype);",
        "Depot.prototype = new Town();",
        "Object.setPrototypeOf(Depot.prototype, Town.prototype);",
        "Object.assign(Depot.prototype, Town);",
    ],
)
def test_function_inherits_what_it_is_linked_to(inheriting: str) -> None:
    assert inherited(f"function Depot() {{}}\n{inheriting}\nDepot.prototype.open = function () {{}};\n") == [
        "Depot < .Town"
    ]


def test_base_of_an_unknown_function_is_only_a_use() -> None:
    assert inherited("util.inherits(Depot, Town);\nfunction Town() {}\n") == []


def test_a_variable_that_is_an_import_of_a_file_is_no_definition() -> None:
    text = "const fs = require('fs');\nconst depot = require('./depot');\nexport const gate = require('./gate');\n"
    found = chunk_file("town.js", text)
    assert [one.name for one in found.symbols] == ["fs", "gate"]
    assert "depot" in [one.alias for one in found.references]
