(comment) @comment

(class name: (_) @path) @class
(module name: (_) @path) @module
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name) (#any-of? @_attr "attr_reader" "attr_accessor" "attr_writer")) @property

(call !receiver method: (identifier) @call)
(call receiver: (_) @qualifier method: (identifier) @call)
(superclass (constant) @extends)
(superclass (scope_resolution scope: (_) @qualifier name: (constant) @extends))
(call method: (identifier) @_mix arguments: (argument_list (constant) @implements) (#any-of? @_mix "include" "extend" "prepend"))
(assignment left: (instance_variable) @assign)
(call method: (identifier) @_load arguments: (argument_list (string (string_content) @file)) (#any-of? @_load "require" "require_relative" "load"))
