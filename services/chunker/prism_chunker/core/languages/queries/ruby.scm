(comment) @comment

(class name: (_) @path) @class
(module name: (_) @path) @module
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(assignment left: (constant) @name right: (call receiver: (constant) @_type method: (identifier) @_new) (#any-of? @_type "Class" "Struct" "Data" "Module") (#any-of? @_new "new" "define")) @class
(assignment left: (constant) @name right: (call receiver: [(constant) (scope_resolution)] method: (identifier) @_new block: (do_block body: (body_statement [(method) (singleton_method)]))) (#eq? @_new "new")) @class
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @function
(call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_)? @body (#any-of? @_define "alias_method" "define_method")) @function
(call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name) (#match? @_attr "^(thread_)?[cm]?attr_(reader|accessor|writer)$")) @property
(call method: (identifier) @_delegate arguments: (argument_list . (_) (simple_symbol) @name) (#any-of? @_delegate "def_delegators" "def_instance_delegators")) @function
(call method: (identifier) @_delegate arguments: (argument_list . (_) . (simple_symbol) @name .) (#any-of? @_delegate "def_delegator" "def_instance_delegator")) @function
(call method: (identifier) @_delegate arguments: (argument_list . (_) . (_) . (simple_symbol) @name .) (#any-of? @_delegate "def_delegator" "def_instance_delegator")) @function
(call method: (identifier) @_delegate arguments: (argument_list (simple_symbol) @name (pair key: (hash_key_symbol) @_to)) (#eq? @_delegate "delegate") (#eq? @_to "to")) @function
(assignment right: (call receiver: (constant) @_type method: (identifier) @_new arguments: (argument_list (simple_symbol) @name @property)) (#any-of? @_type "Struct" "Data") (#any-of? @_new "new" "define"))
(superclass (call receiver: (constant) @_type method: (identifier) @_new arguments: (argument_list (simple_symbol) @name @property)) (#any-of? @_type "Struct" "Data") (#any-of? @_new "new" "define"))

(call !receiver method: (identifier) @call)
(call receiver: (_) @qualifier method: (identifier) @call)
(super) @overridden
(assignment left: (call receiver: (_) @qualifier method: (identifier) @setter))
(operator_assignment left: (call receiver: (_) @qualifier method: (identifier) @setter))
(left_assignment_list (call receiver: (_) @qualifier method: (identifier) @setter))
(call !receiver method: (identifier) @_send arguments: (argument_list . [(simple_symbol) @call (string . (string_content) @call .)]) (#any-of? @_send "send" "public_send" "__send__" "method"))
(call receiver: (_) @qualifier method: (identifier) @_send arguments: (argument_list . [(simple_symbol) @call (string . (string_content) @call .)]) (#any-of? @_send "send" "public_send" "__send__" "method"))
(call receiver: (_) @qualifier method: (identifier) @_stub arguments: (argument_list . (simple_symbol) @call) (#any-of? @_stub "stubs" "expects" "should_receive"))
(call !receiver method: (identifier) @_receive arguments: (argument_list . (simple_symbol) @call) (#any-of? @_receive "receive" "have_received"))
(superclass (constant) @extends)
(superclass (scope_resolution !scope name: (constant) @extends))
(superclass (scope_resolution scope: (_) @qualifier name: (constant) @extends))
(assignment left: (constant) right: (call receiver: (constant) @extends method: (identifier) @_new block: (do_block body: (body_statement [(method) (singleton_method)]))) (#eq? @_new "new") (#not-match? @extends "^(Class|Data|Module|Struct)$"))
(assignment left: (constant) right: (call receiver: (scope_resolution scope: (_) @qualifier name: (constant) @extends) method: (identifier) @_new block: (do_block body: (body_statement [(method) (singleton_method)]))) (#eq? @_new "new"))
(call method: (identifier) @_mix arguments: (argument_list (constant) @implements) (#any-of? @_mix "include" "extend" "prepend"))
(assignment left: [(instance_variable) (class_variable)] @assign)
(operator_assignment left: [(instance_variable) (class_variable)] @assign)
(block_argument (simple_symbol) @call)
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
(element_reference [(identifier) (constant) (scope_resolution)] @value)
(if_modifier body: [(identifier) (constant) (scope_resolution)] @value)
(unless_modifier body: [(identifier) (constant) (scope_resolution)] @value)
(while_modifier [(identifier) (constant) (scope_resolution)] @value)
(until_modifier [(identifier) (constant) (scope_resolution)] @value)
(rescue_modifier [(identifier) (constant) (scope_resolution)] @value)
[(while condition: (identifier) @value) (until condition: (identifier) @value) (elsif condition: (identifier) @value)]
(case value: [(identifier) (constant) (scope_resolution)] @value)
(case_match value: [(identifier) (constant) (scope_resolution)] @value)
(in_clause pattern: [(constant) (scope_resolution)] @value)
(right_assignment_list [(identifier) (constant) (scope_resolution)] @value)
(operator_assignment right: [(identifier) (constant) (scope_resolution)] @value)
(parenthesized_statements [(identifier) (constant) (scope_resolution)] @value)
(begin [(identifier) (constant) (scope_resolution)] @value)
(ensure [(identifier) (constant) (scope_resolution)] @value)
(do [(identifier) (constant) (scope_resolution)] @value)
(program [(identifier) (constant) (scope_resolution)] @value)
(range [(identifier) (constant) (scope_resolution)] @value)
(splat_argument [(identifier) (constant) (scope_resolution)] @value)
(hash_splat_argument [(identifier) (constant) (scope_resolution)] @value)
[(instance_variable) (class_variable)] @value
(call !receiver method: (identifier) @_macro arguments: (argument_list (simple_symbol) @value) @inside (#match? @_macro "^(private|public|protected|module_function|private_class_method|public_class_method|helper_method|undef_method|remove_method|respond_to\\?|instance_method|method_defined\\?|memoize|validate|(prepend_|append_|skip_)?(before|after|around)_[a-z_]+)$"))
(call !receiver method: (identifier) @_delegate arguments: (argument_list (pair key: (hash_key_symbol) @_to value: (simple_symbol) @value)) @inside (#eq? @_delegate "delegate") (#eq? @_to "to"))
(call !receiver method: (identifier) @_delegate arguments: (argument_list . (simple_symbol) @value) (#any-of? @_delegate "def_delegators" "def_delegator" "def_instance_delegators" "def_instance_delegator") (#match? @value "^:@"))
(call !receiver method: (identifier) @_constant arguments: (argument_list . (simple_symbol) @value) (#eq? @_constant "autoload"))
(call !receiver method: (identifier) @_constant arguments: (argument_list (simple_symbol) @value) (#any-of? @_constant "private_constant" "deprecate_constant"))

(assignment left: [(identifier) (instance_variable) (constant)] @bound right: (_) @given)
(assignment left: (left_assignment_list (identifier) @bound))
(call !receiver method: (identifier) @_let arguments: (argument_list . (simple_symbol) @bound .) block: (_ body: (_ . (_) @given .)) (#any-of? @_let "let" "let!" "subject" "subject!"))
(call !receiver method: (identifier) @bound !arguments block: (_ body: (_ . (_) @given .)) (#any-of? @bound "subject" "subject!"))
(call method: (identifier) @_describe arguments: (argument_list . [(constant) (scope_resolution)] @described) block: (_) (#any-of? @_describe "describe" "context"))
(operator_assignment left: [(identifier) (instance_variable)] @bound right: (_) @given)
(method_parameters (identifier) @bound)
(method_parameters (_ name: (identifier) @bound))
(block_parameters (identifier) @bound)
(lambda_parameters (identifier) @bound)
(rescue exceptions: (exceptions . (_) @declared .) variable: (exception_variable (identifier) @bound))
(rescue variable: (exception_variable (identifier) @bound))
(for pattern: (identifier) @bound)
