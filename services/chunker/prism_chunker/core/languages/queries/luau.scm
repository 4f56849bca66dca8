(type_definition name: (identifier) @name) @type
