"""One program in several languages, laid out over files and named as a test wants."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

# The definitions of the program, and which others each one uses.
NEEDS = {
    "rate": (),
    "Depot": ("rate",),
    "ship": ("Depot", "rate"),
    "Crate": ("rate",),
    "Yard": ("Depot", "Crate"),
    "tidy": ("Crate", "ship", "Yard"),
}
# Callers and what they call. Both are named by their last names, since languages differ in the owners of functions.
CALLS = {
    ("open", "weigh"),
    ("open", "rate"),
    ("ship", "weigh"),
    ("ship", "rate"),
    ("lift", "rate"),
    ("close", "open"),
    ("close", "lift"),
    ("tidy", "lift"),
    ("tidy", "ship"),
}
NAMES = ("rate", "Depot", "weigh", "open", "ship", "Crate", "lift", "Yard", "close", "tidy")


class Imports(Protocol):
    """Writes what a file has before its definitions."""

    def __call__(self, needed: Mapping[str, str]) -> str:
        """`needed` has the names that the file uses of others, and the file of each, without its suffix."""


@dataclass(frozen=True)
class TownLanguage:
    """How the program is written in a language."""

    suffix: str
    folder: str
    definitions: Mapping[str, str]
    head: Imports
    # A file without importers, with definitions of the same names.
    namesake: tuple[str, str]
    untyped: frozenset[tuple[str, str]] = frozenset()  # calls on objects whose type the source does not say
    foot: str = ""  # what a file has behind its definitions
    entry: str = ""  # a file that declares the others, a line each

    def files(self, layout: Sequence[int], stems: Sequence[str], *, has_namesake: bool) -> dict[str, str]:
        """Returns the texts by path. `layout` has the number of the file of each definition."""
        home = {name: stems[number] for name, number in zip(self.definitions, layout, strict=True)}
        texts = {}
        for stem in dict.fromkeys(home.values()):
            own = [name for name in self.definitions if home[name] == stem]
            needed = {name: home[name] for one in own for name in NEEDS[one] if home[name] != stem}
            body = "\n".join(self.definitions[name] for name in own)
            texts[f"{self.folder}/{stem}{self.suffix}"] = f"{self.head(needed)}{body}{self.foot}"
        if self.entry:
            texts[f"{self.folder}/lib{self.suffix}"] = "".join(
                self.entry.format(stem=stem) for stem in dict.fromkeys(home.values())
            )
        if has_namesake:
            path, text = self.namesake
            texts[path] = text
        return texts

    @property
    def calls(self) -> set[tuple[str, str]]:
        """The calls that must be resolved: (caller, called)."""
        return CALLS - self.untyped


def renamed(files: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Returns the program with other names, each replaced wherever it is a word of its own."""
    word = re.compile(rf"\b({'|'.join(names)})\b")
    return {path: word.sub(lambda found: names[found[0]], text) for path, text in files.items()}


def _python(needed: Mapping[str, str]) -> str:
    return "".join(f"from town.{stem} import {name}\n" for name, stem in needed.items())


def _typescript(needed: Mapping[str, str]) -> str:
    return "".join(f'import {{ {name} }} from "./{stem}";\n' for name, stem in needed.items())


def _rust(needed: Mapping[str, str]) -> str:
    return "".join(f"use crate::{stem}::{name};\n" for name, stem in needed.items())


def _ruby(needed: Mapping[str, str]) -> str:
    return "".join(f'require_relative "{stem}"\n' for stem in dict.fromkeys(needed.values()))


def _cpp(needed: Mapping[str, str]) -> str:
    includes = "".join(f'#include "{stem}.hpp"\n' for stem in dict.fromkeys(needed.values()))
    return f"#pragma once\n{includes}\nnamespace town {{\n"


