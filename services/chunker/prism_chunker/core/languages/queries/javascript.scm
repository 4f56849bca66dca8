(class_body (field_definition property: (_) @name) @field)
(class_body (field_definition property: (_) @name value: (arrow_function body: (_) @body)) @method)
(class_heritage (identifier) @extends)
(class_heritage (member_expression object: (_) @qualifier property: (property_identifier) @extends))
