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
; Overloads, declarations and abstract members. A method of an interface has no other definition.
(function_signature name: (_) @name) @bodiless
(class_body (method_signature name: (_) @name) @bodiless)
(abstract_method_signature name: (_) @name) @bodiless

; The grammar puts `await` of `await f<T>()` inside the call.
(call_expression function: [(await_expression (identifier) @call) (non_null_expression (identifier) @call)])
(call_expression function: [
  (await_expression (member_expression object: (_) @qualifier property: (property_identifier) @call))
  (non_null_expression (member_expression object: (_) @qualifier property: (property_identifier) @call))])

(extends_clause value: (identifier) @extends)
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @extends))
(implements_clause (type_identifier) @implements)
(implements_clause (generic_type name: (type_identifier) @implements))
(extends_type_clause (type_identifier) @extends)
(extends_type_clause (generic_type name: (type_identifier) @extends))
(implements_clause [(nested_type_identifier module: (_) @qualifier name: (type_identifier) @implements) (generic_type name: (nested_type_identifier module: (_) @qualifier name: (type_identifier) @implements))])
(extends_type_clause [(nested_type_identifier module: (_) @qualifier name: (type_identifier) @extends) (generic_type name: (nested_type_identifier module: (_) @qualifier name: (type_identifier) @extends))])
(class_body (decorator) @attribute)
(import_require_clause (identifier) @alias source: (string) @whole)

(type_alias_declaration name: (_) @name !type_parameters value: [(type_identifier) (nested_type_identifier)] @original)

(type_alias_declaration name: (_) @name !type_parameters value: (generic_type name: (type_identifier) @_utility type_arguments: (type_arguments . [(type_identifier) (nested_type_identifier)] @original)) (#any-of? @_utility "Except" "NonNullable" "Omit" "Partial" "Pick" "Readonly" "Required"))

(type_annotation [(type_identifier) (nested_type_identifier)] @use)
(generic_type name: [(type_identifier) (nested_type_identifier)] @use)
(type_arguments [(type_identifier) (nested_type_identifier)] @use)
(union_type [(type_identifier) (nested_type_identifier)] @use)
(intersection_type [(type_identifier) (nested_type_identifier)] @use)
(array_type [(type_identifier) (nested_type_identifier)] @use)
(as_expression (_) [(type_identifier) (nested_type_identifier)] @use)
(satisfies_expression (_) [(type_identifier) (nested_type_identifier)] @use)
(type_alias_declaration value: [(type_identifier) (nested_type_identifier)] @use)
(tuple_type [(type_identifier) (nested_type_identifier)] @use)
(rest_type [(type_identifier) (nested_type_identifier)] @use)
(optional_type [(type_identifier) (nested_type_identifier)] @use)
(readonly_type [(type_identifier) (nested_type_identifier)] @use)
(parenthesized_type [(type_identifier) (nested_type_identifier)] @use)
(conditional_type [(type_identifier) (nested_type_identifier)] @use)
(lookup_type [(type_identifier) (nested_type_identifier)] @use)
(index_type_query [(type_identifier) (nested_type_identifier)] @use)
(type_query [(identifier) (member_expression)] @use)
(constraint [(type_identifier) (nested_type_identifier)] @use)
(default_type [(type_identifier) (nested_type_identifier)] @use)
(type_predicate type: [(type_identifier) (nested_type_identifier)] @use)
(function_type return_type: [(type_identifier) (nested_type_identifier)] @use)
(constructor_type type: [(type_identifier) (nested_type_identifier)] @use)
(mapped_type_clause type: [(type_identifier) (nested_type_identifier)] @use)
(object_type (index_signature type: (type_annotation [(type_identifier) (nested_type_identifier)] @use)))
(type_parameter name: (type_identifier) @generic)
(public_field_definition value: [(identifier) (member_expression)] @value)
(required_parameter value: [(identifier) (member_expression)] @value)

(variable_declarator name: (identifier) @bound type: (type_annotation (_) @declared)? value: (_)? @given)
(required_parameter (accessibility_modifier) pattern: (identifier) @member type: (type_annotation (_) @declared))
(required_parameter "readonly" pattern: (identifier) @member type: (type_annotation (_) @declared))
(required_parameter pattern: (identifier) @bound type: (type_annotation (_) @declared)? value: (_)? @given)
(call_expression function: (member_expression object: (_) @collection property: (property_identifier) @_each) arguments: (arguments . [(arrow_function parameter: (identifier) @bound) (arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @bound !type))) (function_expression parameters: (formal_parameters . (required_parameter pattern: (identifier) @bound !type)))]) (#any-of? @_each "every" "filter" "find" "findIndex" "findLast" "flatMap" "forEach" "map" "some"))
(optional_parameter pattern: (identifier) @bound type: (type_annotation (_) @declared)?)
(public_field_definition name: [(property_identifier) (private_property_identifier)] @member type: (type_annotation (_) @declared)? value: (_)? @given)
(property_signature name: (property_identifier) @member type: (type_annotation (_) @declared))
(function_declaration return_type: (type_annotation (_) @returned))
(generator_function_declaration return_type: (type_annotation (_) @returned))
(function_signature return_type: (type_annotation (_) @returned))
(method_definition return_type: (type_annotation (_) @returned))
(method_signature return_type: (type_annotation (_) @returned))
(abstract_method_signature return_type: (type_annotation (_) @returned))
(variable_declarator value: (arrow_function return_type: (type_annotation (_) @returned)))
(public_field_definition value: (arrow_function return_type: (type_annotation (_) @returned)))
(return_statement (as_expression) @result)
(required_parameter pattern: (object_pattern [(shorthand_property_identifier_pattern) @bound (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bound)]) type: (type_annotation (_) @holder))
(required_parameter pattern: (object_pattern (pair_pattern key: (property_identifier) @key value: (identifier) @bound)) type: (type_annotation (_) @holder))
