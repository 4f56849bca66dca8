"""Edges of JavaScript: CommonJS modules, prototypes, mixins, and objects of the language."""

import pytest
from graph_files import edges_between_files, edges_of

TOWN = "function Town() {}\nTown.prototype.weigh = function () {};\nmodule.exports = Town;\n"


@pytest.mark.parametrize(
    ("exporting", "symbol"),
    [
        ("exports.open = function () {};\nfunction open() {}", "exports.open"),
        ("module.exports.open = function () {};", "exports.open"),
        ("exports = module.exports = { open: function () {} };", "exports.open"),
        ("module.exports = { open() {} };", "exports.open"),
        ("module.exports = { open: start };\nfunction start() {}", "start"),
        ("exports.open = start;\nfunction start() {}", "start"),
        ("exports.open = exports.start = function () {};", "exports.start"),
        ("const gate = { open() {} };\nexports.open = gate.open;", "gate.open"),
        ("const depot = module.exports = { open() {} };", "depot.open"),
        ("const depot = exports;\ndepot.open = function () {};", "exports.open"),
        ("(function () {\n  const depot = {};\n  depot.open = function () {};\n  module.exports = depot;\n})();", "depot.open"),
    ],
)  # fmt: skip
def test_exported_function_is_found_from_every_import(exporting: str, symbol: str) -> None:
    user = (
        "const depot = require('./depot');\ndepot.open();\n"
        "const { open } = require('./depot');\nopen();\n"
        "const { open: start } = require('./depot');\nstart();\n"
        "const run = require('./depot').open;\nrun();\n"
        "require('./depot').open();\n"
    )
    found = edges_of({"main.js": user, "depot.js": f"{exporting}\n"})
    lines = {edge.partition(" ")[0] for edge in found if f"-> depot.js:{symbol} " in edge and "?" not in edge}
    assert {f"main.js:{line}" for line in range(2, 10)} <= lines


@pytest.mark.parametrize(
    "exporting",
    [
        "module.exports.x = require('./x');",
        "exports.x = require('./x');",
        "module.exports = { x: require('./x') };",
        "const x = require('./x');\nmodule.exports = { x };",
        "exports.x = require('./more').x;",
        "module.exports = { ...require('./more') };",
        "Object.assign(exports, require('./more'));",
    ],
)
def test_re_exported_module_is_followed(exporting: str) -> None:
    files = {
        "main.js": "const all = require('./all');\nall.x();\nconst { x } = require('./all');\nx();\n",
        "all.js": f"{exporting}\n",
        "more.js": "exports.x = require('./x');\n",
        "x.js": "module.exports = function run() {};\n",
    }
    found = edges_of(files)
    assert "main.js:2 x -> x.js:run module" in found
    assert {"main.js:4 x -> x.js:run module", "main.js:4 x -> x.js:run import"} & found


def test_required_module_is_not_the_function_of_its_name() -> None:
    files = {
        "main.js": "const one = require('./depot');\none.exist();\none.depot();\nnext(one.exist);\n",
        "depot.js": (
            "function depot() {}\nfunction check() {}\nmodule.exports = { exist: check, depot };\nfunction exist() {}\n"
        ),
    }
    found = edges_of(files)
    assert {"main.js:2 exist -> depot.js:check module", "main.js:4 exist -> depot.js:check module"} <= found
    assert "main.js:3 depot -> depot.js:depot module" in found
    assert not [edge for edge in found if edge.startswith("main.js:1 ") and "depot.js:depot" in edge]


def test_exports_beside_the_whole_are_found_under_their_names() -> None:
    files = {
        "main.js": "const Reply = require('./reply');\nReply.build();\nReply.Gate.open();\n",
        "reply.js": (
            "function Reply() {}\nfunction make() {}\nmodule.exports = Reply;\nmodule.exports.build = make;\n"
            "module.exports.Gate = require('./gate');\n"
        ),
        "gate.js": "exports.open = function () {};\n",
    }
    found = edges_of(files)
    assert "main.js:2 build -> reply.js:make module" in found
    assert "main.js:3 open -> gate.js:exports.open module" in found


