(comment) @comment

(namespace_declaration name: (_) @name) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace
(class_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(record_declaration "struct" name: (identifier) @name) @struct
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @constant
(delegate_declaration name: (identifier) @name) @type
(constructor_declaration name: (identifier) @name) @constructor
(method_declaration name: (identifier) @name) @method
((local_function_statement name: (identifier) @name) @function (#not-eq? @name "if"))
(indexer_declaration "this" @name) @property
(event_declaration name: (identifier) @name) @field
(property_declaration name: (identifier) @name) @property
(record_declaration (parameter_list (parameter name: (identifier) @name) @property))
(class_declaration (parameter_list (parameter name: (identifier) @name) @field))
(struct_declaration (parameter_list (parameter name: (identifier) @name) @field))
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field

(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name . (identifier) @call))
(invocation_expression function: (member_access_expression expression: (_) @qualifier name: (identifier) @call))
(invocation_expression function: (member_access_expression expression: (_) @qualifier name: (generic_name . (identifier) @call)))
(invocation_expression function: (conditional_access_expression condition: (_) @qualifier (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name . (identifier) @call))
(object_creation_expression type: (qualified_name qualifier: (_) @qualifier name: (identifier) @call))
(constructor_initializer ["this" "base"] @call)
(base_list (identifier) @call . (argument_list))
(base_list (generic_name . (identifier) @call) . (argument_list))
(variable_declaration type: (identifier) @call (variable_declarator (implicit_object_creation_expression)))
(variable_declaration type: (generic_name . (identifier) @call) (variable_declarator (implicit_object_creation_expression)))
(attribute name: (identifier) @call)
(base_list (identifier) @extends)
(base_list (generic_name . (identifier) @extends))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @extends))
(assignment_expression left: (member_access_expression expression: (_) @qualifier name: (identifier) @assign))
(object_creation_expression type: (identifier) @qualifier initializer: (initializer_expression (assignment_expression left: (identifier) @assign)))
(object_creation_expression type: (generic_name . (identifier) @qualifier) initializer: (initializer_expression (assignment_expression left: (identifier) @assign)))
(using_directive !name (identifier) @import)
(using_directive !name (qualified_name) @import)
(using_directive name: (identifier) @alias (qualified_name) @import)

(_ type: [(identifier) (qualified_name)] @use)
(_ returns: [(identifier) (qualified_name)] @use)
(generic_name . (identifier) @use)
(type_argument_list [(identifier) (qualified_name)] @use)
(as_expression right: [(identifier) (qualified_name)] @use)
(is_expression right: [(identifier) (qualified_name)] @use)
(constant_pattern [(identifier) (member_access_expression)] @use)
(type_parameter_constraint [(identifier) (qualified_name)] @use)
(argument [(identifier) (member_access_expression)] @value .)
(variable_declarator name: (_) . [(identifier) (member_access_expression)] @value)
(assignment_expression right: [(identifier) (member_access_expression)] @value)
(return_statement [(identifier) (member_access_expression)] @value)
(arrow_expression_clause [(identifier) (member_access_expression)] @value)
(lambda_expression body: [(identifier) (member_access_expression)] @value)
(initializer_expression [(identifier) (member_access_expression)] @value)
(conditional_expression [(identifier) (member_access_expression)] @value)
(binary_expression [(identifier) (member_access_expression)] @value)
(parameter name: (_) . [(identifier) (member_access_expression)] @value)
(property_declaration value: [(identifier) (member_access_expression)] @value)
(attribute_argument [(identifier) (member_access_expression)] @value .)
(foreach_statement right: [(identifier) (member_access_expression)] @value)
(if_statement condition: (identifier) @value)
(while_statement condition: (identifier) @value)
(do_statement condition: (identifier) @value)
(switch_statement value: (identifier) @value)
(switch_expression . (identifier) @value)
(parenthesized_expression (identifier) @value)
(prefix_unary_expression (identifier) @value)
(await_expression (identifier) @value)
(is_pattern_expression expression: (identifier) @value)
(element_access_expression expression: (identifier) @value)
(conditional_access_expression condition: (identifier) @value)
(interpolation (identifier) @value)
(member_access_expression) @value
(assignment_expression left: (identifier) @set)
(postfix_unary_expression (identifier) @set)
(conditional_access_expression condition: (_) @on (member_binding_expression name: (identifier) @value))
(is_pattern_expression expression: (identifier) @on pattern: (recursive_pattern !type (property_pattern_clause (subpattern . (identifier) @value))))
(recursive_pattern type: (_) @on (property_pattern_clause (subpattern . (identifier) @value)))

(type_parameter name: (identifier) @generic)
(type_parameter_constraints_clause (identifier) @generic . (type_parameter_constraint type: (_) @constraint))
(field_declaration (variable_declaration type: (_) @declared (variable_declarator name: (identifier) @member . (_)? @given)))
(property_declaration type: (_) @declared name: (identifier) @member)
(record_declaration (parameter_list (parameter type: (_) @declared name: (identifier) @member)))
(class_declaration (parameter_list (parameter type: (_) @declared name: (identifier) @member)))
(parameter type: (_)? @declared name: (identifier) @bound)
(local_declaration_statement (variable_declaration type: (_) @declared (variable_declarator name: (identifier) @bound . (_)? @given)))
(using_statement (variable_declaration type: (_) @declared (variable_declarator name: (identifier) @bound . (_)? @given)))
(foreach_statement type: (_) @declared left: (identifier) @bound)
(catch_declaration type: (_) @declared name: (identifier) @bound)
(declaration_pattern type: (_) @declared name: (identifier) @bound)
(lambda_expression parameters: (implicit_parameter) @bound)
(assignment_expression left: (member_access_expression expression: "this") @bound right: (_) @given)
(method_declaration returns: (_) @returned)
(local_function_statement type: (_) @returned)
