// Command resolve prints what the names in a Go repository mean, by go/types: `resolve FOLDER USES_MAX SEED < PATHS`, as
// ../truth.py says. Nothing is downloaded: what the repository depends on is outside of it. Where there are more uses than
// USES_MAX, whole files are drawn at random.
package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

var (
	errOutside = errors.New("outside of the repository")
	moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

type definition struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type use struct {
	Path    string       `json:"path"`
	Line    int          `json:"line"`
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Means   []definition `json:"means"`
	Outside bool         `json:"outside"`
}

type truth struct {
	Resolver string   `json:"resolver"`
	Files    []string `json:"files"`
	Unbuilt  []string `json:"unbuilt"`
	Uses     []use    `json:"uses"`
}

// A module of the repository, and where it is on disk.
type module struct{ name, folder string }

// A resolver checks packages, each once as others import it.
type resolver struct {
	folder   string
	fset     *token.FileSet
	modules  []module
	standard types.Importer
	imported map[string]*types.Package
	parsed   map[string]*ast.File
}

// A checked file with what its names stand for.
type checked struct {
	path string
	file *ast.File
	info *types.Info
}

func main() {
	log.SetFlags(0)
	folder, err := filepath.EvalSymlinks(os.Args[1])
	check(err)
	folder, err = filepath.Abs(folder)
	check(err)
	usesMax, err := strconv.Atoi(os.Args[2])
	check(err)
	seed, err := strconv.ParseInt(os.Args[3], 10, 64)
	check(err)
	fset := token.NewFileSet()
	found := &resolver{
		folder: folder, fset: fset, standard: importer.ForCompiler(fset, "source", nil),
		imported: map[string]*types.Package{}, parsed: map[string]*ast.File{},
	}
	listed := paths()
	files := found.checkAll(found.folders(listed))
	sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
	wanted := wantedNames(files)
	rand.New(rand.NewSource(seed)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	out := truth{Resolver: "go/types of " + runtime.Version(), Unbuilt: unbuilt(listed, files), Uses: []use{}}
	for _, one := range files {
		if len(out.Uses) >= usesMax {
			break
		}
		out.Files = append(out.Files, one.path)
		out.Uses = append(out.Uses, found.uses(one, wanted)...)
	}
	sort.Strings(out.Files)
	check(json.NewEncoder(os.Stdout).Encode(out))
}

func paths() []string {
	listed, err := io.ReadAll(os.Stdin)
	check(err)
	return strings.Split(strings.TrimSpace(string(listed)), "\n")
}

// unbuilt lists what the build of this machine leaves out.
func unbuilt(listed []string, files []checked) []string {
	built := map[string]bool{}
	for _, one := range files {
		built[one.path] = true
	}
	out := []string{}
	for _, name := range listed {
		if !built[name] {
			out = append(out, name)
		}
	}
	return out
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// folders of the given paths, and notes the modules that they are in.
func (r *resolver) folders(paths []string) []string {
	seen := map[string]bool{}
	for _, name := range paths {
		folder := filepath.Dir(filepath.Join(r.folder, filepath.FromSlash(name)))
		if seen[folder] {
			continue
		}
		seen[folder] = true
		for above := folder; len(above) >= len(r.folder); above = filepath.Dir(above) {
			r.noteModule(above)
		}
	}
	folders := make([]string, 0, len(seen))
	for folder := range seen {
		folders = append(folders, folder)
	}
	sort.Strings(folders)
	return folders
}

func (r *resolver) noteModule(folder string) {
	for _, known := range r.modules {
		if known.folder == folder {
			return
		}
	}
	content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if found := moduleLine.FindSubmatch(content); err == nil && found != nil {
		r.modules = append(r.modules, module{string(found[1]), folder})
	}
}

// checkAll checks the package of each folder with its tests, and the package of tests beside it.
func (r *resolver) checkAll(folders []string) []checked {
	var out []checked
	for _, folder := range folders {
		packages := map[string][]*ast.File{}
		for _, name := range goFiles(folder, true) {
			if file := r.parse(name); file != nil {
				packages[file.Name.Name] = append(packages[file.Name.Name], file)
			}
		}
		for _, files := range packages {
			info := r.check(r.pathOf(folder), files)
			for _, file := range files {
				out = append(out, checked{r.relative(r.fset.Position(file.Pos()).Filename), file, info})
			}
		}
	}
	return out
}

// goFiles lists what the build of this machine would take.
func goFiles(folder string, withTests bool) []string {
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	var out []string
	for _, name := range names {
		isBuilt, err := build.Default.MatchFile(folder, filepath.Base(name))
		if err == nil && isBuilt && (withTests || !strings.HasSuffix(name, "_test.go")) {
			out = append(out, name)
		}
	}
	return out
}

func (r *resolver) parse(name string) *ast.File {
	if file, known := r.parsed[name]; known {
		return file
	}
	file, err := parser.ParseFile(r.fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		file = nil
	}
	r.parsed[name] = file
	return file
}

func (r *resolver) check(name string, files []*ast.File) *types.Info {
	info := &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	// Errors are expected: what comes from outside is not there.
	config := types.Config{Importer: r, Error: func(error) {}, FakeImportC: true}
	_, _ = config.Check(name, r.fset, files, info)
	return info
}

// Import gives a package of the repository or of the standard library.
func (r *resolver) Import(name string) (*types.Package, error) {
	if found, known := r.imported[name]; known {
		if found == nil {
			return nil, errOutside
		}
		return found, nil
	}
	r.imported[name] = nil // against cycles
	folder := r.folderOf(name)
	if folder == "" {
		if strings.Contains(strings.Split(name, "/")[0], ".") {
			return nil, errOutside
		}
		found, err := r.standard.Import(name)
		r.imported[name] = found
		return found, err
	}
	var files []*ast.File
	for _, file := range goFiles(folder, false) {
		if parsed := r.parse(file); parsed != nil && parsed.Name.Name != "main" {
			files = append(files, parsed)
		}
	}
	config := types.Config{Importer: r, Error: func(error) {}, FakeImportC: true}
	found, _ := config.Check(name, r.fset, files, nil)
	r.imported[name] = found
	return found, nil
}

func (r *resolver) folderOf(name string) string {
	for _, one := range r.modules {
		if name == one.name || strings.HasPrefix(name, one.name+"/") {
			return filepath.Join(one.folder, filepath.FromSlash(strings.TrimPrefix(name, one.name)))
		}
	}
	return ""
}

func (r *resolver) pathOf(folder string) string {
	best := module{}
	for _, one := range r.modules {
		if strings.HasPrefix(folder+"/", one.folder+"/") && len(one.folder) > len(best.folder) {
			best = one
		}
	}
	return best.name + filepath.ToSlash(strings.TrimPrefix(folder, best.folder))
}

func (r *resolver) relative(name string) string {
	path, err := filepath.Rel(r.folder, name)
	check(err)
	return filepath.ToSlash(path)
}

func wantedNames(files []checked) map[string]bool {
	wanted := map[string]bool{}
	for _, one := range files {
		for name, object := range one.info.Defs {
			if object != nil && kindOf(object) != "value" {
				wanted[name.Name] = true
			}
		}
	}
	return wanted
}

func kindOf(object types.Object) string {
	switch found := object.(type) {
	case *types.Func:
		return "function"
	case *types.TypeName:
		if _, isParameter := found.Type().(*types.TypeParam); !isParameter { // a local name, as in the other languages
			return "class"
		}
	}
	return "value"
}

// Every use of a wanted name in a file, in order.
func (r *resolver) uses(one checked, wanted map[string]bool) []use {
	var out []use
	kinds := usesByKind(one.file)
	outsideOf := outsideSelectors(one.file, one.info, r)
	ast.Inspect(one.file, func(node ast.Node) bool {
		name, isName := node.(*ast.Ident)
		if !isName || !wanted[name.Name] || one.info.Defs[name] != nil {
			return true
		}
		found := use{Path: one.path, Line: r.fset.Position(name.Pos()).Line, Name: name.Name, Kind: "references", Means: []definition{}}
		if kind, known := kinds[name]; known {
			found.Kind = kind
		}
		object := one.info.Uses[name]
		switch {
		case object == nil:
			found.Outside = outsideOf[name]
		case r.isInside(object):
			found.Means = append(found.Means, r.definition(object))
		default:
			found.Outside = true
		}
		out = append(out, found)
		return true
	})
	return out
}

func (r *resolver) isInside(object types.Object) bool {
	if !object.Pos().IsValid() {
		return false
	}
	return strings.HasPrefix(r.fset.Position(object.Pos()).Filename, r.folder+string(filepath.Separator))
}

func (r *resolver) definition(object types.Object) definition {
	place := r.fset.Position(object.Pos())
	return definition{r.relative(place.Filename), place.Line, object.Name(), kindOf(object)}
}

// Names that are called, or that a struct or an interface embeds.
func usesByKind(file *ast.File) map[*ast.Ident]string {
	kinds := map[*ast.Ident]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch found := node.(type) {
		case *ast.CallExpr:
			note(kinds, found.Fun, "calls")
		case *ast.StructType:
			noteEmbedded(kinds, found.Fields)
		case *ast.InterfaceType:
			noteEmbedded(kinds, found.Methods)
		}
		return true
	})
	return kinds
}

func noteEmbedded(kinds map[*ast.Ident]string, fields *ast.FieldList) {
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			note(kinds, field.Type, "extends")
		}
	}
}

func note(kinds map[*ast.Ident]string, expression ast.Expr, kind string) {
	switch found := expression.(type) {
	case *ast.Ident:
		kinds[found] = kind
	case *ast.SelectorExpr:
		kinds[found.Sel] = kind
	case *ast.IndexExpr:
		note(kinds, found.X, kind)
	case *ast.ParenExpr:
		note(kinds, found.X, kind)
	case *ast.StarExpr:
		note(kinds, found.X, kind)
	}
}

// What is selected from a package that is outside of the repository, and so not known.
func outsideSelectors(file *ast.File, info *types.Info, r *resolver) map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, isSelector := node.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		if name, isName := selector.X.(*ast.Ident); isName {
			if imported, isPackage := info.Uses[name].(*types.PkgName); isPackage {
				out[selector.Sel] = r.folderOf(imported.Imported().Path()) == ""
			}
		}
		return true
	})
	return out
}
