// What the names in a TypeScript or JavaScript repository mean, by the compiler: `node resolve.mjs FOLDER USES_MAX SEED
// < PATHS` prints it, as `../truth.py` says. Nothing of the repository is installed or run: its own packages are found by
// their package.json, and what it depends on is outside of it. Where there are more uses than USES_MAX, whole files are drawn.

import fs from "node:fs";
import path from "node:path";
import ts from "typescript";

// Where a package keeps its sources, against what its package.json says of the built ones.
const SOURCE_FOLDERS = ["src", "."];

// How often a value that is another's is followed.
const VALUES_MAX = 10;

const [folder, usesMax, seed] = [fs.realpathSync(process.argv[2]), Number(process.argv[3]), Number(process.argv[4])];

const defaults = {
  allowJs: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  baseUrl: undefined,
};

function main() {
  const sources = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((name) => path.join(folder, name));
  const packages = ownPackages(sources);
  const host = ts.createCompilerHost(defaults);
  const optionsOf = nearestOptions();
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) => ({ resolvedModule: resolve(text, containing, optionsOf(containing), packages, host) }));
  const program = ts.createProgram(sources, defaults, host);
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter((file) => sources.includes(file.fileName));
  const wanted = wantedNames(files);
  const covered = [];
  const uses = [];
  for (const file of shuffled(files)) {
    if (uses.length >= usesMax) break;
    covered.push(relative(file.fileName));
    for (const name of names(file)) {
      if (wanted.has(name.text)) uses.push(use(file, name, checker, packages));
    }
  }
  const unbuilt = sources.filter(hasImplementation).map(relative);
  process.stdout.write(JSON.stringify({ resolver: `typescript ${ts.version}`, files: covered.sort(), unbuilt, uses }));
}

// The folders of the repository's own packages, by their names: those with a package.json above a source.
function ownPackages(sources) {
  const found = new Map();
  for (const home of new Set(sources.flatMap(foldersAbove))) {
    const file = path.join(home, "package.json");
    const name = fs.existsSync(file) && ts.readConfigFile(file, ts.sys.readFile).config?.name;
    if (name && !found.has(name)) found.set(name, home);
  }
  return found;
}

function foldersAbove(file) {
  const above = [];
  for (let home = path.dirname(file); home.startsWith(folder); home = path.dirname(home)) above.push(home);
  return above;
}

// The options that a file is compiled with as far as they say what its imports mean: those of the nearest tsconfig.json.
function nearestOptions() {
  const known = new Map();
  return function optionsOf(file) {
    const directory = path.dirname(file);
    if (!known.has(directory)) {
      const config = ts.findConfigFile(directory, ts.sys.fileExists);
      known.set(directory, config && config.startsWith(folder) ? withPaths(config) : defaults);
    }
    return known.get(directory);
  };
}

