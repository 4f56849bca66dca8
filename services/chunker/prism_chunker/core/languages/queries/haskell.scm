(comment) @comment
(haddock) @comment
(data_type name: (name) @name) @type
(newtype name: (name) @name) @type
(type_synomym name: (name) @name) @type
(type_family name: (name) @name) @type
(data_family name: (name) @name) @type
(class name: (name) @name) @interface
(instance patterns: (type_patterns . (name) @path)) @scope
(instance patterns: (type_patterns . (parens type: (apply constructor: (name) @path)))) @scope
(data_constructor constructor: (prefix name: (constructor) @name)) @constructor
; A constructor with fields is its name alone, so that the fields belong to the type.
(data_constructor constructor: (record name: (constructor) @name @constructor))
(newtype_constructor name: (constructor) @name @constructor field: (record))
(data_constructor constructor: (infix operator: (constructor_operator) @name)) @constructor
(gadt_constructor name: (constructor) @name) @constructor
(pattern_synonym (signature synonym: (constructor) @name)) @constructor
(pattern_synonym (equation synonym: (constructor) @name)) @constructor
(newtype_constructor name: (constructor) @name) @constructor
(field name: (field_name (variable) @name)) @field
(declarations (signature name: (variable) @name) @function)
(declarations (signature name: (prefix_id (operator) @name)) @function)
(declarations (function name: (variable) @name) @function)
(declarations (function (infix operator: (operator) @name)) @function)
(declarations (bind name: (variable) @name) @function)
(class_declarations (signature name: (variable) @name) @method)
(class_declarations (signature name: (prefix_id (operator) @name)) @method)
(class_declarations (signature names: (binding_list name: (variable) @name)) @method)
(instance_declarations (function name: (variable) @name) @method)
(instance_declarations (function (infix operator: (operator) @name)) @method)
(instance_declarations (bind name: (variable) @name) @method)
(apply function: (variable) @call)
(apply function: (qualified module: (_) @qualifier id: (variable) @call))
(infix operator: (operator) @call)
(instance name: (name) @implements)
(import !names !alias module: (module) @import)
(import !names module: (module) @import alias: (module) @alias)
(import module: (module) @module names: (import_list name: (import_name variable: (variable) @import)))
(import module: (module) @module names: (import_list name: (import_name type: (name) @import)))
