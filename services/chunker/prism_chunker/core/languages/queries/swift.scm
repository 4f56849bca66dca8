(comment) @comment
(multiline_comment) @comment

(class_declaration "extension" name: (user_type) @path) @scope
(class_declaration "struct" name: (type_identifier) @name) @struct
(class_declaration "enum" name: (type_identifier) @name) @enum
(class_declaration name: (type_identifier) @name) @class
(protocol_declaration name: (type_identifier) @name) @interface
(typealias_declaration "typealias" . name: (type_identifier) @name) @type
(associatedtype_declaration "associatedtype" . name: (type_identifier) @name) @type
(init_declaration "init" @name) @constructor
(function_declaration "func" . name: (_) @name) @function
(protocol_function_declaration "func" . name: (_) @name) @method
(subscript_declaration "subscript" @name) @method
(deinit_declaration "deinit" @name) @method
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property)
(protocol_body (protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property)
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @variable)
(enum_entry name: (simple_identifier) @name) @constant

(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression target: (_) @qualifier suffix: (navigation_suffix suffix: (simple_identifier) @call)))
(inheritance_specifier inherits_from: (user_type . (type_identifier) @extends))
(assignment target: (directly_assignable_expression (navigation_expression target: (_) @qualifier suffix: (navigation_suffix suffix: (simple_identifier) @assign))))
(import_declaration (identifier) @import)

(typealias_declaration name: (type_identifier) @name (user_type . (type_identifier)? @qualifier . (type_identifier) @original .))

(user_type (type_identifier) @use)
(value_argument value: [(simple_identifier) (navigation_expression)] @value)
(property_declaration value: [(simple_identifier) (navigation_expression)] @value)
(assignment result: [(simple_identifier) (navigation_expression)] @value)
(control_transfer_statement result: [(simple_identifier) (navigation_expression)] @value)
(function_declaration default_value: [(simple_identifier) (navigation_expression)] @value)
(array_literal element: [(simple_identifier) (navigation_expression)] @value)
(dictionary_literal value: [(simple_identifier) (navigation_expression)] @value)
(ternary_expression [(simple_identifier) (navigation_expression)] @value)
(equality_expression [(simple_identifier) (navigation_expression)] @value)
(comparison_expression [(simple_identifier) (navigation_expression)] @value)
(additive_expression [(simple_identifier) (navigation_expression)] @value)
(multiplicative_expression [(simple_identifier) (navigation_expression)] @value)
(nil_coalescing_expression [(simple_identifier) (navigation_expression)] @value)
(for_statement collection: [(simple_identifier) (navigation_expression)] @value)
(statements (simple_identifier) @value .)
(navigation_expression) @value
(attribute (simple_identifier) @value)
[(if_statement condition: (simple_identifier) @value) (guard_statement condition: (simple_identifier) @value) (while_statement condition: (simple_identifier) @value)]
[(conjunction_expression (simple_identifier) @value) (disjunction_expression (simple_identifier) @value)]
(prefix_expression target: (simple_identifier) @value)
; A case or another member without its type: `case .open`, `if case .open = gate`.
(pattern "." . (simple_identifier) @value)
[(if_statement "case" . "." . (simple_identifier) @value) (guard_statement "case" . "." . (simple_identifier) @value)]

(type_parameter (type_identifier) @generic (user_type)? @constraint)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @member) (type_annotation (_) @declared)))
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @member) value: (_) @given))
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @member) (type_annotation (_) @declared))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @bound) (type_annotation (_) @declared))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @bound) value: (_) @given)
(if_statement bound_identifier: (simple_identifier) @bound)
(guard_statement bound_identifier: (simple_identifier) @bound)
(guard_statement bound_identifier: (simple_identifier) @bound condition: (as_expression (as_operator) . (_) @declared))
(if_statement bound_identifier: (simple_identifier) @bound condition: (as_expression (as_operator) . (_) @declared))
(parameter name: (simple_identifier) @bound . [(user_type) (optional_type) (opaque_type) (existential_type)] @declared)
(parameter name: (simple_identifier) @bound)
(for_statement item: (pattern bound_identifier: (simple_identifier) @bound))
(lambda_parameter name: (simple_identifier) @bound)
(lambda_parameter name: (simple_identifier) @bound [(user_type) (optional_type)] @declared)
(assignment target: (directly_assignable_expression) @bound result: (_) @given)
(function_declaration name: [(user_type) (optional_type) (opaque_type) (existential_type)] @returned)
(protocol_function_declaration name: [(user_type) (optional_type) (opaque_type) (existential_type)] @returned)
