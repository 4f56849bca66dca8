(line_comment) @comment
(block_comment) @comment
(command (unit (identifier) @_class) . (unit (identifier) @name) (#eq? @_class "class")) @class
(command (unit (identifier) @_class) . (unit (identifier) @name) (#eq? @_class "interface")) @interface
(command . (unit (identifier) @_type) (block . (unit (func . (identifier) @name) @_head) (#not-any-of? @_type "return" "if" "while" "for" "switch" "catch" "assert"))) @function
(func . (identifier) @call)
