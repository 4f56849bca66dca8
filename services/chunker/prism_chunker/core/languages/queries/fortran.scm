(comment) @comment
(module (module_statement (name) @name)) @module
(submodule (submodule_statement (name) @name)) @module
(program (program_statement (name) @name)) @function
(function (function_statement name: (name) @name)) @function
(subroutine (subroutine_statement name: (name) @name)) @function
(derived_type_definition (derived_type_statement (type_name) @name)) @struct
(module (variable_declaration declarator: (init_declarator left: (identifier) @name)) @constant)
(subroutine_call subroutine: (identifier) @call)
(use_statement (module_name) @import)
