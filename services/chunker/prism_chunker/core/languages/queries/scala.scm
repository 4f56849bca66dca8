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
(compilation_unit (package_clause name: (package_identifier) @package !body))
(import_declaration (identifier) @import .) @from
(import_declaration (namespace_wildcard) @import) @from
(import_declaration (namespace_selectors (identifier) @import)) @from
(import_declaration (namespace_selectors (arrow_renamed_identifier name: (identifier) @import alias: (identifier) @alias))) @from

(type_definition name: (type_identifier) @name !type_parameters type: [(type_identifier) (stable_type_identifier)] @original)

(stable_type_identifier) @use
(type_identifier) @use
(arguments [(identifier) (field_expression)] @value)
(arguments (assignment_expression right: [(identifier) (field_expression)] @value))
(val_definition value: [(identifier) (field_expression)] @value)
(var_definition value: [(identifier) (field_expression)] @value)
(assignment_expression right: [(identifier) (field_expression)] @value)
(function_definition body: [(identifier) (field_expression)] @value)
(parameter default_value: [(identifier) (field_expression)] @value)
(postfix_expression . (identifier) @value)
(infix_expression left: [(identifier) (field_expression)] @value)
(infix_expression right: [(identifier) (field_expression)] @value)
(case_clause body: [(identifier) (field_expression)] @value)
(case_clause pattern: [(stable_identifier) (identifier)] @value)
(case_class_pattern type: (type_identifier) @value)
(tuple_expression [(identifier) (field_expression)] @value)
(block [(identifier) (field_expression)] @value .)
(if_expression condition: (parenthesized_expression (identifier) @value))
(prefix_expression (identifier) @value)
(field_expression) @value

(type_parameters name: (identifier) @generic)
(class_parameter name: (identifier) @member type: (_) @declared)
(template_body (val_definition pattern: (identifier) @member type: (_)? @declared value: (_) @given))
(template_body (var_definition pattern: (identifier) @member type: (_)? @declared value: (_) @given))
(template_body (val_declaration name: (identifier) @member type: (_) @declared))
(val_definition pattern: (identifier) @bound type: (_)? @declared value: (_) @given)
(var_definition pattern: (identifier) @bound type: (_)? @declared value: (_) @given)
(val_definition pattern: (tuple_pattern (identifier) @bound))
(parameter name: (identifier) @bound type: (_) @declared)
(lambda_expression parameters: (identifier) @bound)
(bindings (binding name: (identifier) @bound type: (_)? @declared))
(enumerator . (identifier) @bound)
(typed_pattern pattern: (identifier) @bound type: (_) @declared)
(function_definition return_type: (_) @returned)
(function_declaration return_type: (_) @returned)