def test_folder_of_a_package_is_its_main_file() -> None:
    files = {
        "package.json": '{"name": "depot", "main": "lib/depot.js"}',
        "lib/depot.js": "module.exports = function open() {};\n",
        "test/a/open.js": "const depot = require('../..');\ndepot();\n",
    }
    assert "0:test/a/open.js -> 0:lib/depot.js module" in edges_between_files(files)


@pytest.mark.parametrize(
    "depot",
    [
        "function Depot() {}\nDepot.prototype.open = function () { this.shut(); };\nDepot.prototype.shut = function () {};",
        "function Depot() {}\nDepot.prototype = {\n  open: function () { this.shut(); }, shut() {} };",
        "function Depot() {}\nconst proto = Depot.prototype; proto.open = function () { this.shut(); };\nproto.shut = () => 1;",
        "function Depot() { this.shut = function () {}; }\nDepot.prototype.open = function () { this.shut(); };",
        "function Depot() {}\nObject.assign(Depot.prototype, { open() { this.shut(); }, shut() {} });",
        "class Depot { open() {\n this.shut(); } }\nDepot.prototype.shut = function () {};",
    ],
)
def test_method_of_a_prototype_is_found(depot: str) -> None:
    user = "const Depot = require('./depot');\nconst depot = new Depot();\ndepot.open();\ndepot.shut();\n"
    found = edges_of({"main.js": user, "depot.js": f"{depot}\nmodule.exports = Depot;\n"})
    assert "main.js:3 open -> depot.js:Depot.open receiver_type" in found
    assert "main.js:4 shut -> depot.js:Depot.shut receiver_type" in found
    assert [edge for edge in found if edge.endswith("shut -> depot.js:Depot.shut receiver")]


@pytest.mark.parametrize(
    "inheriting",
    [
        "require('util').inherits(Depot, Town);",
        "Depot.prototype = Object.create(Town.prototype);",
        "Depot.prototype = new Town();",
        "Object.setPrototypeOf(Depot.prototype, Town.prototype);",
        "Object.assign(Depot.prototype, Town.prototype);",
    ],
)
def test_inherited_method_is_found(inheriting: str) -> None:
    depot = (
        f"const Town = require('./town');\nfunction Depot() {{ Town.call(this); }}\n{inheriting}\n"
        "Depot.prototype.open = function () { this.weigh(); };\nmodule.exports = Depot;\n"
    )
    user = "const Depot = require('./depot');\nnew Depot().weigh();\n"
    found = edges_of({"main.js": user, "depot.js": depot, "town.js": TOWN})
    assert "main.js:2 weigh -> town.js:Town.weigh receiver_type" in found
    assert "depot.js:4 weigh -> town.js:Town.weigh inherited" in found
    assert "depot.js:3 Town -> town.js:Town module" in found


def test_mixed_in_module_gives_its_functions() -> None:
    files = {
        "main.js": "const Depot = require('./depot');\nnew Depot().weigh();\n",
        "depot.js": "const scales = require('./scales');\nfunction Depot() {}\n"
        "Depot.prototype.open = function () {};\nObject.assign(Depot.prototype, scales);\nmodule.exports = Depot;\n",
        "scales.js": "module.exports = { weigh() {} };\n",
    }
    assert "main.js:2 weigh -> scales.js:exports.weigh receiver_type" in edges_of(files)


def test_this_is_the_object_that_has_the_function() -> None:
    text = (
        "const app = {};\napp.use = function () {\n  this.handle();\n};\napp.handle = function () {};\n"
        "const gate = { open() {\n  this.shut(); }, shut() {} };\n"
        "module.exports = { lift() {\n  this.drop(); }, drop() {} };\n"
    )
    found = edges_of({"app.js": text})
    assert "app.js:3 handle -> app.js:app.handle module" in found
    assert "app.js:7 shut -> app.js:gate.shut module" in found
    assert "app.js:9 drop -> app.js:exports.drop module" in found


