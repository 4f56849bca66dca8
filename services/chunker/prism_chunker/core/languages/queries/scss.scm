(comment) @comment
(rule_set (selectors) @name (block) @body) @rule
(mixin_statement name: (_) @name (block) @body) @macro
(function_statement name: (_) @name (block) @body) @function
(stylesheet (declaration (property_name) @name) @variable)
(include_statement (identifier) @call)
(import_statement (string_value) @file)
