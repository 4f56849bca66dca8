(comment) @comment
(documentation_comment) @comment
(annotation) @attribute
(class_definition name: (identifier) @name) @class
(mixin_declaration (identifier) @name) @trait
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(extension_declaration name: (identifier) @name) @class
(type_alias . (type_identifier) @name) @type
((method_signature (function_signature name: (identifier) @name)) @method . (function_body) @tail)
((method_signature (getter_signature name: (identifier) @name)) @property . (function_body) @tail)
((method_signature (setter_signature name: (identifier) @name)) @property . (function_body) @tail)
((method_signature (constructor_signature name: (identifier) @name)) @constructor . (function_body) @tail)
((function_signature name: (identifier) @name) @function . (function_body) @tail)
(constructor_signature name: (identifier) @name) @constructor
(factory_constructor_signature (identifier) @name) @constructor
(function_signature name: (identifier) @name) @function
(getter_signature name: (identifier) @name) @property
(setter_signature name: (identifier) @name) @property
(class_body (declaration (initialized_identifier_list (initialized_identifier . (identifier) @name)) @field))
(static_final_declaration . (identifier) @name) @constant
(superclass (type_identifier) @extends)
(mixins (type_identifier) @implements)
(interfaces (type_identifier) @implements)
((identifier) @call . (selector (argument_part)))
((identifier) @qualifier . (selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(import_specification (configurable_uri) @file)
(import_specification (configurable_uri) @file (identifier) @alias)
(import_specification (configurable_uri) @module (combinator "show" (identifier) @import))

(type_alias . (type_identifier) @name . (type_identifier) @original .)

(type_identifier) @use
(argument . (identifier) @value .)
(argument . (identifier) @qualifier . (selector (unconditional_assignable_selector (identifier) @value)) .)
(named_argument (label) . (identifier) @value .)
(named_argument (label) . (identifier) @qualifier . (selector (unconditional_assignable_selector (identifier) @value)) .)
(initialized_variable_definition name: (_) value: (identifier) @value .)
(initialized_identifier (identifier) (identifier) @value .)
(assignment_expression right: (identifier) @value)
(return_statement (identifier) @value .)
(function_body "=>" (identifier) @value .)
(list_literal (identifier) @value)
(pair value: (identifier) @value)
(equality_expression (identifier) @value)
(relational_expression (identifier) @value)

(type_parameter (type_identifier) @generic)
(class_body (declaration (type_identifier) @declared . (type_arguments)? @declared . (nullable_type)? . (initialized_identifier_list (initialized_identifier . (identifier) @member))))
(class_body (declaration (initialized_identifier_list (initialized_identifier . (identifier) @member . (identifier) @made . (selector (argument_part))))))
(static_final_declaration . (identifier) @member . (identifier) @made . (selector (argument_part)))
(formal_parameter (type_identifier) @declared . (type_arguments)? @declared . (nullable_type)? name: (identifier) @bound)
(formal_parameter name: (identifier) @bound)
(initialized_variable_definition (type_identifier) @declared . (type_arguments)? @declared . (nullable_type)? . name: (identifier) @bound)
(initialized_variable_definition name: (identifier) @bound)
(initialized_variable_definition name: (identifier) @bound value: (identifier) @made . value: (selector (argument_part)) .)
(initialized_variable_definition name: (identifier) @bound value: (identifier) @made . value: (selector (unconditional_assignable_selector)) @made . value: (selector (argument_part)) .)
(initialized_variable_definition name: (identifier) @bound value: (unary_expression (await_expression . (identifier) @made . (selector (argument_part)) .)))
(initialized_variable_definition name: (identifier) @bound value: (unary_expression (await_expression . (identifier) @made . (selector (unconditional_assignable_selector)) @made . (selector (argument_part)) .)))
(for_loop_parts name: (identifier) @bound)
(catch_parameters (identifier) @bound)
(function_signature . (type_identifier) @returned . (type_arguments)? @returned)
(getter_signature . (type_identifier) @returned . (type_arguments)? @returned)
