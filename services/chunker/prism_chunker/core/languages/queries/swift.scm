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