PYTHON = TownLanguage(
    suffix=".py",
    folder="town",
    head=_python,
    definitions={
        "rate": "def rate():\n    return 2\n",
        "Depot": "class Depot:\n    def weigh(self):\n        return 1\n\n    def open(self):\n        return self.weigh() + rate()\n",
        "ship": "def ship(depot: Depot):\n    return depot.weigh() * rate()\n",
        "Crate": "class Crate:\n    def lift(self):\n        return rate()\n",
        "Yard": "class Yard(Depot):\n    def close(self):\n        crate = Crate()\n        return self.open() + crate.lift()\n",
        "tidy": "def tidy():\n    crate = Crate()\n    crate.lift()\n    return ship(Yard())\n",
    },
    namesake=(
        "elsewhere/other.py",
        "class Depot:\n    def weigh(self): ...\n    def open(self): ...\nclass Crate:\n    def lift(self): ...\ndef rate(): ...\ndef ship(): ...\n",
    ),
)  # fmt: skip
TYPESCRIPT = TownLanguage(
    suffix=".ts",
    folder="town",
    head=_typescript,
    definitions={
        "rate": "export function rate() { return 2; }\n",
        "Depot": "export class Depot {\n  weigh() { return 1; }\n  open() { return this.weigh() + rate(); }\n}\n",
        "ship": "export function ship(depot: Depot) {\n  return depot.weigh() * rate();\n}\n",
        "Crate": "export class Crate {\n  lift() { return rate(); }\n}\n",
        "Yard": "export class Yard extends Depot {\n  close() {\n    const crate = new Crate();\n    return this.open() + crate.lift();\n  }\n}\n",
        "tidy": "export function tidy() {\n  const crate = new Crate();\n  crate.lift();\n  return ship(new Yard());\n}\n",
    },
    namesake=(
        "elsewhere/other.ts",
        "export class Depot { weigh() {} open() {} }\nexport class Crate { lift() {} }\nexport function rate() {}\nexport function ship() {}\n",
    ),
)  # fmt: skip
GO = TownLanguage(
    suffix=".go",
    folder="town",
    head=lambda needed: "package town\n\n",
    definitions={
        "rate": "func rate() int { return 2 }\n",
        "Depot": "type Depot struct{}\n\nfunc (d *Depot) weigh() int { return 1 }\n\nfunc (d *Depot) open() int { return d.weigh() + rate() }\n",
        "ship": "func ship(depot *Depot) int {\n\treturn depot.weigh() * rate()\n}\n",
        "Crate": "type Crate struct{}\n\nfunc (c *Crate) lift() int { return rate() }\n",
        "Yard": "type Yard struct{ Depot }\n\nfunc (y *Yard) close() int {\n\tcrate := Crate{}\n\treturn y.open() + crate.lift()\n}\n",
        "tidy": "func tidy() int {\n\tcrate := Crate{}\n\tcrate.lift()\n\tyard := Yard{}\n\treturn ship(&yard.Depot)\n}\n",
    },
    namesake=(
        "elsewhere/other.go",
        "package elsewhere\n\ntype Depot struct{}\n\nfunc (d *Depot) weigh() {}\n\nfunc (d *Depot) open() {}\n\ntype Crate struct{}\n\nfunc (c *Crate) lift() {}\n\nfunc rate() {}\n\nfunc ship() {}\n",
    ),
)  # fmt: skip
JAVA = TownLanguage(
    suffix=".java",
    folder="town",
    head=lambda needed: "package town;\n\n",
    definitions={
        "rate": "class Rates {\n    static int rate() { return 2; }\n}\n",
        "Depot": "class Depot {\n    int weigh() { return 1; }\n    int open() { return weigh() + Rates.rate(); }\n}\n",
        "ship": "class Ships {\n    static int ship(Depot depot) { return depot.weigh() * Rates.rate(); }\n}\n",
        "Crate": "class Crate {\n    int lift() { return Rates.rate(); }\n}\n",
        "Yard": "class Yard extends Depot {\n    int close() {\n        Crate crate = new Crate();\n        return open() + crate.lift();\n    }\n}\n",
        "tidy": "class Tidies {\n    static int tidy() {\n        var crate = new Crate();\n        crate.lift();\n        return Ships.ship(new Yard());\n    }\n}\n",
    },
    namesake=(
        "elsewhere/Other.java",
        "package elsewhere;\n\nclass Depot { int weigh() { return 0; } int open() { return 0; } }\nclass Crate { int lift() { return 0; } }\nclass Rates { static int rate() { return 0; } }\nclass Ships { static int ship() { return 0; } }\n",
    ),
)  # fmt: skip
CSHARP = TownLanguage(
    suffix=".cs",
    folder="town",
    head=lambda needed: "namespace Town;\n\n",
    definitions={
        "rate": "static class Rates {\n    public static int rate() { return 2; }\n}\n",
        "Depot": "class Depot {\n    public int weigh() { return 1; }\n    public int open() { return weigh() + Rates.rate(); }\n}\n",
        "ship": "static class Ships {\n    public static int ship(Depot depot) { return depot.weigh() * Rates.rate(); }\n}\n",
        "Crate": "class Crate {\n    public int lift() { return Rates.rate(); }\n}\n",
        "Yard": "class Yard : Depot {\n    public int close() {\n        Crate crate = new Crate();\n        return open() + crate.lift();\n    }\n}\n",
        "tidy": "static class Tidies {\n    public static int tidy() {\n        var crate = new Crate();\n        crate.lift();\n        return Ships.ship(new Yard());\n    }\n}\n",
    },
    namesake=(
        "elsewhere/Other.cs",
        "namespace Elsewhere;\n\nclass Depot { int weigh() { return 0; } int open() { return 0; } }\nclass Crate { int lift() { return 0; } }\nclass Rates { static int rate() { return 0; } }\nclass Ships { static int ship() { return 0; } }\n",
    ),
)  # fmt: skip
KOTLIN = TownLanguage(
    suffix=".kt",
    folder="town",
    head=lambda needed: "package town\n\n",
    definitions={
        "rate": "fun rate(): Int = 2\n",
        "Depot": "abstract class Depot {\n    fun weigh(): Int = 1\n    fun open(): Int = weigh() + rate()\n}\n",
        "ship": "fun ship(depot: Depot): Int {\n    return depot.weigh() * rate()\n}\n",
        "Crate": "class Crate {\n    fun lift(): Int = rate()\n}\n",
        "Yard": "class Yard : Depot() {\n    fun close(): Int {\n        val crate = Crate()\n        return open() + crate.lift()\n    }\n}\n",
        "tidy": "fun tidy(): Int {\n    val crate = Crate()\n    crate.lift()\n    return ship(Yard())\n}\n",
    },
    namesake=(
        "elsewhere/Other.kt",
        "package elsewhere\n\nclass Depot {\n    fun weigh() {}\n    fun open() {}\n}\nclass Crate {\n    fun lift() {}\n}\nfun rate() {}\nfun ship() {}\n",
    ),
)  # fmt: skip
RUST = TownLanguage(
    suffix=".rs",
    folder="src",
    head=_rust,
    entry="pub mod {stem};\n",
    definitions={
        "rate": "pub fn rate() -> u32 { 2 }\n",
        "Depot": "pub struct Depot;\n\nimpl Depot {\n    pub fn weigh(&self) -> u32 { 1 }\n    pub fn open(&self) -> u32 { self.weigh() + rate() }\n}\n",
        "ship": "pub fn ship(depot: &Depot) -> u32 {\n    depot.weigh() * rate()\n}\n",
        "Crate": "pub struct Crate;\n\nimpl Crate {\n    pub fn lift(&self) -> u32 { rate() }\n}\n",
        "Yard": "pub struct Yard { pub depot: Depot }\n\nimpl Yard {\n    pub fn close(&self) -> u32 {\n        let crate_ = Crate {};\n        self.depot.open() + crate_.lift()\n    }\n}\n",
        "tidy": "pub fn tidy(yard: &Yard) -> u32 {\n    let own = Crate {};\n    own.lift();\n    ship(&yard.depot)\n}\n",
    },
    namesake=(
        "elsewhere/src/other.rs",
        "pub struct Depot;\nimpl Depot {\n    pub fn weigh(&self) {}\n    pub fn open(&self) {}\n}\npub struct Crate;\nimpl Crate {\n    pub fn lift(&self) {}\n}\npub fn rate() {}\npub fn ship() {}\n",
    ),
)  # fmt: skip
PHP = TownLanguage(
    suffix=".php",
    folder="town",
    head=lambda needed: "<?php\nnamespace Town;\n\n",
    definitions={
        "rate": "function rate(): int { return 2; }\n",
        "Depot": "class Depot {\n    public function weigh(): int { return 1; }\n    public function open(): int { return $this->weigh() + rate(); }\n}\n",
        "ship": "function ship(Depot $depot): int {\n    return $depot->weigh() * rate();\n}\n",
        "Crate": "class Crate {\n    public function lift(): int { return rate(); }\n}\n",
        "Yard": "class Yard extends Depot {\n    public function close(): int {\n        $crate = new Crate();\n        return $this->open() + $crate->lift();\n    }\n}\n",
        "tidy": "function tidy(): int {\n    $crate = new Crate();\n    $crate->lift();\n    return ship(new Yard());\n}\n",
    },
    namesake=(
        "elsewhere/Other.php",
        "<?php\nnamespace Elsewhere;\n\nclass Depot {\n    function weigh() {}\n    function open() {}\n}\nclass Crate {\n    function lift() {}\n}\nfunction rate() {}\nfunction ship() {}\n",
    ),
)  # fmt: skip
RUBY = TownLanguage(
    suffix=".rb",
    folder="town",
    head=_ruby,
    definitions={
        "rate": "module Rates\n  def self.rate\n    2\n  end\nend\n",
        "Depot": "class Depot\n  def weigh\n    1\n  end\n\n  def open\n    weigh + Rates.rate\n  end\nend\n",
        "ship": "module Ships\n  def self.ship(depot)\n    depot.weigh * Rates.rate\n  end\nend\n",
        "Crate": "class Crate\n  def lift\n    Rates.rate\n  end\nend\n",
        "Yard": "class Yard < Depot\n  def close\n    crate = Crate.new\n    open + crate.lift\n  end\nend\n",
        "tidy": "module Tidies\n  def self.tidy\n    crate = Crate.new\n    crate.lift\n    Ships.ship(Yard.new)\n  end\nend\n",
    },
    namesake=(
        "elsewhere/other.rb",
        "module Elsewhere\n  class Depot\n    def weigh\n    end\n    def open\n    end\n  end\n  class Crate\n    def lift\n    end\n  end\n  module Rates\n    def self.rate\n    end\n  end\n  module Ships\n    def self.ship\n    end\n  end\nend\n",
    ),
    untyped=frozenset({("ship", "weigh")}),
)  # fmt: skip
SCALA = TownLanguage(
    suffix=".scala",
    folder="town",
    head=lambda needed: "package town\n\n",
    definitions={
        "rate": "object Rates {\n  def rate(): Int = 2\n}\n",
        "Depot": "class Depot {\n  def weigh(): Int = 1\n  def open(): Int = weigh() + Rates.rate()\n}\n",
        "ship": "object Ships {\n  def ship(depot: Depot): Int = depot.weigh() * Rates.rate()\n}\n",
        "Crate": "class Crate {\n  def lift(): Int = Rates.rate()\n}\n",
        "Yard": "class Yard extends Depot {\n  def close(): Int = {\n    val crate = new Crate()\n    open() + crate.lift()\n  }\n}\n",
        "tidy": "object Tidies {\n  def tidy(): Int = {\n    val crate = new Crate()\n    crate.lift()\n    Ships.ship(new Yard())\n  }\n}\n",
    },
    namesake=(
        "elsewhere/Other.scala",
        "package elsewhere\n\nclass Depot {\n  def weigh(): Int = 0\n  def open(): Int = 0\n}\nclass Crate {\n  def lift(): Int = 0\n}\nobject Rates {\n  def rate(): Int = 0\n}\nobject Ships {\n  def ship(): Int = 0\n}\n",
    ),
)  # fmt: skip
SWIFT = TownLanguage(
    suffix=".swift",
    folder="Sources/Town",
    head=lambda needed: "",
    definitions={
        "rate": "func rate() -> Int { return 2 }\n",
        "Depot": "class Depot {\n    func weigh() -> Int { return 1 }\n    func open() -> Int { return weigh() + rate() }\n}\n",
        "ship": "func ship(depot: Depot) -> Int {\n    return depot.weigh() * rate()\n}\n",
        "Crate": "class Crate {\n    func lift() -> Int { return rate() }\n}\n",
        "Yard": "class Yard: Depot {\n    func close() -> Int {\n        let crate = Crate()\n        return open() + crate.lift()\n    }\n}\n",
        "tidy": "func tidy() -> Int {\n    let crate = Crate()\n    crate.lift()\n    return ship(depot: Yard())\n}\n",
    },
    namesake=(
        "Sources/Town/Elsewhere.swift",
        "enum Elsewhere {\n    class Depot {\n        func weigh() {}\n        func open() {}\n    }\n    class Crate {\n        func lift() {}\n    }\n    static func rate() {}\n    static func ship() {}\n}\n",
    ),
)  # fmt: skip
CPP = TownLanguage(
    suffix=".hpp",
    folder="town",
    head=_cpp,
    foot="}  // namespace town\n",
    definitions={
        "rate": "inline int rate() { return 2; }\n",
        "Depot": "class Depot {\n public:\n  int weigh() { return 1; }\n  int open() { return weigh() + rate(); }\n};\n",
        "ship": "inline int ship(Depot& depot) {\n  return depot.weigh() * rate();\n}\n",
        "Crate": "class Crate {\n public:\n  int lift() { return rate(); }\n};\n",
        "Yard": "class Yard : public Depot {\n public:\n  int close() {\n    Crate crate;\n    return open() + crate.lift();\n  }\n};\n",
        "tidy": "inline int tidy(Yard& yard) {\n  Crate crate;\n  crate.lift();\n  return ship(yard);\n}\n",
    },
    namesake=(
        "elsewhere/other.hpp",
        "namespace elsewhere {\nclass Depot {\n public:\n  int weigh() { return 0; }\n  int open() { return 0; }\n};\nclass Crate {\n public:\n  int lift() { return 0; }\n};\ninline int rate() { return 0; }\ninline int ship() { return 0; }\n}\n",
    ),
)  # fmt: skip
TOWNS = {
    "python": PYTHON,
    "typescript": TYPESCRIPT,
    "go": GO,
    "java": JAVA,
    "csharp": CSHARP,
    "kotlin": KOTLIN,
    "rust": RUST,
    "php": PHP,
    "ruby": RUBY,
    "scala": SCALA,
    "swift": SWIFT,
    "cpp": CPP,
}