function withPaths(config) {
  const { config: content } = ts.readConfigFile(config, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(content ?? {}, { ...ts.sys, readDirectory: () => [] }, path.dirname(config));
  return { ...defaults, baseUrl: options.baseUrl, paths: options.paths, pathsBasePath: options.pathsBasePath };
}

function resolve(text, containing, options, packages, host) {
  for (const place of [text, ...inPackages(text, packages)]) {
    const { resolvedModule } = ts.resolveModuleName(place, containing, options, host);
    if (resolvedModule) return implementation(resolvedModule);
  }
  return undefined;
}

// The source of what is only declared: `depot.js` beside `depot.d.ts`.
function implementation(module) {
  const name = implementations(module.resolvedFileName).find(fs.existsSync);
  return name ? { ...module, resolvedFileName: name, extension: path.extname(name) } : module;
}

function implementations(name) {
  const declared = /(.*)\.d\.([mc]?)ts$/.exec(name);
  return declared ? [declared[2], "", "m", "c"].map((kind) => `${declared[1]}.${kind}js`) : [];
}

function hasImplementation(name) {
  return implementations(name).some(fs.existsSync);
}

// `@acme/depot/rates` is `rates` in the sources of the repository's package `@acme/depot`.
function inPackages(text, packages) {
  const parts = text.split("/");
  const length = text.startsWith("@") ? 2 : 1;
  const home = packages.get(parts.slice(0, length).join("/"));
  const inner = parts.slice(length).join("/") || "index";
  return home ? SOURCE_FOLDERS.map((source) => path.join(home, source, inner)) : [];
}

function* nodes(node) {
  yield node;
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodes(child);
}

// What is defined anywhere, and what imports and exports call it instead.
function wantedNames(files) {
  const wanted = new Set();
  const renamed = [];
  for (const file of files) {
    for (const node of nodes(file)) {
      if (kindOf(node) !== "value" && node.name && ts.isIdentifier(node.name)) wanted.add(node.name.text);
      if ((ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) && node.propertyName) renamed.push([node.propertyName.text, node.name.text]);
      if (ts.isImportClause(node) && node.name) wanted.add(node.name.text); // a default export has any name
      if (ts.isVariableDeclaration(node) && node.initializer && isRequire(node.initializer) && ts.isIdentifier(node.name)) wanted.add(node.name.text);
      if (ts.isBindingElement(node) && node.propertyName && ts.isIdentifier(node.name)) renamed.push([node.propertyName.text, node.name.text]);
    }
  }
  for (const [name, alias] of renamed) if (wanted.has(name)) wanted.add(alias);
  return wanted;
}

// What a declaration declares. `exports.open = function () {}` and `this.open = () => 1` declare a function.
function kindOf(node) {
  if (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isMethodDeclaration(node)) return "function";
  if (ts.isMethodSignature(node) || ts.isAccessor(node)) return "function";
  if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)) return "class";
  if (ts.isTypeAliasDeclaration(node)) return "class";
  const holds = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node);
  const made = holds ? node.initializer && assigned(node.initializer) : assignedTo(node);
  if (made && (ts.isArrowFunction(made) || ts.isFunctionExpression(made))) return "function";
  return made && ts.isClassExpression(made) ? "class" : "value";
}

// What is assigned to a member: the function of `exports.open = open = function () {}`.
function assignedTo(node) {
  const assignment = ts.isBinaryExpression(node) ? node : ts.isPropertyAccessExpression(node) && node.parent;
  if (!assignment || !ts.isBinaryExpression(assignment) || (assignment !== node && assignment.left !== node)) return undefined;
  const isAssignment = assignment.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment && ts.isPropertyAccessExpression(assignment.left) ? assigned(assignment.right) : undefined;
}

function assigned(value) {
  const isAssignment = ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment ? assigned(value.right) : value;
}

// Identifiers that use a name, and do not declare it.
function* names(file) {
  for (const node of nodes(file)) {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !isDeclared(node)) yield node;
  }
}

function isDeclared(name) {
  const { parent } = name;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return parent.propertyName !== undefined && parent.name === name;
  if (ts.isImportClause(parent) || ts.isExportAssignment(parent) || ts.isShorthandPropertyAssignment(parent)) return false;
  if (ts.isPropertyAssignment(parent) || ts.isJsxAttribute(parent) || ts.isLabeledStatement(parent)) return parent.name === name || parent.label === name;
  if (ts.isPropertyAccessExpression(parent) && parent.name === name && kindOf(parent) !== "value") return true;
  if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent) || ts.isMetaProperty(parent)) return ts.isMetaProperty(parent);
  return parent.name === name || parent.propertyName === name || ts.isNamespaceImport(parent) || ts.isNamespaceExport(parent);
}

function use(file, name, checker, packages) {
  const { line } = file.getLineAndCharacterOfPosition(name.getStart(file));
  const where = { path: relative(file.fileName), line: line + 1, name: name.text, kind: kindOfUse(name) };
  let symbol = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name);
  const isForeign = symbol !== undefined && comesFromElsewhere(symbol, packages);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declarations = (symbol?.declarations ?? []).flatMap((one) => valueOf(one, checker));
  const inside = declarations.filter((one) => one.getSourceFile().fileName.startsWith(folder + path.sep));
  // What `export default connect(Depot)` gives has no name.
  const means = inside.filter((one) => !ts.isSourceFile(one) && !ts.isExportAssignment(one)).map(definition);
  return { ...where, means, outside: !inside.length && (declarations.length > 0 || isForeign) };
}