def test_bare_name_is_no_member_of_the_function_around_it() -> None:
    text = (
        "function Depot() {\n  open();\n}\nDepot.prototype.open = function () {\n  open();\n};\n"
        "run({ shut() {} });\nshut();\n"
    )
    assert not [edge for edge in edges_of({"depot.js": text}) if " open " in edge or " shut " in edge]


BUILT_IN = """
JSON.parse('');
Math.max(1);
console.log(1);
Object.keys({});
Promise.resolve().then(1);
new Map().get(1);
[1].map(1);
'x'.open();
const headers = new Headers();
headers.get('x');
"""


def test_objects_of_the_language_have_no_members_of_the_repository() -> None:
    own = "export function parse() {}\nexport function max() {}\nexport function log() {}\nexport function keys() {}\n"
    store = "export class Store {\n  get() {}\n  open() {}\n  then() {}\n  map() {}\n}\n"
    found = edges_of({"main.js": BUILT_IN, "own.js": own, "store.js": store})
    assert not [edge for edge in found if "own.js" in edge or "store.js" in edge]


def test_name_of_another_package_is_no_candidate() -> None:
    files = {
        "package.json": '{"name": "depot", "dependencies": {"gates": "1"}}',
        "a.js": "const { open } = require('gates');\nopen();\nconst fs = require('fs');\nfs.read();\n"
        "const gate = new (require('gates').Gate)();\n",
        "b.js": "function open() {}\nfunction read() {}\nfunction Gate() {}\nmodule.exports = { open, read };\n",
    }
    assert edges_between_files(files) == set()
    unlisted = files | {"package.json": '{"name": "depot"}'}
    assert {edge.rpartition(" ")[0] for edge in edges_between_files(unlisted)} == {"0:a.js -> 0:b.js"}


def test_called_result_of_require_is_no_module() -> None:
    text = "const debug = require('./debug')('depot');\ndebug('open');\n"
    found = edges_of({"a.js": text, "debug.js": "module.exports = function make() {};\n"})
    assert "a.js:1 ./debug -> debug.js:make import" not in found
    assert "a.js:1 * -> debug.js:make module" in found
    assert "a.js:2 debug -> a.js:debug same_file" in found


def test_handed_on_function_is_used() -> None:
    text = (
        "function handle() {}\nclass Gate {\n  onOpen() {}\n  start(emitter) {\n    emitter.on('x', this.onOpen);\n"
        "    emitter.on('y', this.onOpen.bind(this));\n  }\n}\napp.get('/', handle);\n[1].map(handle);\n"
    )
    found = edges_of({"gate.js": text})
    assert {f"gate.js:{line} onOpen -> gate.js:Gate.onOpen receiver" for line in (5, 6)} <= found
    assert {f"gate.js:{line} handle -> gate.js:handle same_file" for line in (9, 10)} <= found


def test_imports_of_deno_are_followed() -> None:
    files = {
        "deno.jsonc": '{"imports": {"rates": "./rates/mod.ts", "$lib/": "./lib/", "gates": "jsr:@acme/gates"}}',
        "packages/town/deno.json": '{"name": "@acme/town", "exports": {".": "./town.ts", "./gate": "./src/gate.ts"}}',
        "packages/town/town.ts": "export function build() {}\n",
        "packages/town/src/gate.ts": "export function lift() {}\n",
        "rates/mod.ts": "export function rate() {}\n",
        "lib/depot.ts": "export function open() {}\n",
        "main.ts": "import { rate } from 'rates';\nimport { open } from '$lib/depot.ts';\n"
        "import { build } from '@acme/town';\nimport { lift } from '@acme/town/gate';\n"
        "import { rate as shut } from 'gates';\nshut();\n",
    }
    found = edges_between_files(files)
    targets = ("rates/mod.ts", "lib/depot.ts", "packages/town/town.ts", "packages/town/src/gate.ts")
    assert found == {f"0:main.ts -> 0:{target} import" for target in targets}


