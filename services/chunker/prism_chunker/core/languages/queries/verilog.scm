(comment) @comment
(module_declaration (module_header (simple_identifier) @name)) @module
(interface_declaration (interface_ansi_header (interface_identifier) @name)) @interface
(class_declaration (class_identifier) @name) @class
(package_declaration (package_identifier) @name) @module
(function_body_declaration (function_identifier) @name) @function
(task_body_declaration (task_identifier) @name) @function
(param_assignment (parameter_identifier) @name) @constant
(module_instantiation (simple_identifier) @call)
