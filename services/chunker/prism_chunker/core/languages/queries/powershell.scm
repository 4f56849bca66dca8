(comment) @comment
(function_statement (function_name) @name (script_block) @body) @function
(class_statement . (simple_name) @name) @class
(enum_statement . (simple_name) @name) @enum
(enum_member . (simple_name) @name) @constant
(class_method_definition (simple_name) @name (script_block) @body) @method
(class_property_definition (variable) @name) @property
(command command_name: (command_name) @call)
