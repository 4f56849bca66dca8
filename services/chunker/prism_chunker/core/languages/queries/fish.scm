(comment) @comment
(function_definition name: (_) @name) @function
(command name: (word) @call)
(command name: (word) @_source . argument: (word) @file (#eq? @_source "source"))
