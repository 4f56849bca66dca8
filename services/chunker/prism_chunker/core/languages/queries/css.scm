(comment) @comment
(rule_set (selectors) @name (block) @body) @rule
(keyframes_statement (keyframes_name) @name) @rule
(import_statement (string_value) @file)
