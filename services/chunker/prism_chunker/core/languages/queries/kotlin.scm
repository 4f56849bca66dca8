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
(constructor_invocation (user_type (type_identifier) @extends))
(delegation_specifier (user_type (type_identifier) @implements))
(assignment (directly_assignable_expression (_) @qualifier (navigation_suffix (simple_identifier) @assign)))

(import_header (identifier) @item)
(import_header (identifier) @item (import_alias (type_identifier) @alias))
