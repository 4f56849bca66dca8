(comment) @comment
; @doc, @spec and other attributes stand above what they describe.
(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments (string))) (#any-of? @_doc "doc" "typedoc")) @comment
(unary_operator operator: "@" operand: (call target: (identifier) @_spec) (#any-of? @_spec "spec" "impl" "deprecated" "dialyzer")) @attribute

(call target: (identifier) @_def (arguments . (alias) @name) (#any-of? @_def "defmodule" "defimpl")) @module
(call target: (identifier) @_def (arguments . (alias) @name) (#eq? @_def "defprotocol")) @interface
(call target: (identifier) @_def (arguments . (call target: (identifier) @name)) (do_block)? @body (#any-of? @_def "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp")) @function
(call target: (identifier) @_def (arguments . (binary_operator left: (call target: (identifier) @name))) (do_block)? @body (#any-of? @_def "def" "defp" "defguard" "defguardp")) @function
(call target: (identifier) @_def (arguments . (identifier) @name) (do_block)? @body (#any-of? @_def "def" "defp")) @function
(call target: (identifier) @_def (arguments . (call target: (identifier) @name)) (do_block)? @body (#any-of? @_def "defmacro" "defmacrop")) @macro
(call target: (identifier) @_def (arguments . (binary_operator left: (call target: (identifier) @name))) (#any-of? @_def "defmacro" "defmacrop")) @macro
(unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)]))) (#any-of? @_type "type" "typep" "opaque")) @type
(unary_operator operator: "@" operand: (call target: (identifier) @_callback (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)]))) (#any-of? @_callback "callback" "macrocallback")) @function
(unary_operator operator: "@" operand: (call target: (identifier) @_callback (arguments (binary_operator left: (binary_operator left: (call target: (identifier) @name))))) (#any-of? @_callback "callback" "macrocallback")) @function
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . [(integer) (list) (atom) (map) (tuple)])) @constant))
(call target: (identifier) @_def (do_block . (unary_operator operand: (call target: (identifier) @_moduledoc (arguments (string (quoted_content) @doc))))) (#eq? @_def "defmodule") (#eq? @_moduledoc "moduledoc"))

(call target: (identifier) @call (#not-match? @call "^(def\\w*|alias|import|require|use|\\w*doc|spec|typep?|opaque|(macro)?callback|impl)$"))
(call target: (dot left: (_) @qualifier right: (identifier) @call))
(call target: (identifier) @_import (arguments . (alias) @item) (#any-of? @_import "alias" "import" "require" "use"))
