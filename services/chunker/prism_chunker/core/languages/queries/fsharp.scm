(line_comment) @comment
(block_comment) @comment
(attributes) @attribute
(named_module name: (_) @name) @module
(module_defn (identifier) @name) @module
(namespace name: (_) @name) @namespace
(record_type_defn (type_name type_name: (_) @name)) @struct
(union_type_defn (type_name type_name: (_) @name)) @union
(enum_type_defn (type_name type_name: (_) @name)) @enum
(interface_type_defn (type_name type_name: (_) @name)) @interface
(type_abbrev_defn (type_name type_name: (_) @name)) @type
(anon_type_defn (type_name type_name: (_) @name)) @class
(member_defn (method_or_prop_defn name: (property_or_ident method: (identifier) @name))) @method
(function_or_value_defn (function_declaration_left . (identifier) @name)) @function
(function_or_value_defn (value_declaration_left . (identifier_pattern . (long_identifier_or_op . (identifier) @name)))) @constant
(union_type_case (identifier) @name) @constant
(application_expression . (long_identifier_or_op (identifier) @call))
(application_expression . (long_identifier_or_op (long_identifier . (identifier) @qualifier (identifier) @call .)))
(import_decl (long_identifier) @import)
