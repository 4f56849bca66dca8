; What JavaScript and TypeScript share.
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
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant))
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable) @outer)
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable) @outer)
(program (export_statement (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable) @outer))
(program (lexical_declaration (variable_declarator value: (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))))
(program (export_statement (object (pair key: (property_identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method)))
(program (expression_statement (assignment_expression left: (member_expression) @path right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function))
(program (expression_statement (assignment_expression left: (member_expression) @path right: (class body: (_) @body)) @class))

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

(import_statement (import_clause (identifier) @import) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import !alias))) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import alias: (identifier) @alias))) source: (string) @module)
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @file)
(import_statement . "import" . source: (string) @file)
(export_statement (export_clause (export_specifier name: (identifier) @import)) source: (string) @module)
(export_statement "*" @import source: (string) @module)
(variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @_require arguments: (arguments (string) @file)) (#eq? @_require "require"))
