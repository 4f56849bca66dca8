(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(abstract_class_declaration name: (_) @name) @class
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @module
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(interface_body (property_signature name: (_) @name) @property)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @property))
(type_alias_declaration value: (_ (object_type (property_signature name: (_) @name) @property)))
(class_body (public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @method)
(class_body (public_field_definition name: (_) @name) @field)
(export_statement (interface_declaration name: (_) @name) @interface) @outer @exported
(export_statement (type_alias_declaration name: (_) @name) @type) @outer @exported
(export_statement (enum_declaration name: (_) @name) @enum) @outer @exported
(export_statement (abstract_class_declaration name: (_) @name) @class) @outer @exported
(export_statement (internal_module name: (_) @name) @namespace) @outer @exported
(export_statement (function_signature name: (_) @name) @function) @outer @exported

(extends_clause value: (identifier) @extends)
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @extends))
(implements_clause (type_identifier) @implements)
(implements_clause (generic_type name: (type_identifier) @implements))
(extends_type_clause (type_identifier) @extends)
(extends_type_clause (generic_type name: (type_identifier) @extends))
(class_body (decorator) @attribute)
