(comment) @comment
(list_lit (defun (defun_header keyword: (defun_keyword) @_def function_name: (_) @name)) (#eq? @_def "defmacro")) @macro
(list_lit (defun (defun_header keyword: (defun_keyword) @_def function_name: (_) @name)) (#any-of? @_def "defmethod" "defgeneric")) @method
(list_lit (defun (defun_header function_name: (_) @name))) @function
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#any-of? @_def "defvar" "defparameter")) @variable
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#eq? @_def "defconstant")) @constant
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#eq? @_def "defclass")) @class
(list_lit . value: (sym_lit) @_def . value: [(sym_lit) @name (list_lit . value: (sym_lit) @name)] (#eq? @_def "defstruct")) @struct
(list_lit . value: (sym_lit) @_def . value: [(sym_lit) (kwd_lit)] @name (#eq? @_def "defpackage")) @module
(defun . (defun_header) . value: (str_lit) @doc)
((list_lit . value: (sym_lit) @call) (#not-match? @call "^(def.*|define.*|ns|let.*|if|cond|lambda|struct|require|quote|_|fn|do|syntax-rules)$"))
