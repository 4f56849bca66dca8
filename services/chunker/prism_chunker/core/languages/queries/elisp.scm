(comment) @comment
(function_definition name: (symbol) @name) @function
(function_definition docstring: (string) @doc)
(macro_definition name: (symbol) @name) @macro
(special_form . ["defvar" "defconst"] . (symbol) @name) @variable
(list . (symbol) @_custom . (symbol) @name (#any-of? @_custom "defcustom" "defvar-local" "defface" "defgroup")) @variable
(list . (symbol) @_function . (symbol) @name (#any-of? @_function "cl-defun" "cl-defmethod" "cl-defgeneric" "define-minor-mode" "define-derived-mode")) @function
(list . (symbol) @_require . (quote (symbol) @import) (#eq? @_require "require"))
((list . (symbol) @call) (#not-match? @call "^(def.*|define.*|ns|let.*|if|cond|lambda|struct|require|quote|_|fn|do|syntax-rules)$"))
