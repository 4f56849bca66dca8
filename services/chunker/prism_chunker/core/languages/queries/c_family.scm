; Patterns common to C, C++ and Objective-C.
(comment) @comment

(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition type: (struct_specifier) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier) declarator: (type_identifier) @name) @enum
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: [
  (function_declarator declarator: [
    (type_identifier) @name
    (parenthesized_declarator (type_identifier) @name)
    (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))
  ])
  (pointer_declarator declarator: (function_declarator declarator: [
    (type_identifier) @name
    (parenthesized_declarator (type_identifier) @name)
    (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))
  ]))
  (array_declarator declarator: (type_identifier) @name)
]) @type
(preproc_def name: (identifier) @name value: (preproc_arg)? @expansion) @constant
(preproc_function_def name: (identifier) @name value: (preproc_arg)? @expansion) @macro
(function_definition type: (type_identifier) @test @call declarator: (parenthesized_declarator (identifier) @name) (#match? @test "^([A-Z0-9]+_)*(U?TEST|TESTCASE|SCENARIO)(_[A-Z0-9]+)*$")) @function
((expression_statement (call_expression function: (identifier) @test arguments: (argument_list . (identifier) @owner . (identifier) @name)) (MISSING ";")) @function . (compound_statement) @tail (#match? @test "^([A-Z0-9]+_)*(U?TEST|TESTCASE)(_[A-Z0-9]+)*$|^Test$"))
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) @function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @function
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (array_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name))))
]) @field
(translation_unit (declaration declarator: [
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
(preproc_ifdef (declaration declarator: [
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
(preproc_if (declaration declarator: [
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
(preproc_elif (declaration declarator: [
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
(preproc_else (declaration declarator: [
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

(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @qualifier field: (field_identifier) @call))
(assignment_expression left: (field_expression argument: (_) @qualifier field: (field_identifier) @assign))
(preproc_include path: (_) @file)

(type_definition type: [(type_identifier) @original (struct_specifier !body name: (type_identifier) @original)] declarator: (type_identifier) @name (#not-eq? @original @name))

(argument_list (identifier) @value)
(init_declarator value: (identifier) @value)
(assignment_expression right: (identifier) @value)
(initializer_list (identifier) @value)
(initializer_pair value: (identifier) @value)
(return_statement (identifier) @value)
(pointer_expression argument: (identifier) @value)
(cast_expression value: (identifier) @value)
(sizeof_expression value: (parenthesized_expression (identifier) @value))
(call_expression function: (parenthesized_expression (identifier) @value))
(conditional_expression (identifier) @value)
(binary_expression (identifier) @value)
(case_statement value: (identifier) @value)
(array_declarator size: (identifier) @value)
(unary_expression argument: (identifier) @value)
(subscript_expression argument: (identifier) @value)
(assignment_expression left: (identifier) @set)
(update_expression argument: (identifier) @set)

(field_declaration type: (_) @declared declarator: [(field_identifier) @member (pointer_declarator declarator: (field_identifier) @member)])
(parameter_declaration type: (_) @declared declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
(parameter_declaration declarator: (array_declarator declarator: (identifier) @bound))
(parameter_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bound)))
(declaration type: (_) @declared declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
(declaration type: (_) @declared declarator: (init_declarator declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)] value: (_) @given))
(declaration declarator: (array_declarator declarator: (identifier) @bound))
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @bound)))
; A pointer to a function: `void (*work)(int)`.
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))))
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))))
(declaration declarator: (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound)))))
(function_definition type: (_) @returned)
(declaration type: (_) @returned declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))])
