(comment) @comment
(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(type_definition (type_binding name: (_) @name) @type)
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(class_definition (class_binding (class_name) @name)) @class
(method_definition (method_name) @name) @method
(value_definition (let_binding pattern: (value_name) @name (parameter)) @function)
(value_definition (let_binding pattern: (value_name) @name body: (fun_expression)) @function)
(value_definition (let_binding pattern: (value_name) @name body: (function_expression)) @function)
(structure (value_definition (let_binding pattern: (value_name) @name) @constant))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name) @constant))
(value_specification (value_name) @name) @function
(external (value_name) @name) @function
(application_expression function: (value_path . (value_name) @call))
(application_expression function: (value_path (module_path) @qualifier (value_name) @call))
(open_module module: (module_path) @import)
