(line_comment) @comment
(block_comment) @comment
(module_definition name: (identifier) @name) @module
(struct_definition (type_head . (identifier) @name)) @struct
(struct_definition (type_head (binary_expression . (identifier) @name))) @struct
(struct_definition (type_head (parametrized_type_expression . (identifier) @name))) @struct
(struct_definition (type_head (binary_expression . (parametrized_type_expression . (identifier) @name)))) @struct
(abstract_definition (type_head . (identifier) @name)) @type
(abstract_definition (type_head (binary_expression . (identifier) @name))) @type
(function_definition (signature (call_expression . (_) @path))) @function
(function_definition (signature (typed_expression . (call_expression . (_) @path)))) @function
(function_definition (signature (where_expression . (call_expression . (_) @path)))) @function
(macro_definition (signature (call_expression . (identifier) @name))) @macro
(assignment . (call_expression . (_) @path)) @function

(const_statement (assignment . (identifier) @name)) @constant
; A docstring is a string that stands above its definition.
(string_literal) @comment
(call_expression . (identifier) @call)
(call_expression . (field_expression value: (_) @qualifier (identifier) @call .))
(struct_definition (type_head (binary_expression (operator) . (identifier) @extends)))
(using_statement (identifier) @import)
(import_statement (identifier) @import)
(using_statement (selected_import . (_) @module (identifier) @import))
(import_statement (selected_import . (_) @module (identifier) @import))
