(comment) @comment
(package_statement name: (package) @name) @module
(subroutine_declaration_statement name: (bareword) @name) @function
(use_statement module: (package) @_constant (list_expression . (autoquoted_bareword) @name) (#eq? @_constant "constant")) @constant
(function_call_expression function: (function) @call)
(ambiguous_function_call_expression function: (function) @call)
(method_call_expression invocant: (_) @qualifier method: (method) @call)
(use_statement module: (package) @import)
