(comment) @comment
(message (message_name (identifier) @name)) @struct
(enum (enum_name (identifier) @name)) @enum
(service (service_name (identifier) @name)) @interface
(rpc (rpc_name (identifier) @name)) @method
(message_body (field (identifier) @name) @field)
(enum_field . (identifier) @name) @constant
(import path: (string) @file)
