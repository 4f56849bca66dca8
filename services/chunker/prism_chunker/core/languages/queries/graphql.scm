(comment) @comment
(object_type_definition (name) @name) @class
(interface_type_definition (name) @name) @interface
(enum_type_definition (name) @name) @enum
(enum_value_definition (enum_value (name) @name)) @constant
(input_object_type_definition (name) @name) @struct
(union_type_definition (name) @name) @union
(scalar_type_definition (name) @name) @type
(directive_definition (name) @name) @macro
(operation_definition (name) @name) @function
(fragment_definition (fragment_name (name) @name)) @function
(field_definition (name) @name) @field
(input_fields_definition (input_value_definition (name) @name) @field)
(object_type_definition . (description) @doc)
(implements_interfaces (named_type (name) @implements))
