(comment) @comment

(class name: (_) @path) @class
(module name: (_) @path) @module
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(assignment left: (constant) @name right: (call receiver: (constant) @_type method: (identifier) @_new) (#any-of? @_type "Class" "Struct" "Data" "Module") (#any-of? @_new "new" "define")) @class
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @function
(call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_)? @body (#any-of? @_define "alias_method" "define_method")) @function
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name) (#match? @_attr "^(thread_)?[cm]?attr_(reader|accessor|writer)$")) @property

(call !receiver method: (identifier) @call)
(call receiver: (_) @qualifier method: (identifier) @call)
(superclass (constant) @extends)
(superclass (scope_resolution scope: (_) @qualifier name: (constant) @extends))
(call method: (identifier) @_mix arguments: (argument_list (constant) @implements) (#any-of? @_mix "include" "extend" "prepend"))
(assignment left: (instance_variable) @assign)
(call method: (identifier) @_load arguments: (argument_list (string (string_content) @file)) (#any-of? @_load "require" "require_relative" "load"))
