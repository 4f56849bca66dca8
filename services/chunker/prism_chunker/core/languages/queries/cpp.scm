(namespace_definition name: (_) @path) @namespace
(class_specifier name: (type_identifier) @name body: (_)) @class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @class
(class_specifier name: (qualified_identifier) @path body: (_)) @class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @struct
(struct_specifier name: (qualified_identifier) @path body: (_)) @struct
(template_declaration (class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @class) @outer
(template_declaration (struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @struct) @outer
(template_declaration (class_specifier name: (type_identifier) @name body: (_)) @class) @outer
(template_declaration (struct_specifier name: (type_identifier) @name body: (_)) @struct) @outer
(template_declaration (function_definition declarator: (function_declarator declarator: (identifier) @name)) @function) @outer
(template_declaration (function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @function) @outer
(template_declaration (function_definition declarator: (function_declarator declarator: (qualified_identifier) @path)) @method) @outer
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
; Tests that macros define: `TEST_F(Depot, opens) {`, `START_TEST(opens) {`. A title is a name here: see preprocessor.py.
(function_definition !type declarator: (function_declarator declarator: (identifier) @test @call parameters: (parameter_list . (parameter_declaration !declarator type: (type_identifier) @name) .)) (#match? @test "^([A-Z0-9]+_)*(U?TEST|TESTCASE|SCENARIO)(_[A-Z0-9]+)*$")) @function
(function_definition !type declarator: (function_declarator declarator: (identifier) @test @call parameters: (parameter_list . (parameter_declaration !declarator type: [(type_identifier) (qualified_identifier)] @owner) . (parameter_declaration !declarator type: (type_identifier) @name))) (#match? @test "^([A-Z0-9]+_)*(U?TEST|TESTCASE)(_[A-Z0-9]+)*$|^Test$") (#not-match? @test "^BOOST_")) @function
(function_definition !type declarator: (function_declarator declarator: (identifier) @test @call parameters: (parameter_list . (parameter_declaration !declarator type: (type_identifier) @name) . (parameter_declaration !declarator type: [(type_identifier) (qualified_identifier)] @owner))) (#match? @test "^BOOST_FIXTURE_TEST_CASE$")) @function
(function_definition !type declarator: (function_declarator declarator: (identifier) @test @call parameters: (parameter_list . (parameter_declaration !declarator type: (type_identifier) @name) . (parameter_declaration))) (#match? @test "^BOOST_(AUTO|DATA)_TEST_CASE")) @function
(function_definition declarator: (function_declarator declarator: (qualified_identifier) @path)) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) @path))) @method
(function_definition declarator: (reference_declarator (function_declarator declarator: (qualified_identifier) @path))) @method
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) @path)))) @method
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name)))) @method
(field_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name)))) @method
(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method
(function_definition declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))) @method
(function_definition declarator: (function_declarator declarator: (operator_name) @name)) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: (operator_name) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))) @function
(declaration declarator: (function_declarator declarator: (operator_name) @name)) @function
(declaration declarator: (reference_declarator (function_declarator declarator: (operator_name) @name))) @function
(declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (function_declarator declarator: (destructor_name) @name)) @method
(declaration declarator: (function_declarator declarator: (destructor_name) @name)) @method
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))) @method
(field_declaration declarator: (function_declarator declarator: (operator_name) @name)) @method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (operator_name) @name))) @method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))) @method
(declaration_list (declaration declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
  (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
  (init_declarator declarator: (identifier) @name)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (init_declarator declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))
]) @variable)
(template_declaration (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable) @outer
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field

(call_expression function: (qualified_identifier scope: (_) @qualifier name: (identifier) @call))
(call_expression function: (qualified_identifier scope: (_) @qualifier name: (template_function name: (identifier) @call)))
(call_expression function: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(identifier) @call (template_function name: (identifier) @call)])))
(call_expression function: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(identifier) @call (template_function name: (identifier) @call)]))))
(call_expression function: (qualified_identifier !scope name: (identifier) @call))
(call_expression function: (qualified_identifier !scope name: (qualified_identifier scope: (_) @qualifier name: [(identifier) @call (template_function name: (identifier) @call)])))
(call_expression function: (qualified_identifier !scope name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(identifier) @call (template_function name: (identifier) @call)]))))
(call_expression function: (qualified_identifier !scope name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(identifier) @call (template_function name: (identifier) @call)])))))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
(new_expression type: (template_type name: (type_identifier) @call))
(declaration type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier scope: (_) @qualifier name: (type_identifier) @call)] declarator: (init_declarator value: [(argument_list) (initializer_list)]))
(compound_literal_expression type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier scope: (_) @qualifier name: (type_identifier) @call)])
(field_initializer . (field_identifier) @assign (#match? @assign "^[^A-Z]"))
(field_initializer [(field_identifier) @call (template_method name: (field_identifier) @call)] (#match? @call "^[A-Z]"))
(call_expression function: [(template_function name: (identifier) @_make arguments: (template_argument_list . (type_descriptor type: [(type_identifier) @call (qualified_identifier scope: (_) @qualifier name: (type_identifier) @call)]))) (qualified_identifier name: (template_function name: (identifier) @_make arguments: (template_argument_list . (type_descriptor type: [(type_identifier) @call (qualified_identifier scope: (_) @qualifier name: (type_identifier) @call)]))))] (#match? @_make "^make_(unique|shared)$"))
(call_expression function: (field_expression argument: (_) @qualifier field: (template_method name: (field_identifier) @call)))
(new_expression type: (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @call (template_type name: (type_identifier) @call)]))
(new_expression type: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @call (template_type name: (type_identifier) @call)])))
(base_class_clause (type_identifier) @extends)
(base_class_clause (template_type name: (type_identifier) @extends))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (type_identifier) @extends))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (template_type name: (type_identifier) @extends)))
(using_declaration (qualified_identifier scope: (_) @module name: (identifier) @import))
(using_declaration (qualified_identifier scope: (_) @module name: (qualified_identifier scope: (_) @module name: (identifier) @import)))
(using_declaration (qualified_identifier scope: (_) @module name: (qualified_identifier scope: (_) @module name: (qualified_identifier scope: (_) @module name: (identifier) @import))))
(using_declaration "namespace" @import [(identifier) (qualified_identifier)] @module)

