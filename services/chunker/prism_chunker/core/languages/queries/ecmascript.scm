; Patterns common to JavaScript and TypeScript.
(comment) @comment

(class_declaration name: (_) @name) @class
(class_declaration (decorator)) @outer
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method

(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (generator_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: (assignment_expression left: (member_expression) right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(variable_declarator name: (identifier) @name value: (assignment_expression left: (member_expression) right: (class body: (_) @body))) @class
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant))
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable) @outer)
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable) @outer)
(program (export_statement (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable) @outer))
(variable_declarator value: (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))
(return_statement (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))
(arrow_function body: (parenthesized_expression (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method)))
(program (export_statement (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method)))

; Members of objects: `exports.open = function () {}`, `Depot.prototype.open = open = () => {}`, `this.open = …`.
(assignment_expression left: (member_expression) @path right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(assignment_expression left: (member_expression) @path right: (class body: (_) @body)) @class
(assignment_expression left: (member_expression) @path right: (assignment_expression left: (identifier) right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(assignment_expression left: (member_expression) @path right: (assignment_expression left: (identifier) right: (class body: (_) @body))) @class
; `Depot.prototype[name] = function () {}` defines methods whose names are known when it runs.
(assignment_expression left: (subscript_expression object: (_) @_object) @path right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)] (#match? @_object "(^|\\.)(prototype|exports|proto)$")) @function

; Objects of functions: `module.exports = { open: function () {} }`, `Depot.prototype = {…}`, `mixin(Depot.prototype, {…})`.
(assignment_expression left: (member_expression) @path right: (object)) @scope
(assignment_expression left: (member_expression) @path right: (assignment_expression left: (identifier) right: (object))) @scope
(assignment_expression right: (assignment_expression left: (identifier) right: (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @method)))
(assignment_expression left: (member_expression) right: (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @method))
(call_expression function: (_) @_mixin arguments: (arguments . (member_expression) @path (object)) (#match? @_mixin "^(Object\\.assign|_?\\.?(extend|assign)|merge|mixin|extend|assign|inherits)$")) @scope
(call_expression function: (_) @_mixin arguments: (arguments . (member_expression) (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method)) (#match? @_mixin "^(Object\\.assign|_?\\.?(extend|assign)|merge|mixin|extend|assign|inherits)$"))
; Getters of `Object.defineProperties(depot, { gate: { get() {} } })` are no members called `get`.
(call_expression function: (member_expression) @_define arguments: (arguments (object (pair key: (_) @path value: (object)) @scope)) (#eq? @_define "Object.defineProperties"))
(call_expression function: (member_expression) @_define arguments: (arguments (_) . (_) @path . (object)) (#eq? @_define "Object.defineProperty")) @scope

(program (export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function @exported)
(program (export_statement "default" @name value: (class body: (_) @body)) @class @exported)

(export_statement (class_declaration name: (_) @name) @class) @outer @exported
(export_statement (function_declaration name: (identifier) @name) @function) @outer @exported
(export_statement (generator_function_declaration name: (identifier) @name) @function) @outer @exported
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @constant)) @outer @exported
(export_statement (variable_declaration (variable_declarator name: (identifier) @name) @variable)) @outer @exported

(call_expression function: (identifier) @call)
(call_expression function: (subscript_expression object: (identifier) @call))
(call_expression function: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(assignment_expression left: (member_expression object: (_) @qualifier property: (property_identifier) @assign))

(import_statement (import_clause (identifier) @default) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import !alias))) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import alias: (identifier) @alias))) source: (string) @module)
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @whole)
(import_statement . "import" . source: (string) @bare)
(export_statement (export_clause (export_specifier name: (identifier) @import)) source: (string) @module)
(export_statement (export_clause (export_specifier name: (identifier) @import alias: (identifier) @alias)) source: (string) @module)
(export_statement "*" @import source: (string) @module)
(export_statement (namespace_export (_) @alias) source: (string) @whole)
(variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @whole)) (#eq? @_require "require"))
(variable_declarator name: (identifier) @alias value: (member_expression object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) property: (property_identifier) @import) (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @import (pair_pattern key: (property_identifier) @import value: (identifier) @alias)])
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) (#eq? @_require "require"))
(call_expression function: (identifier) @_require arguments: (arguments . (string) @bare) (#eq? @_require "require"))
(assignment_expression left: (member_expression) @alias right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @whole)) (#match? @alias "^(module\\.)?exports(\\.\\w+)?$") (#eq? @_require "require"))
(assignment_expression left: (member_expression) @alias right: (member_expression object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) property: (property_identifier) @import) (#match? @alias "^(module\\.)?exports\\b") (#eq? @_require "require"))
(assignment_expression left: (member_expression) @_exports right: (object (pair key: (property_identifier) @alias value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @whole)))) (#match? @_exports "^(module\\.)?exports$") (#eq? @_require "require"))
(assignment_expression left: (member_expression) @_exports right: (object (pair key: (property_identifier) @alias value: (member_expression object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) property: (property_identifier) @import))) (#match? @_exports "^(module\\.)?exports$") (#eq? @_require "require"))
(assignment_expression left: (member_expression) @_exports right: (object (spread_element "..." @import (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)))) (#match? @_exports "^(module\\.)?exports$") (#eq? @_require "require"))
(call_expression function: (member_expression) @_assign
  arguments: (arguments . [(identifier) (member_expression)] @_exports (call_expression function: (identifier) @_require arguments: (arguments "(" @import . (string) @module)))
  (#eq? @_assign "Object.assign") (#match? @_exports "^(module\\.)?exports$") (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @bare))
(variable_declarator name: (identifier) @alias value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @whole))))
(variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @import (pair_pattern key: (property_identifier) @import value: (identifier) @alias)])
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @module))))

(program (export_statement !source (export_clause (export_specifier name: (identifier) @value @export))))
(program (export_statement value: (identifier) @value @export))
(assignment_expression left: [(identifier) (member_expression)] @_exports right: [(identifier) @value @export (object [(shorthand_property_identifier) @value @export (pair value: (identifier) @value @export)])] (#match? @_exports "^(module\\.)?exports\\b"))

(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @original))
(variable_declaration (variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @original))
(export_statement !source (export_clause (export_specifier name: (identifier) @original alias: _ @alias)))
(assignment_expression left: (member_expression) @alias right: [(identifier) (member_expression)] @original (#match? @alias "^(module\\.)?exports\\.\\w+$"))
(assignment_expression left: (member_expression) @alias right: (assignment_expression left: (member_expression) @original) (#match? @alias "^(module\\.)?exports\\.\\w+$") (#match? @original "^(module\\.)?exports\\.\\w+$"))
(assignment_expression left: (member_expression) @_exports right: (object (pair key: (property_identifier) @alias value: [(identifier) (member_expression)] @original)) (#match? @_exports "^(module\\.)?exports$"))

; What a function inherits: `util.inherits(Depot, Town)`, `Depot.prototype = Object.create(Town.prototype)`, mixins.
(call_expression function: (_) @_inherits arguments: (arguments . [(identifier) (member_expression)] @heir . (identifier) @extends .) (#match? @_inherits "(^|\\.)(inherits|__extends|setPrototypeOf)$"))
(call_expression function: (_) @_inherits arguments: (arguments . [(identifier) (member_expression)] @heir . (member_expression object: (_) @qualifier property: (property_identifier) @extends) .) (#match? @_inherits "(^|\\.)(inherits|__extends)$") (#not-eq? @extends "prototype"))
(call_expression function: (_) @_inherits arguments: (arguments . (member_expression) @heir . (member_expression object: (identifier) @extends property: (property_identifier) @_prototype) .) (#match? @_inherits "(^|\\.)setPrototypeOf$") (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression) @heir right: (call_expression function: (member_expression) @_create arguments: (arguments . (member_expression object: (identifier) @extends property: (property_identifier) @_prototype))) (#match? @heir "\\.prototype$") (#eq? @_create "Object.create") (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression) @heir right: (call_expression function: (member_expression) @_create arguments: (arguments . (member_expression object: (member_expression object: (_) @qualifier property: (property_identifier) @extends) property: (property_identifier) @_prototype))) (#match? @heir "\\.prototype$") (#eq? @_create "Object.create") (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression) @heir right: (new_expression constructor: (identifier) @extends) (#match? @heir "\\.prototype$"))
(call_expression function: (_) @_mixin arguments: (arguments . (member_expression) @heir (identifier) @extends) (#match? @_mixin "^(Object\\.assign|_?\\.?(extend|assign)|merge|mixin|extend|assign)$") (#match? @heir "\\.prototype$"))
(call_expression function: (_) @_mixin arguments: (arguments . (member_expression) @heir (member_expression object: (identifier) @extends property: (property_identifier) @_prototype)) (#match? @_mixin "^(Object\\.assign|_?\\.?(extend|assign)|merge|mixin|extend|assign)$") (#match? @heir "\\.prototype$") (#eq? @_prototype "prototype"))

(arguments [(identifier) (member_expression)] @value)
(array [(identifier) (member_expression)] @value)
(pair value: [(identifier) (member_expression)] @value)
(pair key: (computed_property_name [(identifier) (member_expression)] @value))
(object (shorthand_property_identifier) @value)
(spread_element [(identifier) (member_expression)] @value)
(variable_declarator value: [(identifier) (member_expression)] @value)
(assignment_expression right: [(identifier) (member_expression)] @value)
(assignment_pattern right: [(identifier) (member_expression)] @value)
(return_statement [(identifier) (member_expression)] @value)
(arrow_function body: [(identifier) (member_expression)] @value)
(ternary_expression [(identifier) (member_expression)] @value)
(binary_expression [(identifier) (member_expression)] @value)
(parenthesized_expression [(identifier) (member_expression)] @value)
(unary_expression argument: [(identifier) (member_expression)] @value)
(subscript_expression [(identifier) (member_expression)] @value)
(template_substitution [(identifier) (member_expression)] @value)
(for_in_statement right: [(identifier) (member_expression)] @value)
(switch_case value: [(identifier) (member_expression)] @value)
(decorator [(identifier) (member_expression)] @value)

(object_pattern [(shorthand_property_identifier_pattern) @bound (pair_pattern value: (identifier) @bound) (object_assignment_pattern left: (_) @bound)])
(array_pattern (identifier) @bound)
(rest_pattern (identifier) @bound)
(assignment_expression left: [(identifier) (member_expression object: (this))] @bound right: (_) @given)
(arrow_function parameter: (identifier) @bound)
(catch_clause parameter: (identifier) @bound)
(program (export_statement "default" @bound value: (identifier) @declared))
(program (export_statement "default" @bound declaration: (_ name: (_) @declared)))
(assignment_expression left: (member_expression) @bound right: (identifier) @declared (#match? @bound "^module\\.exports$"))
(assignment_expression left: (member_expression) @bound right: (assignment_expression left: (identifier) right: (identifier) @declared) (#match? @bound "^module\\.exports$"))
(variable_declarator name: (identifier) @declared value: (assignment_expression left: (member_expression) @bound right: (object)) (#match? @bound "^module\\.exports$"))
(for_in_statement left: (identifier) @bound)
(for_in_statement left: (identifier) @bound operator: "of" right: (_) @collection)

(return_statement [(new_expression) (call_expression) (this) (identifier) (await_expression)] @result)
(return_statement (parenthesized_expression [(new_expression) (call_expression) (this) (identifier)] @result))
(return_statement (ternary_expression consequence: [(new_expression) (call_expression) (this) (identifier)] @result))
(return_statement (ternary_expression alternative: [(new_expression) (call_expression) (this) (identifier)] @result))
(arrow_function body: [(new_expression) (call_expression) (await_expression)] @result)
(return_statement (object) @result)
(arrow_function body: (parenthesized_expression (object) @result))
(return_statement (member_expression object: [(this) (member_expression object: (this))]) @result)

(variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @bound (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bound)]) value: [(identifier) (this) (member_expression) (call_expression) (await_expression)] @holder)
(variable_declarator name: (object_pattern (pair_pattern key: (property_identifier) @key value: (identifier) @bound)) value: [(identifier) (this) (member_expression) (call_expression) (await_expression)] @holder)
