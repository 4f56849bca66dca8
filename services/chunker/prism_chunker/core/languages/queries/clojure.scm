(comment) @comment
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name . value: (str_lit)? @doc (#any-of? @_def "defn" "defn-" "defmulti" "defmethod" "deftest")) @function
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#any-of? @_def "defmacro")) @macro
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#any-of? @_def "def" "defonce")) @variable
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#any-of? @_def "defrecord" "deftype")) @class
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#any-of? @_def "defprotocol" "definterface")) @interface
(list_lit . value: (sym_lit) @_def . value: (sym_lit) @name (#eq? @_def "ns")) @namespace
(list_lit . value: (sym_lit) @_def (list_lit . value: (kwd_lit) value: (vec_lit . value: (sym_lit) @import)) (#eq? @_def "ns"))
((list_lit . value: (sym_lit name: (sym_name) @call)) (#not-match? @call "^(def.*|define.*|ns|let.*|if|cond|lambda|struct|require|quote|_|fn|do|syntax-rules)$"))
