(comment) @comment

(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @owner)) name: (field_identifier) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @owner))) name: (field_identifier) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type: (type_identifier) @owner)))) name: (field_identifier) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type: (type_identifier) @owner))) name: (field_identifier) @name) @method
(method_declaration name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(type_declaration . "type" . (type_spec name: (type_identifier) @name)) @outer
(interface_type (method_elem name: (field_identifier) @name) @method)
(field_declaration name: (field_identifier) @name) @field
(const_spec name: (identifier) @name) @constant
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @qualifier field: (field_identifier) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type package: (_) @qualifier name: (type_identifier) @call))
(field_declaration_list (field_declaration !name type: (type_identifier) @extends))
(field_declaration_list (field_declaration !name type: (pointer_type (type_identifier) @extends)))
(import_spec !name path: (_) @file)
(import_spec name: (_) @alias path: (_) @file)