def test_type_parameter_is_no_type_of_its_name() -> None:
    text = (
        "import { Key, Depot } from './depot';\nfunction open<Key>(key: Key): Key { return key; }\n"
        "type List<Key> = Key[];\nclass Town<Key> { key: Key }\nconst shut = <Key,>(key: Key) => key;\n"
        "function run<T extends Depot>(key: Key, one: T) {}\n"
    )
    found = edges_of({"a.ts": text, "depot.ts": "export type Key = string;\nexport class Depot {}\n"})
    assert {edge for edge in found if " Key ->" in edge and "import" in edge} == {
        "a.ts:1 Key -> depot.ts:* import",
        "a.ts:1 Key -> depot.ts:Key import",
        "a.ts:6 Key -> depot.ts:Key import",
    }


def test_parameter_of_a_callback_hides_an_import() -> None:
    text = (
        "import { open } from './depot';\ntest('opens', (open) => open());\n"
        "test('opens', ({ gate: open }) => {\n  run(open);\n});\ntest('opens', () => open());\n"
    )
    found = edges_of({"a.ts": text, "depot.ts": "export function open() {}\n"})
    lines = {edge.partition(" ")[0] for edge in found if "depot.ts:open" in edge}
    assert lines == {"a.ts:1", "a.ts:6"}


def test_defined_member_is_not_assigned() -> None:
    found = edges_of(
        {"depot.js": "const all = exports;\nall.open = function () {};\nexports.shut = () => 1;\n"}
    )
    assert not [edge for edge in found if " open " in edge or " shut " in edge]
    assert "depot.js:2 all -> depot.js:all same_file" in found


def test_callback_sees_what_it_defines_and_imports() -> None:
    text = (
        "test('opens', function () {\n  const open = require('./depot').open;\n  open();\n  const run = () => 1;\n"
        "  run();\n  shut = other;\n  shut();\n});\nfunction shut() {}\n"
    )
    found = edges_of({"a.js": text, "depot.js": "exports.open = function () {};\n"})
    assert "a.js:3 open -> depot.js:exports.open import" in found
    assert "a.js:5 run -> a.js:run same_file" in found
    assert "a.js:7 shut -> a.js:shut same_file" in found


DEPOT = """\
class Depot {
  static now() { return new Depot(); }
  static of(town) { const made = town ? Depot.now() : copy(town); return made; }
  with(rate) { return copy(this, { rate }); }
  self() { return this; }
  each(f) { f(() => { return new Gate(); }); return f(1); }
  get first() { return this.gate; }
  get isOpen() { return true; }
  constructor() { this.gate = new Gate(); }
}
function copy(depot) { return new Depot(depot); }
class Gate { open() {} with() {} }
const make = (rate) => copy(rate);
module.exports = { Depot, make };
"""


@pytest.mark.parametrize(
    ("use", "target"),
    [
        ("Depot.now().with(1).self().with(2);", "with -> depot.js:Depot.with"),
        ("Depot.of().self();", "self -> depot.js:Depot.self"),
        ("make(1).self();", "self -> depot.js:Depot.self"),
        ("const one = make(1); one.with(1);", "with -> depot.js:Depot.with"),
        ("Depot.now().first.open();", "open -> depot.js:Gate.open"),
        ("test('x', () => { const one = Depot.now(); expect(one.isOpen); });", "isOpen -> depot.js:Depot.isOpen"),
        ("const { gate } = Depot.now(); gate.open();", "open -> depot.js:Gate.open"),
        ("function go() { const { gate: one } = make(1); one.open(); }", "open -> depot.js:Gate.open"),
    ],
)  # fmt: skip
def test_returned_value_is_known_without_a_declared_type(use: str, target: str) -> None:
    files = {"depot.js": DEPOT, "main.js": f"const {{ Depot, make }} = require('./depot');\n{use}\n"}
    assert f"main.js:2 {target} receiver_type" in edges_of(files)


