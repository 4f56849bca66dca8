; Scheme and Racket.
(comment) @comment
(list . (symbol) @_define . (list . (symbol) @name) (#any-of? @_define "define" "define*" "define/contract")) @function
(list . (symbol) @_define . (symbol) @name . (list . (symbol) @_lambda) (#eq? @_define "define") (#any-of? @_lambda "lambda" "λ" "case-lambda")) @function
(list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] (#any-of? @_define "define-syntax" "define-syntax-rule" "define-macro")) @macro
(list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] (#any-of? @_define "struct" "define-struct" "define-record-type")) @struct
(program (list . (symbol) @_define . (symbol) @name (#any-of? @_define "define" "define-values")) @variable)
(list . (symbol) @_require . [(symbol) (string)] @file (#any-of? @_require "require" "load"))
((list . (symbol) @call) (#not-match? @call "^(def.*|define.*|ns|let.*|if|cond|lambda|struct|require|quote|_|fn|do|syntax-rules)$"))
