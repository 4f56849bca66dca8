(comment) @comment
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(property name: (identifier) @name) @property
(function_call name: (identifier) @call)
(superclasses (property_name) @extends)
