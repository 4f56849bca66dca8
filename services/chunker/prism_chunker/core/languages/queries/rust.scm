(line_comment) @comment
(block_comment) @comment
(attribute_item) @attribute

; The arguments of a macro that stands where an item may.
(source_file (macro_invocation (token_tree) @items))
(source_file (expression_statement (macro_invocation (token_tree) @items)))
(declaration_list (macro_invocation (token_tree) @items))

(impl_item trait: (_) type: [(type_identifier) @path (primitive_type) @path (scoped_type_identifier) @path (generic_type) @path (dynamic_type trait: (_) @path) (reference_type type: (_) @path)]) @scope @exported
(impl_item type: [(type_identifier) @path (primitive_type) @path (scoped_type_identifier) @path (generic_type) @path (dynamic_type trait: (_) @path) (reference_type type: (_) @path)]) @scope
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(mod_item name: (identifier) @name) @module
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @macro
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(field_declaration name: (field_identifier) @name) @field
(enum_variant name: (identifier) @name) @constant

(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @call))
(call_expression function: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @qualifier name: (identifier) @call)))
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field: (field_identifier) @call)))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(struct_expression name: (type_identifier) @call)
(impl_item trait: (type_identifier) @implements)
(impl_item trait: (generic_type type: (type_identifier) @implements))
(impl_item trait: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @implements))
(trait_item bounds: (trait_bounds (type_identifier) @extends))
(assignment_expression left: (field_expression value: (_) @qualifier field: (field_identifier) @assign))
(compound_assignment_expr left: (field_expression value: (_) @qualifier field: (field_identifier) @assign))

(use_declaration argument: (identifier) @import)
(use_declaration argument: (scoped_identifier path: (_) @module name: (identifier) @import))
(use_declaration argument: (use_as_clause path: (scoped_identifier path: (_) @module name: (identifier) @import) alias: (identifier) @alias))
(use_declaration argument: (use_wildcard (_) @module "*" @import))
(scoped_use_list path: (_) @module list: (use_list (identifier) @import))
(scoped_use_list path: (_) @module list: (use_list (scoped_identifier name: (identifier) @import)))
(scoped_use_list path: (_) @module list: (use_list (use_as_clause path: (identifier) @import alias: (identifier) @alias)))
(scoped_use_list path: (_) @module list: (use_list (use_as_clause path: (scoped_identifier name: (identifier) @import) alias: (identifier) @alias)))
