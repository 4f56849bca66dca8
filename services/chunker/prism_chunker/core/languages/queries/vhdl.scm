(comment) @comment
(entity_declaration name: (_) @name) @module
(architecture_body name: (_) @name entity: (_) @owner) @class
(package_declaration name: (_) @name) @namespace
(package_body) @scope
(function_body designator: (_) @name) @function
(procedure_body designator: (_) @name) @function
(component_declaration name: (_) @name) @interface
