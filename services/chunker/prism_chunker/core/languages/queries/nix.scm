(comment) @comment
(binding attrpath: (attrpath) @path expression: (function_expression)) @function
(binding attrpath: (attrpath) @path) @key
(apply_expression function: (variable_expression name: (identifier) @call))
(apply_expression function: (select_expression expression: (_) @qualifier attrpath: (attrpath attr: (identifier) @call .)))
