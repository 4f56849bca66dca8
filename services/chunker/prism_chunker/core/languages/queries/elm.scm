(line_comment) @comment
(block_comment) @comment
(type_declaration name: (upper_case_identifier) @name) @type
(type_alias_declaration name: (upper_case_identifier) @name) @type
(union_variant name: (upper_case_identifier) @name) @constant
(file (type_annotation name: (lower_case_identifier) @name) @function)
(file (value_declaration functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @name)) @function)
(port_annotation name: (lower_case_identifier) @name) @function
(function_call_expr target: (value_expr name: (value_qid . (lower_case_identifier) @call)))
(function_call_expr target: (value_expr name: (value_qid (upper_case_identifier) @qualifier (lower_case_identifier) @call)))
(import_clause moduleName: (upper_case_qid) @import)
