(line_comment) @comment
(bracket_comment) @comment
(function_def (function_command (argument_list . (argument) @name))) @function
(macro_def (macro_command (argument_list . (argument) @name))) @macro
(normal_command (identifier) @_target (argument_list . (argument) @name) (#any-of? @_target "add_library" "add_executable" "add_custom_target" "add_test" "project" "ADD_LIBRARY" "ADD_EXECUTABLE")) @rule
(source_file (normal_command (identifier) @_set (argument_list . (argument) @name) (#any-of? @_set "set" "option" "SET" "OPTION")) @variable)
(normal_command (identifier) @_include (argument_list . (argument) @file) (#any-of? @_include "include" "add_subdirectory" "find_package"))
(normal_command (identifier) @call)
