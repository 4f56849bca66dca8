(line_comment) @comment
(block_comment) @comment
(attribute_item) @attribute

; The arguments of a macro that stands where an item may.
(source_file (macro_invocation (token_tree) @items))
(source_file (expression_statement (macro_invocation (token_tree) @items)))
(declaration_list (macro_invocation (token_tree) @items))
; The arguments of any macro may be expressions.
(macro_invocation (token_tree) @expressions)

(impl_item trait: (_) type: [(type_identifier) @path (primitive_type) @path (scoped_type_identifier) @path (generic_type) @path (dynamic_type trait: (_) @path) (reference_type type: (_) @path)]) @scope @exported
(impl_item type: [(type_identifier) @path (primitive_type) @path (scoped_type_identifier) @path (generic_type) @path (dynamic_type trait: (_) @path) (reference_type type: (_) @path)]) @scope
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(mod_item name: (identifier) @name body: (_)) @module
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @macro
; A macro may define a function of the name that it is given: `rgtest!(skips_hidden_files, …)`.
(source_file (macro_invocation macro: [(identifier) (scoped_identifier)] @maker (token_tree . (identifier) @name)) @function)
(source_file (expression_statement (macro_invocation macro: [(identifier) (scoped_identifier)] @maker (token_tree . (identifier) @name)) @function))
(declaration_list (macro_invocation macro: [(identifier) (scoped_identifier)] @maker (token_tree . (identifier) @name)) @function)
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(field_declaration name: (field_identifier) @name) @field
(enum_variant name: (identifier) @name) @constant

(call_expression function: (identifier) @call)
(call_expression function: (index_expression . (identifier) @call))
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @call))
(call_expression function: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @qualifier name: (identifier) @call)))
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field: (field_identifier) @call)))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
; To the grammar, the arguments of a macro are bare tokens: `assert_eq!(depot::open(1), 2)`.
(token_tree (identifier) @call . (token_tree . "("))
(token_tree (identifier) @call . "::" . "<")
(token_tree (identifier) @assign . ":")
(struct_expression name: (type_identifier) @call)
; What makes a function a test. The mark before it keeps the name apart from functions that have it too.
(attribute_item "#" @qualifier (attribute [(identifier) @call (scoped_identifier name: (identifier) @call)]) (#any-of? @call "test" "rstest" "test_case" "test_log" "quickcheck" "bench"))
(impl_item trait: (type_identifier) @implements)
(impl_item trait: (generic_type type: (type_identifier) @implements))
(impl_item trait: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @implements))
(trait_item bounds: (trait_bounds (type_identifier) @extends))
(trait_item bounds: (trait_bounds (generic_type type: (type_identifier) @extends)))
(trait_item bounds: (trait_bounds (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @extends)))
(assignment_expression left: (field_expression value: (_) @qualifier field: (field_identifier) @assign))
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @qualifier body: (field_initializer_list [(field_initializer field: (field_identifier) @assign) (shorthand_field_initializer (identifier) @assign)]))
(compound_assignment_expr left: (field_expression value: (_) @qualifier field: (field_identifier) @assign))

(mod_item name: (identifier) @submodule !body)
(use_declaration argument: [(identifier) (scoped_identifier)] @item)
(use_list [(identifier) (scoped_identifier) (self)] @item)
(use_as_clause path: (_) @item alias: (identifier) @alias)
(extern_crate_declaration name: (identifier) @item !alias)
(extern_crate_declaration name: (identifier) @item alias: (identifier) @alias)
(use_wildcard (_) @module "*" @import)
(scoped_use_list path: (_) @module list: (use_list (use_wildcard . "*" @import)))

(type_item name: (type_identifier) @name !type_parameters type: [(type_identifier) (scoped_type_identifier)] @original)

