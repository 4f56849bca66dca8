(comment) @comment

(namespace_definition name: (_) @package)
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
(property_promotion_parameter name: (variable_name (name) @name)) @property
(expression_statement (function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name))) (#eq? @_define "define"))) @constant

(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @qualifier name: (name) @call)
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @call)
(scoped_call_expression scope: (_) @qualifier name: (name) @call)
(object_creation_expression [(name) (qualified_name)] @call)
(attribute [(name) (qualified_name)] @call)
(base_clause [(name) (qualified_name)] @extends)
(class_interface_clause [(name) (qualified_name)] @implements)
(use_declaration [(name) (qualified_name)] @implements)
(assignment_expression left: (member_access_expression object: (_) @qualifier name: (name) @assign))
(namespace_use_declaration (namespace_use_clause !alias . (name) @import))
(namespace_use_clause !alias (qualified_name prefix: (_) @module (name) @import))
(namespace_use_clause (qualified_name prefix: (_) @module (name) @import) alias: (name) @alias)
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause !alias . (name) @import)))
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause . (name) @import alias: (name) @alias)))

(named_type [(name) (qualified_name)] @use)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @use)
(argument [(name) (qualified_name)] @value .)
(class_constant_access_expression . [(name) (qualified_name)] @value (name) @_class (#eq? @_class "class"))
(class_constant_access_expression . [(name) (qualified_name)] @qualifier (name) @value (#not-eq? @value "class"))
(class_constant_access_expression . [(variable_name) (member_access_expression)] @on (name) @value (#not-eq? @value "class"))
(class_constant_access_expression . (relative_scope) @qualifier (name) @value (#not-eq? @value "class"))
(scoped_property_access_expression scope: [(name) (qualified_name)] @value)
(scoped_property_access_expression scope: [(name) (qualified_name) (relative_scope)] @on name: (variable_name (name) @value))
[(member_access_expression) (nullsafe_member_access_expression)] @value
(array_creation_expression . (array_element_initializer . [(variable_name) (member_access_expression)] @on .) . (array_element_initializer . (string . (string_content) @value .) .) .)
(array_creation_expression . (array_element_initializer . (class_constant_access_expression . (_) @on (name) @_class) .) . (array_element_initializer . (string . (string_content) @value .) .) . (#eq? @_class "class"))
(attribute (qualified_name (name) @_provider) parameters: (arguments . (argument (string . (string_content) @value .))) @inside (#any-of? @_provider "DataProvider" "Depends"))
(attribute (name) @_provider parameters: (arguments . (argument (string . (string_content) @value .))) @inside (#any-of? @_provider "DataProvider" "Depends"))
((string_content) @value (#match? @value "^\\\\?[A-Z][A-Za-z0-9_]*(\\\\[A-Z][A-Za-z0-9_]*)+(::[A-Za-z_][A-Za-z0-9_]*)?$"))
(assignment_expression right: [(name) (qualified_name)] @value)
(return_statement [(name) (qualified_name)] @value)
(array_element_initializer [(name) (qualified_name)] @value)
(binary_expression [(name) (qualified_name)] @value)
(unary_op_expression [(name) (qualified_name)] @value)
(conditional_expression [(name) (qualified_name)] @value)
(parenthesized_expression [(name) (qualified_name)] @value)
(sequence_expression [(name) (qualified_name)] @value)
(echo_statement [(name) (qualified_name)] @value)
(match_condition_list [(name) (qualified_name)] @value)
(match_conditional_expression return_expression: [(name) (qualified_name)] @value)
(match_default_expression return_expression: [(name) (qualified_name)] @value)
(case_statement value: [(name) (qualified_name)] @value)
(subscript_expression (_) [(name) (qualified_name)] @value)
(arrow_function body: [(name) (qualified_name)] @value)
(augmented_assignment_expression right: [(name) (qualified_name)] @value)
(cast_expression value: [(name) (qualified_name)] @value)
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
