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

(method_invocation !object name: (identifier) @call)
(method_invocation object: (_) @qualifier name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(object_creation_expression type: (scoped_type_identifier (type_identifier) @call .))
(method_reference . (_) @qualifier (identifier) @call .)
(superclass (type_identifier) @extends)
(superclass (generic_type . (type_identifier) @extends))
(super_interfaces (type_list (type_identifier) @implements))
(super_interfaces (type_list (generic_type . (type_identifier) @implements)))
(extends_interfaces (type_list (type_identifier) @extends))
(extends_interfaces (type_list (generic_type . (type_identifier) @extends)))
(assignment_expression left: (field_access object: (_) @qualifier field: (identifier) @assign))
(marker_annotation name: (identifier) @call)
(annotation name: (identifier) @call)

(import_declaration (scoped_identifier scope: (_) @module name: (identifier) @import) .)
(import_declaration (_) @module (asterisk) @import)
