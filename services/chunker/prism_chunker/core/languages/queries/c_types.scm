; After what a language says of types with qualifiers: of two patterns for one type, the first wins.
(type_identifier) @use
