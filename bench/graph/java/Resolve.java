// What the names in a Java repository mean, by the compiler: `java Resolve.java FOLDER USES_MAX SEED < PATHS` prints it, as
// ../truth.py says. Nothing of the repository is built or run, and nothing is downloaded: what it depends on is outside of it.
// Where there are more uses than USES_MAX, whole files are drawn at random.

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Name;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.util.Elements;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The program. */
public final class Resolve {
    // Attribute despite errors: imports of what is not installed are some. No processor runs.
    private static final List<String> OPTIONS =
            List.of("-proc:none", "-implicit:none", "-XDshould-stop.ifError=FLOW", "-Xlint:none", "-encoding", "UTF-8");

    // A descriptor of a module would make the compiler look for all other modules.
    private static final String MODULE = "module-info.java";

    /** A definition in the repository: `function`, `class` or `value`. */
    private record Definition(String path, long line, String name, String kind) {
        String json() {
            return String.format(
                    "{\"path\":%s,\"line\":%d,\"name\":%s,\"kind\":%s}", quoted(path), line, quoted(name), quoted(kind));
        }
    }

    /** A use of a name. Neither `means` nor `outside`: unknown. */
    private record Use(String path, long line, String name, String kind, Set<Definition> means, boolean outside) {
        String json() {
            String listed = means.stream().map(Definition::json).collect(Collectors.joining(","));
            return String.format(
                    "{\"path\":%s,\"line\":%d,\"name\":%s,\"kind\":%s,\"means\":[%s],\"outside\":%b}",
                    quoted(path), line, quoted(name), quoted(kind), listed, outside);
        }
    }

    /** A file of the repository. */
    private static final class Source extends SimpleJavaFileObject {
        private final String path; // relative to the folder
        private final String text;

        Source(Path folder, String path) throws IOException {
            super(folder.resolve(path).toUri(), Kind.SOURCE);
            this.path = path;
            this.text = new String(Files.readAllBytes(folder.resolve(path)), StandardCharsets.UTF_8);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true; // tests of tools keep sources under other names
        }
    }

    /** A parsed file. */
    private record Unit(Source source, CompilationUnitTree tree) {}

    private final Trees trees;
    private final Elements elements;
    private final SourcePositions positions;
    private final Map<Element, Definition> defined = new IdentityHashMap<>();
    private final Set<String> packages = new HashSet<>();
    private final Set<String> types = new HashSet<>(); // outside of other types, by their full names

    private Resolve(JavacTask task) {
        trees = Trees.instance(task);
        elements = task.getElements();
        positions = trees.getSourcePositions();
    }

    /** Prints the meaning of every use. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]).toRealPath();
        int usesMax = Integer.parseInt(arguments[1]);
        int seed = (int) Long.parseLong(arguments[2]);
        String listed = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        List<String> paths = listed.lines().filter(path -> !path.isEmpty()).sorted().toList();
        List<Source> sources = new ArrayList<>();
        for (String path : paths) {
            if (!path.endsWith(MODULE)) {
                sources.add(new Source(folder, path));
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<Source> built = withoutSecondDefinitions(compiler, files, sources);
            JavacTask task = (JavacTask) compiler.getTask(null, files, problem -> {}, OPTIONS, null, built);
            Resolve resolve = new Resolve(task);
            List<Unit> units = parsed(task, built);
            task.analyze();
            units.forEach(resolve::noteDefinitions);
            Set<String> unbuilt = new TreeSet<>(paths);
            built.forEach(source -> unbuilt.remove(source.path));
            resolve.print(shuffled(units, seed), usesMax, unbuilt);
        }
    }

    private static List<Unit> parsed(JavacTask task, List<Source> sources) throws IOException {
        Map<URI, Source> known = sources.stream().collect(Collectors.toMap(Source::toUri, source -> source));
        List<Unit> units = new ArrayList<>();
        for (CompilationUnitTree tree : task.parse()) {
            units.add(new Unit(known.get(tree.getSourceFile().toUri()), tree));
        }
        return units;
    }

    /** Leaves out files that define a type again: they belong to another build of the repository. */
    private static List<Source> withoutSecondDefinitions(
            JavaCompiler compiler, StandardJavaFileManager files, List<Source> sources) throws IOException {
        JavacTask task = (JavacTask) compiler.getTask(null, files, problem -> {}, OPTIONS, null, sources);
        Set<String> known = new HashSet<>();
        List<Source> kept = new ArrayList<>();
        for (Unit unit : parsed(task, sources)) {
            Set<String> own = typesOf(unit);
            if (own.stream().noneMatch(known::contains)) {
                known.addAll(own);
                kept.add(unit.source);
            }
        }
        return kept;
    }

