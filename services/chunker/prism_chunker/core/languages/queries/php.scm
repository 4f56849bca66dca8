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
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause . (name) @import)))
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause . (name) @import alias: (name) @alias)))

(named_type [(name) (qualified_name)] @use)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @use)
(argument [(name) (qualified_name)] @value .)
(class_constant_access_expression . [(name) (qualified_name)] @value (name) @_class (#eq? @_class "class"))
(class_constant_access_expression . [(name) (qualified_name)] @qualifier (name) @value (#not-eq? @value "class"))
(class_constant_access_expression . (relative_scope) @qualifier (name) @value (#not-eq? @value "class"))
(scoped_property_access_expression scope: [(name) (qualified_name)] @value)
(scoped_property_access_expression scope: [(name) (qualified_name) (relative_scope)] @on name: (variable_name (name) @value))
[(member_access_expression) (nullsafe_member_access_expression)] @value
(assignment_expression right: [(name) (qualified_name)] @value)
(return_statement [(name) (qualified_name)] @value)
(array_element_initializer [(name) (qualified_name)] @value)
(binary_expression [(name) (qualified_name)] @value)
(simple_parameter default_value: [(name) (qualified_name)] @value)
(property_element default_value: [(name) (qualified_name)] @value)
(const_element (_) [(name) (qualified_name)] @value)

(property_declaration type: (_) @declared (property_element name: (variable_name (name) @member)))
(property_promotion_parameter type: (_) @declared name: (variable_name (name) @member))
(property_promotion_parameter type: (_) @declared name: (variable_name) @bound)
(simple_parameter type: (_)? @declared name: (variable_name) @bound)
(assignment_expression left: [(variable_name) (member_access_expression object: (variable_name))] @bound right: (_) @given)
(foreach_statement (_) . (variable_name) @bound)
(foreach_statement (pair (variable_name) @bound))
(catch_clause type: (type_list . (_) @declared .) name: (variable_name) @bound)
(_ return_type: (_) @returned)
