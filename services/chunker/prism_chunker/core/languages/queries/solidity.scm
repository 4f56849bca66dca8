(comment) @comment
(contract_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(library_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(struct_member name: (identifier) @name) @field
(enum_declaration name: (identifier) @name) @enum
(event_definition name: (identifier) @name) @type
(error_declaration name: (identifier) @name) @type
(modifier_definition name: (identifier) @name) @function
(function_definition name: (identifier) @name) @function
(constructor_definition "constructor" @name) @constructor
(state_variable_declaration name: (identifier) @name) @field
(call_expression function: (expression (identifier) @call))
(call_expression function: (expression (member_expression object: (_) @qualifier property: (identifier) @call)))
(inheritance_specifier ancestor: (user_defined_type (identifier) @extends))
(import_directive source: (string) @file)
