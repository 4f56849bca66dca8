(comment) @comment

(function_definition name: (word) @name) @function
(command name: (command_name (word) @_alias) argument: [(word) @path (concatenation . (word) @path)] (#eq? @_alias "alias") (#match? @path "^[^-].*=")) @macro
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @variable))

(command name: (command_name (word) @call))
(command name: (command_name (word) @_source) . argument: (_) @file (#any-of? @_source "source" "."))