// Of `{ rate }`, `{ rate: rateOf }` and `exports.rate = rateOf` the declarations of the variable, as an object of functions
// is how many modules export them.
function valueOf(declaration, checker, depth = 0) {
  const symbol = ts.isShorthandPropertyAssignment(declaration)
    ? checker.getShorthandAssignmentValueSymbol(declaration)
    : namedValue(declaration) && checker.getSymbolAtLocation(namedValue(declaration));
  let value = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  if (value?.exports?.has("export=")) value = value.exports.get("export="); // a module is what it exports as a whole
  if (value && value.flags & ts.SymbolFlags.Alias) value = checker.getAliasedSymbol(value);
  if (depth > VALUES_MAX || !value?.declarations?.length) return [declaration];
  return value.declarations.flatMap((one) => valueOf(one, checker, depth + 1));
}

// What names the value of a declaration: a variable, a member, or the module of `require`.
function namedValue(declaration) {
  const isHolder = ts.isPropertyAssignment(declaration) || ts.isVariableDeclaration(declaration);
  const made = isHolder ? declaration.initializer && assigned(declaration.initializer) : assignedTo(declaration);
  if (made && isRequire(made)) return made.arguments[0];
  if (made && ts.isVariableDeclaration(declaration)) return undefined; // a variable is a definition of its own
  if (made && ts.isPropertyAccessExpression(made)) return made.name;
  return made && ts.isIdentifier(made) ? made : undefined;
}

function isRequire(node) {
  return ts.isCallExpression(node) && node.expression.text === "require" && node.arguments.length === 1 && ts.isStringLiteral(node.arguments[0]);
}

// Whether a symbol is imported from a package that is not the repository's.
function comesFromElsewhere(symbol, packages) {
  for (const declaration of symbol.declarations ?? []) {
    let node = declaration;
    while (node && !ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) node = node.parent;
    const text = node?.moduleSpecifier?.text;
    if (text && !/^[.~#]|^@\//.test(text) && !inPackages(text, packages).length) return true;
  }
  return false;
}

function definition(node) {
  const file = node.getSourceFile();
  const name = nameOf(node);
  const { line } = file.getLineAndCharacterOfPosition(name.getStart(file));
  const text = name.text ?? "default";
  return { path: relative(file.fileName), line: line + 1, name: text, kind: kindOf(node) };
}

// The name of a declaration: of `exports.open = function openAll() {}` it is `open`.
function nameOf(node) {
  if (assignedTo(node)) return ts.isBinaryExpression(node) ? node.left.name : node.name;
  return ts.getNameOfDeclaration(node) ?? node;
}

function kindOfUse(name) {
  let node = name;
  if ((ts.isPropertyAccessExpression(node.parent) || ts.isQualifiedName(node.parent)) && (node.parent.name ?? node.parent.right) === node) node = node.parent;
  const { parent } = node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return "imports";
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === node) return "calls";
  if (ts.isTaggedTemplateExpression(parent) || ts.isDecorator(parent)) return "calls";
  if ((ts.isJsxOpeningElement(parent) || ts.isJsxSelfClosingElement(parent)) && parent.tagName === node) return "calls";
  if (ts.isExpressionWithTypeArguments(parent) && ts.isHeritageClause(parent.parent))
    return parent.parent.token === ts.SyntaxKind.ImplementsKeyword ? "implements" : "extends";
  if (ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) return "assigns";
  return "references";
}

function relative(file) {
  return path.relative(folder, file).split(path.sep).join("/");
}

// By a linear congruential generator (Numerical Recipes), so that a seed gives one order everywhere.
function shuffled(items) {
  const found = [...items].sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
  let state = seed >>> 0;
  for (let last = found.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (last + 1);
    [found[last], found[other]] = [found[other], found[last]];
  }
  return found;
}

main();
