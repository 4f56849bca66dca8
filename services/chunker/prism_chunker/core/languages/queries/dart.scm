(comment) @comment
(documentation_comment) @comment
(annotation) @attribute
(class_definition name: (identifier) @name) @class
(mixin_declaration (identifier) @name) @trait
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(extension_declaration name: (identifier) @name) @class
(type_alias . (type_identifier) @name) @type
((method_signature (function_signature name: (identifier) @name)) @method . (function_body) @tail)
((method_signature (getter_signature name: (identifier) @name)) @property . (function_body) @tail)
((method_signature (setter_signature name: (identifier) @name)) @property . (function_body) @tail)
((method_signature (constructor_signature name: (identifier) @name)) @constructor . (function_body) @tail)
((function_signature name: (identifier) @name) @function . (function_body) @tail)
(constructor_signature name: (identifier) @name) @constructor
(factory_constructor_signature (identifier) @name) @constructor
(function_signature name: (identifier) @name) @function
(getter_signature name: (identifier) @name) @property
(setter_signature name: (identifier) @name) @property
(class_body (declaration (initialized_identifier_list (initialized_identifier . (identifier) @name)) @field))
(static_final_declaration . (identifier) @name) @constant
(superclass (type_identifier) @extends)
(mixins (type_identifier) @implements)
(interfaces (type_identifier) @implements)
((identifier) @call . (selector (argument_part)))
((identifier) @qualifier . (selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(import_specification (configurable_uri) @file)
(import_specification (configurable_uri) @file (identifier) @alias)
