(line_comment) @comment
(doc_comment) @comment
(Decl (FnProto function: (IDENTIFIER) @name) (Block) @body) @function
(Decl (FnProto function: (IDENTIFIER) @name)) @function
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "union")))))) @union
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "enum")))))) @enum
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl))))) @struct
(Statement (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "union"))))) @union)
(Statement (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "enum"))))) @enum)
(Statement (VarDecl variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl)))) @struct)
(Decl (VarDecl "const" variable_type_function: (IDENTIFIER) @name)) @constant
(Decl (VarDecl "var" variable_type_function: (IDENTIFIER) @name)) @variable
(TestDecl (STRINGLITERALSINGLE) @name (Block) @body) @function
(TestDecl (IDENTIFIER) @name (Block) @body) @function
(ContainerDecl (ContainerDeclType ["enum" "union"]) (ContainerField . (ErrorUnionExpr . (SuffixExpr . variable_type_function: (IDENTIFIER) @name .))) @constant)
(ContainerField field_member: (IDENTIFIER) @name) @field
(SuffixExpr . variable_type_function: (IDENTIFIER) @call . (FnCallArguments))
(SuffixExpr . variable_type_function: (IDENTIFIER) @qualifier . (FieldOrFnCall function_call: (IDENTIFIER) @call))
(FieldOrFnCall function_call: (IDENTIFIER) @call)
(SuffixExpr (BUILTINIDENTIFIER) @_import (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @file))) (#eq? @_import "@import"))
(VarDecl variable_type_function: (IDENTIFIER) @alias (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_import . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @file))) .)) (#eq? @_import "@import"))
