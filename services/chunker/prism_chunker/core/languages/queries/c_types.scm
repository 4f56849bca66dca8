; After a language's own patterns for qualified types: if two patterns match one type, the first wins.
(type_identifier) @use
; After a language's own patterns for the object: `gate` of `gate.open()` is used by itself.
(field_expression) @value
