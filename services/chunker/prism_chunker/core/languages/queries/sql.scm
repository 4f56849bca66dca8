(comment) @comment
(marginalia) @comment
(create_table (object_reference name: (identifier) @name)) @struct
(create_view (object_reference name: (identifier) @name)) @struct
(create_materialized_view (object_reference name: (identifier) @name)) @struct
(create_function (object_reference name: (identifier) @name)) @function
(create_index column: (identifier) @name) @rule
(create_trigger . (_) . (_) . (object_reference name: (identifier) @name)) @rule
(create_type (object_reference name: (identifier) @name)) @type
(create_table (column_definitions (column_definition name: (identifier) @name) @field))
(invocation (object_reference name: (identifier) @call))
