(comment) @comment
(documentation_comment) @comment
(type_declaration (type_symbol_declaration name: (exported_symbol (identifier) @name))) @type
(type_declaration (type_symbol_declaration name: (identifier) @name)) @type
(proc_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @function
(func_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @function
(method_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @method
(iterator_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @function
(template_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @macro
(macro_declaration name: [(identifier) @name (exported_symbol (_) @name)]) @macro
(source_file (const_section (variable_declaration (symbol_declaration_list (symbol_declaration name: [(identifier) @name (exported_symbol (_) @name)]))) @constant))
(source_file (var_section (variable_declaration (symbol_declaration_list (symbol_declaration name: [(identifier) @name (exported_symbol (_) @name)]))) @variable))
(source_file (let_section (variable_declaration (symbol_declaration_list (symbol_declaration name: [(identifier) @name (exported_symbol (_) @name)]))) @variable))
(field_declaration (symbol_declaration_list (symbol_declaration name: [(identifier) @name (exported_symbol (_) @name)]))) @field
(call function: (identifier) @call)
(call function: (dot_expression left: (_) @qualifier right: (identifier) @call))
(import_statement (expression_list (_) @import))
