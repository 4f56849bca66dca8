(comment) @comment
(unit (moduleName) @name) @module
(program (moduleName) @name) @module
(declType name: (_) @name type: (declClass)) @class
(declType name: (_) @name type: (declIntf)) @interface
(declType name: (_) @name) @type
(defProc header: (declProc name: (genericDot) @path) body: (_) @body) @method
(defProc header: (declProc name: (identifier) @name) body: (_) @body) @function
(declProc name: (identifier) @name) @function
(declConst name: (identifier) @name) @constant
(declField name: (identifier) @name) @field
(declProp name: (identifier) @name) @property
(exprCall entity: (identifier) @call)
(exprCall entity: (exprDot lhs: (_) @qualifier rhs: (identifier) @call))
(declClass parent: (typeref (identifier) @extends))
(declUses (moduleName) @import)
