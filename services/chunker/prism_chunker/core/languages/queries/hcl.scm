(comment) @comment
(config_file (body (block (identifier) @owner . (string_lit (template_literal) @name) . (block_start)) @rule))
(config_file (body (block (identifier) . (string_lit (template_literal) @owner) . (string_lit (template_literal) @name)) @rule))
(config_file (body (block (identifier) @name . (block_start)) @rule))
(config_file (body (attribute (identifier) @name) @key))
(function_call (identifier) @call)
