(comment) @comment
(module_declaration (module_fqn) @name) @module
(class_declaration (identifier) @name) @class
(struct_declaration (identifier) @name) @struct
(interface_declaration (identifier) @name) @interface
(union_declaration (identifier) @name) @union
(enum_declaration (identifier) @name) @enum
(enum_member . (identifier) @name) @constant
(template_declaration (identifier) @name) @macro
(function_declaration (identifier) @name (function_body) @body) @function
(constructor (this) @name) @constructor
(aggregate_body (variable_declaration (declarator . (identifier) @name)) @field)
(module_def (variable_declaration (declarator . (identifier) @name)) @variable)
(call_expression . (identifier) @call)
(base_class (identifier) @extends)
(import_declaration (imported (module_fqn) @import))