def test_variable_that_holds_a_member_has_its_value() -> None:
    text = "function go() {\n  const one = Depot.now();\n  const gate = one.gate;\n  gate.open();\n}\n"
    found = edges_of({"depot.js": DEPOT, "main.js": f"const {{ Depot }} = require('./depot');\n{text}"})
    assert "main.js:5 open -> depot.js:Gate.open receiver_type" in found


def test_value_of_a_callback_is_not_returned_by_the_function_around_it() -> None:
    files = {
        "depot.js": DEPOT,
        "main.js": "const { Depot } = require('./depot');\nDepot.now().each().open();\n",
    }
    assert "main.js:2 open -> depot.js:Gate.open receiver_type" not in edges_of(files)


def test_functions_that_return_each_other_end() -> None:
    text = "function a() { return b(); }\nfunction b() { return x ? a() : new Depot(); }\nclass Depot { open() {} }\n"
    found = edges_of({"a.js": f"{text}b().open();\na().open();\n"})
    assert {f"a.js:{line} open -> a.js:Depot.open receiver_type" for line in (4, 5)} <= found


@pytest.mark.parametrize(
    "making",
    [
        "function make() { return { open() {}, close() {} }; }",
        "function make() { return { open: () => 1, close: function () {} }; }",
        "function make() { function open() {}\nfunction close() {}\nreturn { open, close }; }",
        "const make = () => ({ open: () => 1, close() {} });",
        "function make() { const gate = { open() {}, close() {} };\ngate.extra = 1;\nreturn gate; }",
    ],
)
def test_functions_of_a_returned_object_are_called_on_it(making: str) -> None:
    found = edges_of(
        {
            "gate.js": f"{making}\nmodule.exports = make;\n",
            "main.js": "const make = require('./gate');\nmake().open();\nconst gate = make();\ngate.close();\n",
        }
    )
    assert "main.js:2 open -> gate.js:make.open receiver_type" in found
    assert "main.js:4 close -> gate.js:make.close receiver_type" in found


def test_object_is_known_in_the_function_that_makes_it() -> None:
    text = "function make() {\n  const gate = { open() {}, close() { gate.open(); } };\n  gate.close();\n  return gate;\n}\n"
    found = edges_of({"gate.js": text})
    assert "gate.js:2 open -> gate.js:make.open receiver_type" in found
    assert "gate.js:3 close -> gate.js:make.close receiver_type" in found


def test_getter_of_a_defined_property_is_no_member_called_get() -> None:
    text = (
        "function make() {\n  const gate = { get: function (url) {} };\n  Object.defineProperties(gate, { a: { get() {} } });\n"
        "  Object.defineProperty(gate, 'b', { get() {} });\n  return gate;\n}\nmake().get();\n"
    )
    found = edges_of({"gate.js": text})
    assert {edge for edge in found if edge.startswith("gate.js:7 get")} == {
        "gate.js:7 get -> gate.js:make.get receiver_type"
    }


def test_arrow_in_a_returned_object_has_the_object_of_the_method_around_it() -> None:
    text = "class Gate {\n  find() {}\n  hooks() { return { find: () => this.find() }; }\n}\n"
    assert "gate.js:3 find -> gate.js:Gate.find receiver" in edges_of({"gate.js": text})


def test_names_with_a_dollar_sign_are_whole_names() -> None:
    text = "function open() {}\nfunction open$1() {}\nconst $gate = { go() {} };\nopen$1();\n$gate.go();\nmodule.exports = { open: open$1 };\n"
    found = edges_of({"a.js": text, "main.js": "const a = require('./a');\na.open();\n"})
    assert "a.js:4 open$1 -> a.js:open$1 same_file" in found
    assert "main.js:2 open -> a.js:open$1 module" in found


