(comment) @comment
(struct_definition type: (identifier) @name) @struct
(union_definition type: (identifier) @name) @union
(exception_definition "exception" . (identifier) @name) @struct
(enum_definition type: (identifier) @name) @enum
(service_definition type: (identifier) @name) @interface
(function_definition (identifier) @name) @method
(typedef_definition (typedef_identifier) @name) @type
(const_definition (identifier) @name) @constant
(include_statement (string) @file)
