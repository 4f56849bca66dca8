(comment) @comment
(block_comment) @comment

(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @object
(package_object name: (identifier) @name) @object
(trait_definition name: (identifier) @name) @trait
(enum_definition name: (identifier) @name) @enum
(simple_enum_case name: (identifier) @name) @constant
(full_enum_case name: (identifier) @name) @constant
(type_definition name: (type_identifier) @name) @type
(function_definition name: (identifier) @name) @function
(function_declaration name: (identifier) @name) @function
(given_definition name: (identifier) @name) @variable
(template_body (val_definition pattern: (identifier) @name) @field)
(template_body (var_definition pattern: (identifier) @name) @field)
(template_body (val_declaration name: (identifier) @name) @field)
(template_body (var_declaration name: (identifier) @name) @field)
(compilation_unit (val_definition pattern: (identifier) @name) @variable)
(compilation_unit (var_definition pattern: (identifier) @name) @variable)

(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @qualifier field: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field: (identifier) @call)))
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (type_identifier) @call))
(extends_clause type: (type_identifier) @extends)
(extends_clause type: (generic_type type: (type_identifier) @extends))
(assignment_expression left: (field_expression value: (_) @qualifier field: (identifier) @assign))
(import_declaration path: (identifier) @import .) @from
(import_declaration (namespace_wildcard) @import) @from
(import_declaration (namespace_selectors (identifier) @import)) @from
(import_declaration (namespace_selectors (arrow_renamed_identifier name: (identifier) @import alias: (identifier) @alias))) @from