(scoped_type_identifier) @use
(type_identifier) @use
(arguments [(identifier) (scoped_identifier) (field_expression)] @value)
(reference_expression value: [(identifier) (scoped_identifier) (field_expression)] @value)
(let_declaration value: [(identifier) (scoped_identifier) (field_expression)] @value)
(const_item value: [(identifier) (scoped_identifier)] @value)
(static_item value: [(identifier) (scoped_identifier)] @value)
(assignment_expression right: [(identifier) (scoped_identifier) (field_expression)] @value)
(compound_assignment_expr right: [(identifier) (scoped_identifier)] @value)
(field_initializer value: [(identifier) (scoped_identifier) (field_expression)] @value)
(return_expression [(identifier) (scoped_identifier) (field_expression)] @value)
(break_expression [(identifier) (scoped_identifier)] @value)
(block [(identifier) (scoped_identifier)] @value .)
(match_arm value: [(identifier) (scoped_identifier)] @value)
(match_expression value: [(identifier) (scoped_identifier)] @value)
(if_expression condition: [(identifier) (scoped_identifier)] @value)
(while_expression condition: [(identifier) (scoped_identifier)] @value)
(match_pattern [(identifier) (scoped_identifier)] @value)
(match_pattern condition: [(identifier) (scoped_identifier)] @value)
(tuple_struct_pattern type: [(identifier) (scoped_identifier)] @value)
(or_pattern [(identifier) (scoped_identifier)] @value)
([(let_declaration pattern: (scoped_identifier) @value) (let_condition pattern: (scoped_identifier) @value) (captured_pattern (scoped_identifier) @value) (field_pattern pattern: (scoped_identifier) @value) (range_pattern (scoped_identifier) @value) (reference_pattern (scoped_identifier) @value) (slice_pattern (scoped_identifier) @value) (tuple_pattern (scoped_identifier) @value) (tuple_struct_pattern (scoped_identifier) @value)])
; A name in a pattern is a new variable, unless it is spelled like a constant or a case.
([(captured_pattern (identifier) @value) (field_pattern pattern: (identifier) @value) (range_pattern (identifier) @value) (reference_pattern (identifier) @value) (slice_pattern (identifier) @value) (tuple_pattern (identifier) @value) (tuple_struct_pattern (identifier) @value)] (#match? @value "^[A-Z]"))
(array_expression [(identifier) (scoped_identifier)] @value)
(tuple_expression [(identifier) (scoped_identifier)] @value)
(parenthesized_expression [(identifier) (scoped_identifier)] @value)
(unary_expression [(identifier) (scoped_identifier)] @value)
(index_expression [(identifier) (scoped_identifier)] @value)
(range_expression [(identifier) (scoped_identifier)] @value)
(type_cast_expression value: [(identifier) (scoped_identifier)] @value)
(try_expression (scoped_identifier) @value)
(await_expression (scoped_identifier) @value)
(closure_expression body: [(identifier) (scoped_identifier)] @value)
(binary_expression [(identifier) (scoped_identifier) (field_expression)] @value)
(for_expression value: [(identifier) (scoped_identifier)] @value)
(struct_pattern type: [(type_identifier) (scoped_type_identifier)] @on (field_pattern name: [(field_identifier) (shorthand_field_identifier)] @value))
(field_expression) @value
; Tokens of a macro that do not parse as expressions, and of its body.
(token_tree (identifier) @value)

(type_parameter name: (type_identifier) @generic bounds: (trait_bounds . [(type_identifier) (scoped_type_identifier) (generic_type)] @constraint)?)
(where_predicate left: (type_identifier) @constrained bounds: (trait_bounds . [(type_identifier) (scoped_type_identifier) (generic_type)] @constraint))
(field_declaration name: (field_identifier) @member type: (_) @declared)
(parameter pattern: (identifier) @bound type: (_) @declared)
(closure_parameters (identifier) @bound)
(let_declaration pattern: (identifier) @bound type: (_)? @declared value: (_)? @given)
(let_declaration pattern: (tuple_pattern (identifier) @bound))
; An optional value or a result counts as what it holds.
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_holder . (identifier) @bound .) value: (_) @given (#any-of? @_holder "Some" "Ok") (#not-match? @bound "^[A-Z]"))
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_holder . (identifier) @bound .) value: (_) @given (#any-of? @_holder "Some" "Ok") (#not-match? @bound "^[A-Z]"))
(match_expression value: (_) @given body: (match_block (match_arm pattern: (match_pattern (tuple_struct_pattern type: (identifier) @_holder . (identifier) @bound .)))) (#any-of? @_holder "Some" "Ok") (#not-match? @bound "^[A-Z]"))
(for_expression pattern: (identifier) @bound)
(for_expression pattern: (identifier) @bound value: (_) @collection)
(call_expression function: (field_expression value: (_) @collection field: (field_identifier) @_each) arguments: (arguments . (closure_expression parameters: (closure_parameters . (identifier) @bound .)) .) (#any-of? @_each "all" "and_then" "any" "filter" "filter_map" "find" "find_map" "flat_map" "for_each" "inspect" "is_some_and" "map" "map_while" "partition" "position" "retain" "skip_while" "take_while"))
(call_expression function: (field_expression value: (_) @collection field: (field_identifier) @_each) arguments: (arguments (_) . (closure_expression parameters: (closure_parameters (_) . (identifier) @bound .)) .) (#any-of? @_each "fold" "try_fold"))
((tuple_struct_pattern (identifier) (identifier) @bound) (#not-match? @bound "^[A-Z]"))
(static_item name: (identifier) @bound type: (_) @declared)
(const_item name: (identifier) @bound type: (_) @declared)
(assignment_expression left: [(identifier) (field_expression value: (self))] @bound right: (_) @given)
(function_item return_type: (_) @returned)
(function_signature_item return_type: (_) @returned)
