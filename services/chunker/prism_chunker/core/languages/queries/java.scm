(line_comment) @comment
(block_comment) @comment

(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @interface
(constructor_declaration name: (identifier) @name) @constructor
(compact_constructor_declaration name: (identifier) @name) @constructor
(method_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
(enum_constant name: (identifier) @name) @constant
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @field))

(method_invocation !object name: (identifier) @call)
(method_invocation object: (_) @qualifier name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(object_creation_expression type: (scoped_type_identifier (_) @qualifier (type_identifier) @call .))
(method_reference . (_) @qualifier (identifier) @call .)
(object_creation_expression type: [(type_identifier) @extends (generic_type . (type_identifier) @extends)] (class_body))
(object_creation_expression type: (scoped_type_identifier (_) @qualifier (type_identifier) @extends .) (class_body))
(superclass (type_identifier) @extends)
(superclass (generic_type . (type_identifier) @extends))
(superclass (scoped_type_identifier (_) @qualifier (type_identifier) @extends .))
(super_interfaces (type_list (scoped_type_identifier (_) @qualifier (type_identifier) @implements .)))
(extends_interfaces (type_list (scoped_type_identifier (_) @qualifier (type_identifier) @extends .)))
(super_interfaces (type_list (type_identifier) @implements))
(super_interfaces (type_list (generic_type . (type_identifier) @implements)))
(extends_interfaces (type_list (type_identifier) @extends))
(extends_interfaces (type_list (generic_type . (type_identifier) @extends)))
(assignment_expression left: (field_access object: (_) @qualifier field: (identifier) @assign))
(explicit_constructor_invocation constructor: [(this) (super)] @call)
(marker_annotation name: (identifier) @call)
(annotation name: (identifier) @call)
(marker_annotation name: (scoped_identifier scope: (_) @qualifier name: (identifier) @call))
(annotation name: (scoped_identifier scope: (_) @qualifier name: (identifier) @call))

(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration (scoped_identifier scope: (_) @module name: (identifier) @import) .)
(import_declaration (_) @module (asterisk) @import)

(scoped_type_identifier) @use
(type_identifier) @use
(argument_list (identifier) @value)
(variable_declarator value: (identifier) @value)
(assignment_expression right: (identifier) @value)
(return_statement (identifier) @value)
(array_initializer (identifier) @value)
(ternary_expression (identifier) @value)
(binary_expression (identifier) @value)
(lambda_expression body: (identifier) @value)
(annotation_argument_list (identifier) @value)
(annotation name: (_) @on arguments: (annotation_argument_list (element_value_pair key: (identifier) @value)))
(element_value_pair value: (identifier) @value)
(element_value_array_initializer (identifier) @value)
(switch_label (identifier) @value)
(enhanced_for_statement value: (identifier) @value)
(parenthesized_expression (identifier) @value)
(unary_expression operand: (identifier) @value)
(array_access array: (identifier) @value)
(field_access) @value
(assignment_expression left: (identifier) @set)
(update_expression (identifier) @set)

(type_parameter . (type_identifier) @generic (type_bound . (_) @constraint)?)
(field_declaration type: (_) @declared declarator: (variable_declarator name: (identifier) @member value: (_)? @given))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @declared name: (identifier) @member)))
(formal_parameter type: (_) @declared name: (identifier) @bound)
(spread_parameter (variable_declarator name: (identifier) @bound))
(local_variable_declaration type: (_) @declared declarator: (variable_declarator name: (identifier) @bound value: (_)? @given))
(enhanced_for_statement type: (_) @declared name: (identifier) @bound value: (_) @collection)
(resource type: (_) @declared name: (identifier) @bound value: (_)? @given)
(catch_formal_parameter (catch_type . (_) @declared .) name: (identifier) @bound)
(catch_formal_parameter name: (identifier) @bound)
(instanceof_expression right: (_) @declared name: (identifier) @bound)
(lambda_expression parameters: (identifier) @bound)
(method_invocation object: (_) @collection name: (identifier) @_each arguments: (argument_list . (lambda_expression parameters: [(identifier) @bound (inferred_parameters . (identifier) @bound .)]) .) (#any-of? @_each "allMatch" "anyMatch" "filter" "flatMap" "forEach" "forEachOrdered" "ifPresent" "map" "mapToInt" "mapToLong" "noneMatch" "peek" "removeIf"))
(inferred_parameters (identifier) @bound)
(assignment_expression left: (field_access object: (this)) @bound right: (_) @given)
(method_declaration type: (_) @returned)
