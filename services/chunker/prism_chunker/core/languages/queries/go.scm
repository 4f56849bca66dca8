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
; To the grammar, one type argument is an index: `pkg.F[int]()`.
(call_expression function: (index_expression operand: (identifier) @call))
(call_expression function: (index_expression operand: (selector_expression operand: (_) @qualifier field: (field_identifier) @call)))
; With several type arguments and one argument, a conversion: `pkg.F[int, string](1)`.
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type package: (_) @qualifier name: (type_identifier) @call)))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type package: (_) @qualifier name: (type_identifier) @call))
(composite_literal type: (generic_type type: (type_identifier) @call))
(composite_literal type: (generic_type type: (qualified_type package: (_) @qualifier name: (type_identifier) @call)))
(field_declaration_list (field_declaration !name type: (type_identifier) @extends))
(field_declaration_list (field_declaration !name type: (generic_type type: (type_identifier) @extends)))
(field_declaration_list (field_declaration !name type: (qualified_type package: (_) @qualifier name: (type_identifier) @extends)))
(field_declaration_list (field_declaration !name type: (generic_type type: (qualified_type package: (_) @qualifier name: (type_identifier) @extends))))
(interface_type (type_elem . (type_identifier) @extends .))
(interface_type (type_elem . (generic_type type: (type_identifier) @extends) .))
(interface_type (type_elem . (qualified_type package: (_) @qualifier name: (type_identifier) @extends) .))
(import_spec !name path: (_) @file)
(import_spec name: [(package_identifier) (blank_identifier)] @alias path: (_) @file)
(import_spec name: (dot) @import path: (_) @module)
(package_clause (package_identifier) @package)

(type_alias name: (type_identifier) @name !type_parameters type: [(type_identifier) (qualified_type)] @original)
(const_spec name: (identifier) @name !type value: (expression_list . [(identifier) (selector_expression)] @original .))

(qualified_type) @use
(type_identifier) @use
(argument_list [(identifier) (selector_expression)] @value)
(short_var_declaration right: (expression_list [(identifier) (selector_expression)] @value))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @value))
(var_spec value: (expression_list [(identifier) (selector_expression)] @value))
(const_spec value: (expression_list [(identifier) (selector_expression)] @value))
(return_statement (expression_list [(identifier) (selector_expression)] @value))
(keyed_element value: (literal_element [(identifier) (selector_expression)] @value))
(literal_value (literal_element [(identifier) (selector_expression)] @value))
(unary_expression operand: [(identifier) (selector_expression)] @value)
(binary_expression [(identifier) (selector_expression)] @value)
(expression_case value: (expression_list [(identifier) (selector_expression)] @value))
(range_clause right: [(identifier) (selector_expression)] @value)

(type_parameter_declaration name: (identifier) @generic type: (type_constraint . [(type_identifier) (qualified_type) (generic_type)] @constraint .)?)
; The type parameters of a receiver: `func (s *Set[T]) Add(item T)`.
(method_declaration receiver: (parameter_list (parameter_declaration type: [(pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @received)))) (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @received)))])))
(field_declaration name: (field_identifier) @member type: (_) @declared)
(parameter_declaration name: (identifier) @bound type: (_) @declared)
(variadic_parameter_declaration name: (identifier) @bound)
(var_spec name: (identifier) @bound type: (_)? @declared value: (expression_list . (_) @given)?)
(short_var_declaration left: (expression_list . (identifier) @bound) right: (expression_list . (_) @given))
(short_var_declaration
  left: (expression_list . (identifier) @bound)
  right: (expression_list . (call_expression function: (identifier) @_new arguments: (argument_list (_) @declared))) (#eq? @_new "new"))
(short_var_declaration left: (expression_list (_) (identifier) @bound))
(assignment_statement left: (expression_list . (identifier) @bound) right: (expression_list . (_) @given))
(range_clause left: (expression_list (identifier) @bound))
(range_clause left: (expression_list (_) . (identifier) @bound .) right: (_) @collection)
; What the elements of a collection are: `depots := []Depot{…}`, `make([]Depot, 3)`.
(short_var_declaration left: (expression_list . (identifier) @bound) right: (expression_list . (composite_literal type: [(slice_type) (array_type) (implicit_length_array_type) (map_type)] @declared)))
(short_var_declaration left: (expression_list . (identifier) @bound) right: (expression_list . (call_expression function: (identifier) @_make arguments: (argument_list . (_) @declared))) (#eq? @_make "make"))
(var_spec name: (identifier) @bound value: (expression_list . (composite_literal type: [(slice_type) (array_type) (implicit_length_array_type) (map_type)] @declared)))
(type_switch_statement alias: (expression_list (identifier) @bound))
(type_switch_statement alias: (expression_list (identifier) @bound) (type_case . type: (_) @declared . ":") @within)
(function_declaration result: [(_) @returned (parameter_list . (parameter_declaration type: (_) @returned))])
(method_declaration result: [(_) @returned (parameter_list . (parameter_declaration type: (_) @returned))])
(method_elem result: [(_) @returned (parameter_list . (parameter_declaration type: (_) @returned))])