(type_definition type: (qualified_identifier scope: (_) @qualifier name: (type_identifier) @original) declarator: (type_identifier) @name)
(type_definition type: [(template_type name: (type_identifier) @original) (qualified_identifier scope: (_) @qualifier name: (template_type name: (type_identifier) @original))] declarator: (type_identifier) @name)
(alias_declaration name: (type_identifier) @name type: (type_descriptor !declarator type: [(type_identifier) @original (template_type name: (type_identifier) @original) (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @original (template_type name: (type_identifier) @original)])]))
; A pointer is used like what it points to: `using DepotPtr = std::unique_ptr<Depot>;`.
(alias_declaration name: (type_identifier) @name type: (type_descriptor type: [
  (template_type name: (type_identifier) @_pointer arguments: (template_argument_list . (type_descriptor type: [(type_identifier) @original (qualified_identifier scope: (_) @qualifier name: (type_identifier) @original)])))
  (qualified_identifier name: (template_type name: (type_identifier) @_pointer arguments: (template_argument_list . (type_descriptor type: [(type_identifier) @original (qualified_identifier scope: (_) @qualifier name: (type_identifier) @original)]))))
]) (#match? @_pointer "^(unique|shared|weak|intrusive)_ptr$"))

; The class in the head of a member that is defined outside of it: `void shop::Depot::open() {}`.
(function_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @use (template_type name: (type_identifier) @use)] name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)]) @of)
(function_declarator declarator: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: [(namespace_identifier) @use (template_type name: (type_identifier) @use)] name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)])) @of)
(function_declarator declarator: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: [(namespace_identifier) @use (template_type name: (type_identifier) @use)]))) @of)
(function_definition declarator: (qualified_identifier scope: (namespace_identifier) @use name: (operator_cast)) @of)
; `int Depot::count = 0;`
(init_declarator declarator: [
  (qualified_identifier scope: (namespace_identifier) @use name: (identifier))
  (pointer_declarator declarator: (qualified_identifier scope: (namespace_identifier) @use name: (identifier)))
  (array_declarator declarator: (qualified_identifier scope: (namespace_identifier) @use name: (identifier)))
])
(qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @use (template_type name: (type_identifier) @use)])))
(qualified_identifier scope: (_) @qualifier name: (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @use (template_type name: (type_identifier) @use)]))
(qualified_identifier scope: (_) @qualifier name: [(type_identifier) @use (template_type name: (type_identifier) @use)])
(argument_list (qualified_identifier) @value)
(init_declarator value: (qualified_identifier) @value)
(assignment_expression right: (qualified_identifier) @value)
(initializer_list (qualified_identifier) @value)
(return_statement (qualified_identifier) @value)
(pointer_expression argument: (qualified_identifier) @value)
(binary_expression (qualified_identifier) @value)
(conditional_expression (qualified_identifier) @value)
(delete_expression (qualified_identifier) @value)
(case_statement value: (qualified_identifier) @value)
(call_expression function: (field_expression argument: (identifier) @value))
(condition_clause value: [(identifier) (qualified_identifier)] @value)
(for_range_loop right: [(identifier) (qualified_identifier)] @value)
(optional_parameter_declaration default_value: [(identifier) (qualified_identifier)] @value)

[(type_parameter_declaration (type_identifier) @generic) (optional_type_parameter_declaration name: (type_identifier) @generic) (variadic_type_parameter_declaration (type_identifier) @generic)]
(field_declaration type: (_) @declared declarator: (reference_declarator (field_identifier) @member))
(parameter_declaration type: (_) @declared declarator: (reference_declarator (identifier) @bound))
(optional_parameter_declaration type: (_) @declared declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound) (reference_declarator (identifier) @bound)])
(declaration type: (_) @declared declarator: (init_declarator declarator: (reference_declarator (identifier) @bound) value: (_) @given))
(for_range_loop type: (placeholder_type_specifier) @declared declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound) (reference_declarator (identifier) @bound)] right: (_) @collection)
(for_range_loop type: (_) @declared declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound) (reference_declarator (identifier) @bound)])
(assignment_expression left: (field_expression argument: (this)) @bound right: (_) @given)
(field_declaration type: (_) @returned declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator)) (reference_declarator (function_declarator))])
