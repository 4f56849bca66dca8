(comment) @comment

(namespace_definition name: (_) @name body: (_)) @namespace
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @constant
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(const_declaration (const_element . (name) @name) @constant)
(property_declaration (property_element name: (variable_name (name) @name))) @property
(expression_statement (function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name))) (#eq? @_define "define"))) @constant

(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name prefix: (_) @qualifier (name) @call))
(member_call_expression object: (_) @qualifier name: (name) @call)
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @call)
(scoped_call_expression scope: (_) @qualifier name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name prefix: (_) @qualifier (name) @call))
(base_clause (name) @extends)
(base_clause (qualified_name prefix: (_) @qualifier (name) @extends))
(class_interface_clause (name) @implements)
(use_declaration (name) @implements)
(assignment_expression left: (member_access_expression object: (_) @qualifier name: (name) @assign))
(namespace_use_clause !alias (qualified_name prefix: (_) @module (name) @import))
(namespace_use_clause (qualified_name prefix: (_) @module (name) @import) alias: (name) @alias)
