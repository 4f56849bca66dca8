(comment) @comment
(package_body name: (_) @name) @module
(package_declaration name: (_) @name) @module
(subprogram_body (function_specification name: (_) @name)) @function
(subprogram_body (procedure_specification name: (_) @name)) @function
(subprogram_declaration (function_specification name: (_) @name)) @function
(subprogram_declaration (procedure_specification name: (_) @name)) @function
(full_type_declaration . (identifier) @name) @type
(object_declaration name: (identifier) @name) @constant
(function_call name: (_) @call)
(procedure_call_statement name: (_) @call)
(with_clause (_) @import)
