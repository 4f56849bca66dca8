(line_comment) @comment
(multiline_comment) @comment

(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "enum" (type_identifier) @name) @enum
(class_declaration (type_identifier) @name) @class
(object_declaration (type_identifier) @name) @object
(companion_object (type_identifier) @name) @object
(type_alias "typealias" . (type_identifier) @name) @type
(function_declaration (receiver_type (user_type (type_identifier) @owner)) (simple_identifier) @name) @function
(function_declaration (simple_identifier) @name) @function
(function_declaration (simple_identifier) (function_body) @body)
(secondary_constructor "constructor" @name) @constructor
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @property)
(source_file (property_declaration (receiver_type (user_type (type_identifier) @owner)) (variable_declaration (simple_identifier) @name)) @property)
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @variable)
(enum_entry (simple_identifier) @name) @constant
(primary_constructor (class_parameter (binding_pattern_kind) (simple_identifier) @name) @property)

(call_expression (simple_identifier) @call)
(call_expression (navigation_expression (_) @qualifier (navigation_suffix (simple_identifier) @call)))
(delegation_specifier (constructor_invocation (user_type (type_identifier) @extends)))
(constructor_invocation (user_type (type_identifier) @call))
(annotation (user_type (type_identifier) @call))
(constructor_delegation_call ["this" "super"] @call)
(delegation_specifier (user_type (type_identifier) @implements))
(assignment (directly_assignable_expression (_) @qualifier (navigation_suffix (simple_identifier) @assign)))

; A property that the call of a class or of `copy` names: `Depot(size = 3)`.
(call_expression . [(simple_identifier) (navigation_expression)] @qualifier (call_suffix (value_arguments (value_argument . (simple_identifier) @assign . "="))) (#match? @qualifier "^(.*[.])?[A-Z]\\w*$"))
(constructor_invocation (user_type) @qualifier (value_arguments (value_argument . (simple_identifier) @assign . "=")))
(call_expression . (navigation_expression (_) @qualifier (navigation_suffix (simple_identifier) @_copy)) (call_suffix (value_arguments (value_argument . (simple_identifier) @assign . "="))) (#eq? @_copy "copy"))

(package_header (identifier) @package)
(import_header (identifier) @item)
(import_header (identifier) @item (import_alias (type_identifier) @alias))
(import_header (identifier) @module (wildcard_import) @import)

(type_alias (type_identifier) @name (user_type . (type_identifier)? @qualifier . (type_identifier) @original .))

(user_type . (type_identifier) @qualifier . (type_identifier) @use)
(user_type (type_identifier) @use)
(callable_reference (type_identifier) @qualifier (simple_identifier) @value)
(callable_reference . (simple_identifier) @value)
(callable_reference . (type_identifier) @use "class")
(value_argument [(simple_identifier) (navigation_expression)] @value .)
(property_declaration (variable_declaration) . [(simple_identifier) (navigation_expression)] @value)
(assignment (_) [(simple_identifier) (navigation_expression)] @value)
(jump_expression [(simple_identifier) (navigation_expression)] @value)
(control_structure_body . [(simple_identifier) (navigation_expression)] @value .)
(function_body . [(simple_identifier) (navigation_expression)] @value)
(equality_expression [(simple_identifier) (navigation_expression)] @value)
(comparison_expression [(simple_identifier) (navigation_expression)] @value)
(additive_expression [(simple_identifier) (navigation_expression)] @value)
(multiplicative_expression [(simple_identifier) (navigation_expression)] @value)
(infix_expression [(simple_identifier) (navigation_expression)] @value)
(elvis_expression [(simple_identifier) (navigation_expression)] @value)
(when_condition [(simple_identifier) (navigation_expression)] @value)
(collection_literal [(simple_identifier) (navigation_expression)] @value)
(if_expression condition: (simple_identifier) @value)
(parenthesized_expression (simple_identifier) @value)
(prefix_expression (simple_identifier) @value)
(conjunction_expression (simple_identifier) @value)
(disjunction_expression (simple_identifier) @value)
(indexing_expression . (simple_identifier) @value)
(when_subject (simple_identifier) @value)
(for_statement (simple_identifier) @value)
(while_statement (simple_identifier) @value)
(do_while_statement (simple_identifier) @value)
(check_expression (simple_identifier) @value)
(range_expression (simple_identifier) @value)
(indexing_suffix (simple_identifier) @value)
(spread_expression (simple_identifier) @value)
(as_expression . (simple_identifier) @value)
(lambda_literal (statements (simple_identifier) @value .))
(interpolated_expression (simple_identifier) @value)
(interpolated_identifier) @value
(navigation_expression) @value
(assignment (directly_assignable_expression . (simple_identifier) @set .))
(postfix_expression (simple_identifier) @set)

(type_parameter (type_identifier) @generic (user_type)? @constraint)
(class_parameter (binding_pattern_kind) (simple_identifier) @member [(user_type) (nullable_type)] @declared)
(class_parameter (simple_identifier) @bound [(user_type) (nullable_type)] @declared)
(class_body (property_declaration (variable_declaration (simple_identifier) @member [(user_type) (nullable_type)]? @declared) . (_)? @given))
(property_declaration (variable_declaration (simple_identifier) @bound [(user_type) (nullable_type)]? @declared) . (_)? @given)
(multi_variable_declaration (variable_declaration (simple_identifier) @bound))
(parameter (simple_identifier) @bound [(user_type) (nullable_type)]? @declared)
(lambda_parameters (variable_declaration (simple_identifier) @bound [(user_type) (nullable_type)]? @declared))
(for_statement (variable_declaration (simple_identifier) @bound))
(for_statement (variable_declaration . (simple_identifier) @bound .) . (_) @collection)
(call_expression (navigation_expression (_) @collection (navigation_suffix (simple_identifier) @_each)) (call_suffix (annotated_lambda (lambda_literal (lambda_parameters . (variable_declaration . (simple_identifier) @bound .) .)))) (#any-of? @_each "all" "any" "count" "filter" "filterNot" "find" "first" "firstOrNull" "flatMap" "forEach" "map" "mapNotNull" "none" "onEach" "sortedBy" "sumOf"))
(catch_block (simple_identifier) @bound (user_type) @declared)
(assignment (directly_assignable_expression (_) (navigation_suffix)) @bound (_) @given)
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @returned)
