(comment) @comment
(rule (targets (word) @name)) @rule
(variable_assignment name: (word) @name) @variable
(define_directive name: (word) @name) @macro
(include_directive filenames: (list (word) @file))
