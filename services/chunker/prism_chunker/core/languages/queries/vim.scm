(comment) @comment
(function_definition (function_declaration name: (_) @name)) @function
(script_file (let_statement . (_) @name) @variable)
(command_statement name: (command_name) @name) @macro
(call_expression function: (identifier) @call)
