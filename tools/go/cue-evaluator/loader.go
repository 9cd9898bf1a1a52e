package main

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"
)

const (
	maxSources = 100
	maxSource  = 1 << 20
	manifest   = "cue.mod/module.cue"
)

// loader finds packages among the given files and nowhere else. cue/load would do the same and more: it knows a registry, the
// host's files, tags and embedded files.
type loader struct {
	files   map[string]string
	root    string // the folder with the manifest, at or above the package; empty without one
	module  string // what the manifest calls the module, without the major version
	parsing parser.Config
	context *build.Context
	loading []string // folders under way, to find import cycles
}

// loadFiles loads the package of a folder with all that it imports.
func loadFiles(files map[string]string, folder string) (*build.Instance, errors.Error) {
	if err := checkSize(files); err != nil {
		return nil, err
	}
	dir := path.Clean("./" + folder)
	l := &loader{files: files, parsing: parser.NewConfig(), context: build.NewContext()}
	if err := l.readManifest(dir); err != nil {
		return nil, err
	}
	instance := l.instance(dir, "", token.NoPos)
	return instance, instance.Err
}

func checkSize(files map[string]string) errors.Error {
	if len(files) > maxSources {
		return errors.Newf(token.NoPos, "%d files, more than %d", len(files), maxSources)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		total += len(text)
		switch {
		case total > maxSource:
			return errors.Newf(token.NoPos, "more than %d bytes", maxSource)
		case !fs.ValidPath(name) || name == ".":
			return errors.Newf(token.NoPos, "%q is no path of a file in a module", name)
		case isSource(name) && nesting(name, text) > maxNesting:
			return errors.Newf(token.NoPos, "%s nests deeper than %d", name, maxNesting)
		}
	}
	return nil
}

// readManifest reads the nearest manifest above the package: imports are of the module that it names.
func (l *loader) readManifest(dir string) errors.Error {
	for at := dir; ; at = path.Dir(at) {
		name := path.Join(at, manifest)
		if text, ok := l.files[name]; ok {
			mod, err := modfile.Parse([]byte(text), name)
			if err != nil {
				return errors.Promote(err, name)
			}
			if len(mod.Deps) > 0 {
				return errors.Newf(token.NoPos, "%s: a module has no dependencies here", name)
			}
			l.root = at
			l.module = ast.ParseImportPath(mod.QualifiedModule()).Path
			l.parsing = l.parsing.Apply(parser.Version(mod.Language.Version))
			return nil
		}
		if at == "." {
			return nil
		}
	}
}

// instance loads the package of a folder and, as CUE does, the files of the same package in the folders above it.
func (l *loader) instance(dir, pkg string, pos token.Pos) *build.Instance {
	inst := l.context.NewInstance(dir, l.importPackage)
	if slices.Contains(l.loading, dir) {
		inst.Err = errors.Newf(pos, "import cycle: %s", strings.Join(append(l.loading, dir), " -> "))
		return inst
	}
	l.loading = append(l.loading, dir)
	defer func() { l.loading = l.loading[:len(l.loading)-1] }()

	own, err := l.parseFolder(dir)
	if err != nil {
		inst.Err = err
		return inst
	}
	pkg, chosen, err := choosePackage(dir, pkg, own, pos)
	if err != nil {
		inst.Err = err
		return inst
	}
	above, err := l.filesAbove(dir, pkg)
	if err != nil {
		inst.Err = err
		return inst
	}
	for _, file := range append(chosen, above...) {
		if err := inst.AddSyntax(file); err != nil {
			inst.Err = errors.Append(inst.Err, err)
			return inst
		}
	}
	inst.Complete()
	return inst
}

// choosePackage picks the files of the package that is asked for; of the only one in the folder where none is. Files that name
// no package are one by themselves, as long as no other does.
func choosePackage(dir, asked string, files []*ast.File, pos token.Pos) (string, []*ast.File, errors.Error) {
	byName := map[string][]*ast.File{}
	for _, file := range files {
		byName[file.PackageName()] = append(byName[file.PackageName()], file)
	}
	nameless := byName[""]
	delete(byName, "")
	names := slices.Sorted(maps.Keys(byName))
	switch {
	case asked != "" && byName[asked] != nil:
		return asked, byName[asked], nil
	case asked == "" && len(names) == 1:
		return names[0], byName[names[0]], nil
	case asked == "" && len(names) > 1:
		return "", nil, errors.Newf(pos, "more than one package in %s: %s", dir, strings.Join(names, ", "))
	case asked == "" && nameless != nil:
		return "", nameless, nil
	}
	return "", nil, errors.Newf(pos, "no CUE package %s in %s", asked, dir)
}

func (l *loader) filesAbove(dir, pkg string) ([]*ast.File, errors.Error) {
	var found []*ast.File
	for pkg != "" && l.root != "" && dir != l.root {
		dir = path.Dir(dir)
		files, err := l.parseFolder(dir)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if file.PackageName() == pkg {
				found = append(found, file)
			}
		}
	}
	return found, nil
}

func (l *loader) parseFolder(dir string) ([]*ast.File, errors.Error) {
	var files []*ast.File
	var failed errors.Error
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if path.Dir(name) != dir || !isSource(name) {
			continue
		}
		file, err := l.parse(name)
		if err != nil {
			failed = errors.Append(failed, err)
			continue
		}
		files = append(files, file)
	}
	return files, failed
}

func isSource(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".cue") && !strings.HasSuffix(base, "_tool.cue") && !strings.HasSuffix(base, "_test.cue") &&
		!strings.HasPrefix(base, ".") && !strings.HasPrefix(base, "_")
}

// importPackage answers nil for CUE's own packages, which the evaluator resolves.
func (l *loader) importPackage(pos token.Pos, spec string) *build.Instance {
	parts := ast.ParseImportPath(spec)
	first, _, _ := strings.Cut(parts.Path, "/")
	if !strings.Contains(first, ".") {
		return nil
	}
	dir, inside := strings.CutPrefix(parts.Path+"/", l.module+"/")
	if l.module == "" || !inside {
		return &build.Instance{Err: errors.Newf(pos, "%q is not of this module: it may import its own packages alone", spec)}
	}
	return l.instance(path.Join(l.root, dir), parts.Qualifier, pos)
}

// parse refuses what would reach outside of the files, before anything is evaluated.
func (l *loader) parse(name string) (*ast.File, errors.Error) {
	file, err := parser.ParseFile(name, l.files[name], l.parsing)
	if err != nil {
		return nil, errors.Promote(err, name)
	}
	var refused errors.Error
	for spec := range file.ImportSpecs() {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && (p == "tool" || strings.HasPrefix(p, "tool/")) {
			refused = errors.Append(refused, errors.Newf(spec.Pos(), "%q may not be imported", p))
		}
	}
	ast.Walk(file, func(n ast.Node) bool {
		if a, ok := n.(*ast.Attribute); ok {
			switch key, _ := a.Split(); key {
			case "tag", "if", "ignore", "embed", "extern":
				refused = errors.Append(refused, errors.Newf(a.Pos(), "the attribute @%s has no place in a module", key))
			}
		}
		return true
	}, nil)
	return file, refused
}