def test_export_of_a_local_variable_is_not_the_function_of_its_name() -> None:
    text = "(function () {\n  function open() {}\n  var open2 = wrap(open);\n  exports.open = open2;\n})();\n"
    found = edges_of({"a.js": text})
    assert not [edge for edge in found if edge.startswith("a.js:4 open ")]


@pytest.mark.parametrize("name", ["auto", "object", "any"])
def test_default_export_may_have_the_name_of_a_type(name: str) -> None:
    files = {
        "main.js": "import run from './run';\nrun();\n",
        "run.js": f"export default function {name}() {{}}\n",
    }
    assert f"main.js:2 run -> run.js:{name} import" in edges_of(files)


def test_type_is_no_value() -> None:
    text = (
        "import { type Response } from './net';\ntype Error = string;\nthrow new Error('x');\nnew Response();\n"
        "class Late extends Error {}\nlet one: Error; let two: Response;\n"
    )
    found = edges_of({"main.ts": text, "net.ts": "export interface Response {}\n"})
    lines = {edge.partition(" ->")[0] for edge in found}
    assert not lines & {"main.ts:3 Error", "main.ts:4 Response", "main.ts:5 Error"}
    assert "main.ts:6 Error -> main.ts:Error same_file" in found
    assert "main.ts:6 Response -> net.ts:Response import" in found


TYPES = """\
import * as s from './s';
type T1<X> = X extends s.A ? s.A : null;
type T2 = [s.A, s.A?];
function t3<X extends s.A>() {}
type T4 = () => s.A;
let t5: { [k: string]: s.A };
type T6 = s.A["x"];
interface T7 extends s.A {}
class T8 implements s.A {}
type T9 = { [K in "x"]: s.A };
"""


def test_types_in_all_positions_are_used() -> None:
    found = edges_of({"main.ts": TYPES, "s.ts": "export interface A {}\n"})
    assert {edge.partition(" ")[0] for edge in found if "-> s.ts:A" in edge} == {
        f"main.ts:{line}" for line in range(2, 11)
    }


FIELDS = """\
import Options from './options';
type Raw = Omit<Options, 'x'>;
class Request {
  options: Options;
  #raw: Raw;
  constructor(options: Other) { this.options = options; }
  run() { const { options } = this; options.open(); }
  read() { return this.#raw.open(); }
}
function go({ options, options: other }: Request) { options.open(); other.open(); }
function see(options: Options) { log(options.isOpen); }
"""


def test_members_of_fields_and_of_destructured_parameters_are_found() -> None:
    options = "export default class Options {\n  open() {}\n  get isOpen() { return true; }\n}\n"
    found = edges_of({"main.ts": FIELDS, "options.ts": options})
    for line in (7, 8, 10):
        assert f"main.ts:{line} open -> options.ts:Options.open receiver_type" in found
    assert "main.ts:11 isOpen -> options.ts:Options.isOpen receiver_type" in found


def test_function_in_a_function_of_its_name_is_seen_in_it() -> None:
    text = "function keep(f) {\n  const keep = function () {};\n  keep.cache = {};\n  return run(keep);\n}\nkeep(1);\n"
    found = edges_of({"a.js": text})
    assert "a.js:4 keep -> a.js:keep.keep same_file" in found
    assert "a.js:6 keep -> a.js:keep same_file" in found


def test_member_of_a_computed_type_may_be_any_of_its_name() -> None:
    files = {
        "plugin.ts": (
            "interface Gate { swing(): void }\n"
            "export function find<K extends keyof Plugins>(key: K): Exclude<Plugins[K], undefined> {}\n"
        ),
        "main.ts": "import { find } from './plugin';\nfind('gate').swing();\n",
    }
    assert "main.ts:2 swing -> plugin.ts:Gate.swing only_definition?" in edges_of(files)
