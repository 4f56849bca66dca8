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
(attribute name: (identifier) @call)
(base_list (identifier) @extends)
(base_list (generic_name . (identifier) @extends))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @extends))
(assignment_expression left: (member_access_expression expression: (_) @qualifier name: (identifier) @assign))
(using_directive !name (identifier) @import)
(using_directive !name (qualified_name) @import)
(using_directive name: (identifier) @alias (qualified_name) @import)
