(protocol_declaration . (identifier) @name) @interface
(class_interface . (identifier) @name) @class
(class_implementation . (identifier) @path) @scope
(method_declaration (method_type) . (identifier) @name) @method
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
(property_declaration (struct_declaration (struct_declarator (pointer_declarator declarator: (identifier) @name)))) @property
(property_declaration (struct_declaration (struct_declarator (identifier) @name))) @property

(message_expression receiver: (_) @qualifier method: (identifier) @call)
(class_interface superclass: (identifier) @extends)
(class_interface (parameterized_arguments (type_name (type_identifier) @implements)))
