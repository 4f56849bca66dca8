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
(super) @overridden
(call !receiver method: (identifier) @_send arguments: (argument_list . [(simple_symbol) @call (string . (string_content) @call .)]) (#any-of? @_send "send" "public_send" "__send__" "method"))
(call receiver: (_) @qualifier method: (identifier) @_send arguments: (argument_list . [(simple_symbol) @call (string . (string_content) @call .)]) (#any-of? @_send "send" "public_send" "__send__" "method"))
(superclass (constant) @extends)
(superclass (scope_resolution scope: (_) @qualifier name: (constant) @extends))
(call method: (identifier) @_mix arguments: (argument_list (constant) @implements) (#any-of? @_mix "include" "extend" "prepend"))
(assignment left: (instance_variable) @assign)
(call method: (identifier) @_load arguments: (argument_list (string (string_content) @file)) (#any-of? @_load "require" "require_relative" "load"))

(assignment left: (constant) @name right: [(constant) (scope_resolution)] @original)
(alias name: (_) @name alias: (_) @original)
(call method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name . (simple_symbol) @original .) (#eq? @_alias "alias_method"))

(argument_list [(identifier) (constant) (scope_resolution)] @value)
(assignment right: [(identifier) (constant) (scope_resolution)] @value)
(array [(identifier) (constant) (scope_resolution)] @value)
(pair value: [(identifier) (constant) (scope_resolution)] @value)
(return (argument_list [(identifier) (constant) (scope_resolution)] @value))
(binary [(identifier) (constant) (scope_resolution)] @value)
(conditional [(identifier) (constant) (scope_resolution)] @value)
(when (pattern [(constant) (scope_resolution)] @value))
(exceptions [(constant) (scope_resolution)] @value)
(optional_parameter value: [(constant) (scope_resolution)] @value)
(keyword_parameter value: [(constant) (scope_resolution)] @value)
(interpolation [(identifier) (constant)] @value)
(body_statement [(identifier) (constant) (scope_resolution)] @value)
(then [(identifier) (constant) (scope_resolution)] @value)
(else [(identifier) (constant) (scope_resolution)] @value)
(block_body [(identifier) (constant) (scope_resolution)] @value)
[(if condition: (identifier) @value) (unless condition: (identifier) @value) (if_modifier condition: (identifier) @value) (unless_modifier condition: (identifier) @value)]
(unary (identifier) @value)
(element_reference . [(constant) (scope_resolution)] @value)

(assignment left: [(identifier) (instance_variable) (constant)] @bound right: (_) @given)
(assignment left: (left_assignment_list (identifier) @bound))
(operator_assignment left: [(identifier) (instance_variable)] @bound right: (_) @given)
(method_parameters (identifier) @bound)
(method_parameters (_ name: (identifier) @bound))
(block_parameters (identifier) @bound)
(lambda_parameters (identifier) @bound)
(rescue exceptions: (exceptions . (_) @declared .) variable: (exception_variable (identifier) @bound))
(rescue variable: (exception_variable (identifier) @bound))
(for pattern: (identifier) @bound)
