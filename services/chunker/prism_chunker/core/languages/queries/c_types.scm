; After a language's own patterns for qualified types: if two patterns match one type, the first wins.
(type_identifier) @use
