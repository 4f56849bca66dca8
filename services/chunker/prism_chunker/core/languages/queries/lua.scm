(comment) @comment

(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression) @path) @function
(function_declaration name: (method_index_expression) @path) @method
(assignment_statement (variable_list . name: (identifier) @name) (expression_list . value: (function_definition body: (_) @body))) @function
(assignment_statement (variable_list . name: (identifier) @name) (expression_list . value: (function_definition))) @function
(assignment_statement (variable_list . name: (dot_index_expression) @path) (expression_list . value: (function_definition body: (_) @body))) @function
(chunk (variable_declaration (assignment_statement (expression_list value: (table_constructor (field name: (identifier) @name value: (function_definition)) @function)))))
(chunk (assignment_statement (expression_list value: (table_constructor (field name: (identifier) @name value: (function_definition)) @function))))
(chunk (return_statement (expression_list (table_constructor (field name: (identifier) @name value: (function_definition)) @function))))
(field name: (identifier) @name value: (function_definition body: (_) @body))
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name)) @variable))
(chunk (assignment_statement (variable_list . name: (identifier) @name)) @variable)

(function_call name: (identifier) @call)
(function_call name: (dot_index_expression table: (_) @qualifier field: (identifier) @call))
(function_call name: (method_index_expression table: (_) @qualifier method: (identifier) @call))
(assignment_statement (variable_list name: (dot_index_expression table: (_) @qualifier field: (identifier) @assign)))
(function_call name: (identifier) @_require arguments: (arguments (string content: (string_content) @import)) (#eq? @_require "require"))
(assignment_statement (variable_list . name: (identifier) @alias .) (expression_list . value: (function_call name: (identifier) @_require arguments: (arguments (string content: (string_content) @import))) .) (#eq? @_require "require"))