    private void print(List<Unit> units, int usesMax, Set<String> unbuilt) {
        Set<String> wanted = wantedNames();
        Set<String> covered = new TreeSet<>();
        List<Use> uses = new ArrayList<>();
        for (Unit unit : units) {
            if (uses.size() >= usesMax) {
                break;
            }
            covered.add(unit.source.path);
            new Names(unit, wanted, uses).scan(unit.tree, null);
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        out.printf("{\"resolver\":%s,", quoted("javac " + Runtime.version().feature()));
        out.printf("\"files\":[%s],", covered.stream().map(Resolve::quoted).collect(Collectors.joining(",")));
        out.printf("\"unbuilt\":[%s],", unbuilt.stream().map(Resolve::quoted).collect(Collectors.joining(",")));
        out.printf("\"uses\":[%s]}", uses.stream().map(Use::json).collect(Collectors.joining(",")));
        out.flush();
    }

    private Set<String> wantedNames() {
        return defined.values().stream()
                .filter(one -> !one.kind.equals("value"))
                .map(Definition::name)
                .collect(Collectors.toSet());
    }

    private void noteDefinitions(Unit unit) {
        packages.add(packageOf(unit));
        types.addAll(typesOf(unit));
        new TreePathScanner<Void, Void>() {
            @Override
            public Void visitClass(ClassTree tree, Void none) {
                note(tree, tree.getSimpleName().toString(), tree.getModifiers());
                return super.visitClass(tree, none);
            }

            @Override
            public Void visitMethod(MethodTree tree, Void none) {
                Element element = trees.getElement(getCurrentPath());
                boolean isConstructor = element != null && element.getKind() == ElementKind.CONSTRUCTOR;
                Name name = isConstructor ? element.getEnclosingElement().getSimpleName() : tree.getName();
                note(tree, name.toString(), tree.getReturnType() == null ? tree.getModifiers() : tree.getReturnType());
                return super.visitMethod(tree, none);
            }

            @Override
            public Void visitVariable(VariableTree tree, Void none) {
                note(tree, tree.getName().toString(), tree.getType());
                return super.visitVariable(tree, none);
            }

            @Override
            public Void visitTypeParameter(TypeParameterTree tree, Void none) {
                note(tree, tree.getName().toString(), null);
                return super.visitTypeParameter(tree, none);
            }

            /** Notes a definition whose name follows another part of it. */
            private void note(Tree tree, String name, Tree before) {
                Element element = trees.getElement(getCurrentPath());
                long start = positions.getStartPosition(unit.tree, tree);
                long end = positions.getEndPosition(unit.tree, tree);
                long after = before == null ? -1 : positions.getEndPosition(unit.tree, before);
                int at = find(unit.source.text, name, Math.max(start, after), end);
                if (element == null || name.isEmpty() || start < 0 || at < 0) {
                    return; // made by the compiler, or without a name
                }
                long line = unit.tree.getLineMap().getLineNumber(at);
                defined.put(element, new Definition(unit.source.path, line, name, kindOf(element)));
            }
        }.scan(unit.tree, null);
    }

    private static String packageOf(Unit unit) {
        return unit.tree.getPackageName() == null ? "" : unit.tree.getPackageName().toString();
    }

    /** Returns the full names of the types of a file that are in no other type. */
    private static Set<String> typesOf(Unit unit) {
        Set<String> found = new HashSet<>();
        for (Tree tree : unit.tree.getTypeDecls()) {
            if (tree instanceof ClassTree type) {
                found.add(packageOf(unit) + "." + type.getSimpleName());
            }
        }
        return found;
    }

    /** Returns where a word begins in a part of a text, or -1. */
    private static int find(String text, String word, long start, long end) {
        for (int at = text.indexOf(word, (int) Math.max(0, start)); at >= 0 && at < end; at = text.indexOf(word, at + 1)) {
            int after = at + word.length();
            boolean begins = at == 0 || !Character.isJavaIdentifierPart(text.charAt(at - 1));
            if (begins && (after == text.length() || !Character.isJavaIdentifierPart(text.charAt(after)))) {
                return at;
            }
        }
        return -1;
    }

    private String kindOf(Element element) {
        ElementKind kind = element.getKind();
        boolean isFunction = kind == ElementKind.METHOD || kind == ElementKind.CONSTRUCTOR;
        boolean isComponent = isFunction && elements.getOrigin(element) != Elements.Origin.EXPLICIT;
        if (isFunction && !isComponent) {
            return "function";
        }
        return kind.isClass() || kind.isInterface() ? "class" : "value";
    }

    /** Collects the uses of wanted names in a file, in order. */
    private final class Names extends TreePathScanner<Void, Void> {
        private final Unit unit;
        private final Set<String> wanted;
        private final List<Use> uses;
        private final Map<Tree, String> kinds = new IdentityHashMap<>();
        private final Set<String> foreign = new HashSet<>(); // names that are imported from outside

        Names(Unit unit, Set<String> wanted, List<Use> uses) {
            this.unit = unit;
            this.wanted = wanted;
            this.uses = uses;
        }

        @Override
        public Void visitImport(ImportTree tree, Void none) {
            MemberSelectTree selected = (MemberSelectTree) tree.getQualifiedIdentifier();
            String name = selected.getIdentifier().toString();
            if (name.equals("*")) {
                return super.visitImport(tree, none);
            }
            kinds.put(selected, "imports");
            boolean isForeign = !isInside(selected.getExpression().toString());
            if (isForeign) {
                foreign.add(name);
            }
            if (!tree.isStatic()) {
                return super.visitImport(tree, none);
            }
            Element owner = trees.getElement(new TreePath(new TreePath(getCurrentPath(), selected), selected.getExpression()));
            Set<Definition> means = new LinkedHashSet<>();
            boolean isKnown = isForeign;
            if (owner instanceof TypeElement type && type.asType().getKind() != TypeKind.ERROR) {
                for (Element member : elements.getAllMembers(type)) {
                    if (member.getSimpleName().contentEquals(name)) {
                        isKnown = true;
                        addMeaning(means, member);
                    }
                }
            }
            add(selected, name, means, isKnown && means.isEmpty());
            return scan(selected.getExpression(), none);
        }

        @Override
        public Void visitClass(ClassTree tree, Void none) {
            boolean isInterface = tree.getKind() == Tree.Kind.INTERFACE;
            note(tree.getExtendsClause(), "extends");
            tree.getImplementsClause().forEach(one -> note(one, isInterface ? "extends" : "implements"));
            return super.visitClass(tree, none);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree tree, Void none) {
            note(tree.getMethodSelect(), "calls");
            return super.visitMethodInvocation(tree, none);
        }

        @Override
        public Void visitNewClass(NewClassTree tree, Void none) {
            note(tree.getIdentifier(), "calls");
            return super.visitNewClass(tree, none);
        }

        @Override
        public Void visitAnnotation(AnnotationTree tree, Void none) {
            note(tree.getAnnotationType(), "calls");
            return super.visitAnnotation(tree, none);
        }

        @Override
        public Void visitAssignment(AssignmentTree tree, Void none) {
            note(tree.getVariable(), "assigns");
            return super.visitAssignment(tree, none);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void none) {
            addUse(tree, tree.getName().toString(), tree.getName().toString());
            return super.visitIdentifier(tree, none);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void none) {
            String name = tree.getIdentifier().toString();
            addUse(tree, name, "imports".equals(kinds.get(tree)) ? name : root(tree));
            return super.visitMemberSelect(tree, none);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree tree, Void none) {
            addUse(tree, tree.getName().toString(), root(tree.getQualifierExpression()));
            return super.visitMemberReference(tree, none);
        }

        /** The kind of what a tree names, without its type arguments. */
        private void note(Tree tree, String kind) {
            if (tree instanceof ParameterizedTypeTree type) {
                note(type.getType(), kind);
            } else if (tree != null) {
                kinds.put(tree, kind);
            }
        }

        private void addUse(Tree tree, String name, String root) {
            if (!wanted.contains(name)) {
                return;
            }
            Element element = trees.getElement(getCurrentPath());
            boolean isUnknown = element == null || element.asType().getKind() == TypeKind.ERROR;
            Set<Definition> means = new LinkedHashSet<>();
            if (!isUnknown) {
                addMeaning(means, element);
            }
            boolean isOutside = isUnknown ? foreign.contains(root) : means.isEmpty();
            add(tree, name, means, isOutside);
        }

        /** Adds a use, if the file has its name there: the compiler adds types of variables, for example. */
        private void add(Tree tree, String name, Set<Definition> means, boolean isOutside) {
            long end = positions.getEndPosition(unit.tree, tree);
            int at = (int) end - name.length();
            if (at >= 0 && unit.source.text.startsWith(name, at)) {
                long line = unit.tree.getLineMap().getLineNumber(at);
                String kind = kinds.getOrDefault(tree, "references");
                uses.add(new Use(unit.source.path, line, name, kind, means, isOutside));
            }
        }
    }

    private void addMeaning(Set<Definition> means, Element element) {
        Definition found = defined.get(element);
        if (found != null) {
            means.add(found);
        }
    }

    /** Whether a name is a package of the repository, or one of its types, maybe nested. */
    private boolean isInside(String name) {
        if (packages.contains(name)) {
            return true; // a type that is not there may be generated by the build
        }
        String part = name;
        while (!types.contains(part) && part.contains(".")) {
            part = part.substring(0, part.lastIndexOf('.'));
        }
        return types.contains(part);
    }

    /** The leftmost name of `a.b.c`; empty if it begins with anything else. */
    private static String root(Tree tree) {
        Tree first = tree;
        while (first instanceof MemberSelectTree member) {
            first = member.getExpression();
        }
        return first instanceof IdentifierTree name ? name.getName().toString() : "";
    }

    /** By a linear congruential generator (Numerical Recipes), so that a seed gives one order everywhere. */
    private static List<Unit> shuffled(List<Unit> units, int seed) {
        List<Unit> found = new ArrayList<>(units);
        found.sort(Comparator.comparing(unit -> unit.source.path));
        int state = seed;
        for (int last = found.size() - 1; last > 0; last--) {
            state = state * 1664525 + 1013904223;
            int other = Integer.remainderUnsigned(state, last + 1);
            Unit moved = found.set(last, found.get(other));
            found.set(other, moved);
        }
        return found;
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            if (one == '"' || one == '\\') {
                out.append('\\').append(one);
            } else if (one < ' ') {
                out.append(String.format("\\u%04x", (int) one));
            } else {
                out.append(one);
            }
        }
        return out.append('"').toString();
    }
}
