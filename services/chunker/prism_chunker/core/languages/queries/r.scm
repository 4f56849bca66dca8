(comment) @comment
(binary_operator lhs: (identifier) @name rhs: (function_definition body: (_) @body)) @function
(binary_operator lhs: (string) @name rhs: (function_definition body: (_) @body)) @function
(program (binary_operator lhs: (identifier) @name operator: "<-") @variable)
(call function: (identifier) @_class arguments: (arguments . argument: (argument value: (string) @name)) (#any-of? @_class "setClass" "R6Class" "setRefClass")) @class
(call function: (identifier) @_generic arguments: (arguments . argument: (argument value: (string) @name)) (#any-of? @_generic "setGeneric" "setMethod")) @method
(call function: (identifier) @call)
(call function: (namespace_operator lhs: (_) @qualifier rhs: (identifier) @call))
(call function: (extract_operator lhs: (_) @qualifier rhs: (identifier) @call))
(call function: (identifier) @_library arguments: (arguments . argument: (argument value: (_) @import)) (#any-of? @_library "library" "require" "source" "requireNamespace"))
