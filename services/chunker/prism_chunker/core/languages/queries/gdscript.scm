(comment) @comment
(class_name_statement name: (name) @name) @class
(class_definition name: (name) @name) @class
(function_definition name: (name) @name) @function
(signal_statement name: (name) @name) @type
(enum_definition name: (name) @name) @enum
(const_statement name: (name) @name) @constant
(variable_statement name: (name) @name) @variable
(call . (identifier) @call)
(attribute . (_) @qualifier (attribute_call . (identifier) @call))
(extends_statement (type) @extends)
