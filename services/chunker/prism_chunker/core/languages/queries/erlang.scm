(comment) @comment
(module_attribute name: (atom) @name) @module
(fun_decl clause: (function_clause name: (atom) @name)) @function
(pp_define lhs: (macro_lhs name: (_) @name)) @macro
(record_decl name: (atom) @name) @struct
(type_alias name: (type_name name: (atom) @name)) @type
(call expr: (atom) @call)
(call expr: (remote module: (remote_module module: (_) @qualifier) fun: (atom) @call))
(pp_include file: (string) @file)
(pp_include_lib file: (string) @file)
