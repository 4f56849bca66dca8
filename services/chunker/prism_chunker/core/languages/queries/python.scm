(comment) @comment

(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(decorated_definition definition: (class_definition name: (identifier) @name) @class) @outer
(decorated_definition definition: (function_definition name: (identifier) @name) @function) @outer
(type_alias_statement . (type (identifier) @name)) @type
(class_definition body: (block . (string) @doc))
(function_definition body: (block . (string) @doc))

(module (assignment left: (identifier) @name) @variable)
(module (assignment left: (pattern_list (identifier) @name)) @variable)
(module (if_statement consequence: (block (assignment left: (identifier) @name) @variable)))
(module (if_statement alternative: (_ (block (assignment left: (identifier) @name) @variable))))
(module (try_statement (block (assignment left: (identifier) @name) @variable)))
(module (try_statement (_ (block (assignment left: (identifier) @name) @variable))))
(class_definition body: (block (assignment left: (identifier) @name) @field))

(call function: (identifier) @call)
(call function: (attribute object: (_) @qualifier attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute object: (_) @qualifier attribute: (identifier) @call))
(class_definition superclasses: (argument_list (identifier) @extends))
(class_definition superclasses: (argument_list (attribute object: (_) @qualifier attribute: (identifier) @extends)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @extends)))
(assignment left: (attribute object: (_) @qualifier attribute: (identifier) @assign))
(augmented_assignment left: (attribute object: (_) @qualifier attribute: (identifier) @assign))

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import alias: (identifier) @alias))
(import_from_statement module_name: (_) @module name: (dotted_name) @import)
(import_from_statement module_name: (_) @module name: (aliased_import name: (dotted_name) @import alias: (identifier) @alias))
(import_from_statement module_name: (_) @module (wildcard_import) @import)
