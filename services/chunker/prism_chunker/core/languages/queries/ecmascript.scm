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
(program (lexical_declaration (variable_declarator value: (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))))
(program (export_statement (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method)))
(program (expression_statement (assignment_expression left: (member_expression) @path right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function))
(program (expression_statement (assignment_expression left: (member_expression) @path right: (class body: (_) @body)) @class))
(program (expression_statement (assignment_expression left: (identifier) right: (assignment_expression left: (member_expression) @path right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)))
(program (expression_statement (assignment_expression left: (identifier) right: (assignment_expression left: (member_expression) @path right: (class body: (_) @body)) @class)))
(program (expression_statement (assignment_expression left: (member_expression) @path right: (assignment_expression left: (identifier) right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function))
(program (expression_statement (assignment_expression left: (member_expression) @path right: (assignment_expression left: (identifier) right: (class body: (_) @body))) @class))
(program (export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function @exported)
(program (export_statement "default" @name value: (class body: (_) @body)) @class @exported)

(export_statement (class_declaration name: (_) @name) @class) @outer @exported
(export_statement (function_declaration name: (identifier) @name) @function) @outer @exported
(export_statement (generator_function_declaration name: (identifier) @name) @function) @outer @exported
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @constant)) @outer @exported
(export_statement (variable_declaration (variable_declarator name: (identifier) @name) @variable)) @outer @exported

(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(assignment_expression left: (member_expression object: (_) @qualifier property: (property_identifier) @assign))

(import_statement (import_clause (identifier) @default) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import !alias))) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import alias: (identifier) @alias))) source: (string) @module)
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @file)
(import_statement . "import" . source: (string) @file)
(export_statement (export_clause (export_specifier name: (identifier) @import)) source: (string) @module)
(export_statement (export_clause (export_specifier name: (identifier) @import alias: (identifier) @alias)) source: (string) @module)
(export_statement "*" @import source: (string) @module)
(export_statement (namespace_export (_) @alias) source: (string) @file)
(variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @file)) (#eq? @_require "require"))
(variable_declarator name: (identifier) @alias value: (member_expression object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) property: (property_identifier) @import) (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @import (pair_pattern key: (property_identifier) @import value: (identifier) @alias)])
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module)) (#eq? @_require "require"))
(call_expression function: (identifier) @_require arguments: (arguments . (string) @file) (#eq? @_require "require"))
(program (expression_statement (assignment_expression left: (member_expression) @alias right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @file))) (#match? @alias "^module\\.exports$") (#eq? @_require "require")))
(program (expression_statement (assignment_expression left: (identifier) right: (assignment_expression left: (member_expression) @alias right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @file)))) (#match? @alias "^module\\.exports$") (#eq? @_require "require")))
(call_expression function: (import) arguments: (arguments . (string) @file))
(variable_declarator name: (identifier) @alias value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @file))))
(variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @import (pair_pattern key: (property_identifier) @import value: (identifier) @alias)])
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @module))))

(program (export_statement !source (export_clause (export_specifier name: (identifier) @value @export))))
(program (export_statement value: (identifier) @value @export))
(program (expression_statement (assignment_expression left: [(identifier) (member_expression)] @_exports right: [(identifier) @value @export (object [(shorthand_property_identifier) @value @export (pair value: (identifier) @value @export)])]) (#match? @_exports "^(module\\.)?exports\\b")))

(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @original))
(variable_declaration (variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @original))
(export_statement !source (export_clause (export_specifier name: (identifier) @original alias: _ @alias)))

(arguments [(identifier) (member_expression)] @value)
(array [(identifier) (member_expression)] @value)
(pair value: [(identifier) (member_expression)] @value)
(pair key: (computed_property_name [(identifier) (member_expression)] @value))
(object (shorthand_property_identifier) @value)
(spread_element (identifier) @value)
(variable_declarator value: [(identifier) (member_expression)] @value)
(assignment_expression right: [(identifier) (member_expression)] @value)
(assignment_pattern right: [(identifier) (member_expression)] @value)
(return_statement [(identifier) (member_expression)] @value)
(arrow_function body: [(identifier) (member_expression)] @value)
(ternary_expression [(identifier) (member_expression)] @value)
(binary_expression [(identifier) (member_expression)] @value)
(parenthesized_expression (identifier) @value)
(subscript_expression [(identifier) (member_expression)] @value)
(template_substitution (identifier) @value)
(for_in_statement right: (identifier) @value)
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
(program (expression_statement (assignment_expression left: (member_expression) @bound right: (identifier) @declared)) (#match? @bound "^module\\.exports$"))
(program (expression_statement (assignment_expression left: (identifier) right: (assignment_expression left: (member_expression) @bound right: (identifier) @declared))) (#match? @bound "^module\\.exports$"))
(for_in_statement left: (identifier) @bound)
