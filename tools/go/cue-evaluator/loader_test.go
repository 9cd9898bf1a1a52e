package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
)

const inModule = `module: "example.com/m@v0"
language: version: "v0.17.0"
`

// What both loaders are given: cue/load is what everybody else uses, so it says which files are a package.
var cases = map[string]struct {
	files map[string]string
	path  string
	// Where ours refuses what cue/load takes, on purpose.
	isRefused bool
}{
	"a package of two files": {files: map[string]string{
		"a.cue": "package m\na: b",
		"b.cue": "package m\nb: 1",
	}},
	"files that are none of it": {files: map[string]string{
		"a.cue":       "package m\na: 1",
		"a_test.cue":  "package m\na: 2",
		"a_tool.cue":  "package m\na: 3",
		"_hidden.cue": "package m\na: 4",
		".hidden.cue": "package m\na: 5",
		"noname.cue":  "a: 6",
		"README.md":   "a: 7",
		"data.json":   `{"a": 8}`,
	}},
	"two packages":     {files: map[string]string{"a.cue": "package m", "b.cue": "package n"}},
	"no package":       {files: map[string]string{"README.md": ""}},
	"a broken file":    {files: map[string]string{"a.cue": "package m\na: {", "b.cue": "package m"}},
	"a missing folder": {files: map[string]string{"a.cue": "package m"}, path: "missing"},
	"packages above and within": {path: "a/b", files: map[string]string{
		"top.cue":     "package m\ntop: 1",
		"other.cue":   "package other\ntop: 2",
		"a/mid.cue":   "package m\nmid: top",
		"a/b/low.cue": "package m\nlow: mid",
		"c/x.cue":     "package m\nlow: 2",
	}},
	"a module within another": {path: "in/a", files: map[string]string{
		"top.cue":               "package m\na: 2",
		"in/cue.mod/module.cue": inModule,
		"in/a/a.cue":            "package m\na: 1",
	}},
	"imports": {path: "a", files: map[string]string{
		"a/a.cue": "package a\nimport \"example.com/m/b\"\nimport \"strings\"\nimport x \"example.com/m/c:d\"\nv: strings.ToUpper(b.v) + x.v",
		"b/b.cue": "package b\nimport \"example.com/m/c\"\nv: \"b\" + c.v",
		"c/c.cue": "package c\nv: \"c\"",
		"c/d.cue": "package d\nv: \"d\"",
	}},
	"an import with its version": {path: "a", files: map[string]string{
		"a/a.cue": "package a\nimport \"example.com/m/b@v0\"\nv: b.v",
		"b/b.cue": "package b\nv: 1",
	}},
	"an import of nothing":       {files: map[string]string{"a.cue": "package m\nimport \"example.com/m/none\"\na: none.a"}},
	"an import cycle":            {path: "a", files: map[string]string{"a/a.cue": "package a\nimport \"example.com/m/b\"\na: b.b", "b/b.cue": "package b\nimport \"example.com/m/a\"\nb: a.a"}},
	"an import of its own":       {path: "a", files: map[string]string{"a/a.cue": "package a\nimport \"example.com/m/a\"\nb: a.b"}},
	"a module that is like ours": {files: map[string]string{"a.cue": "package m\nimport \"example.com/modern\"\na: modern.a"}},
	"a tool":                     {isRefused: true, files: map[string]string{"a.cue": "package m\nimport \"tool/exec\"\na: exec.Run"}},
	"a tag":                      {isRefused: true, files: map[string]string{"a.cue": "package m\na: string @tag(a)"}},
	"a file that is ignored":     {isRefused: true, files: map[string]string{"a.cue": "package m\na: 1", "b.cue": "@ignore()\npackage m\na: 2"}},
}

func TestLoadLikeCue(t *testing.T) {
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			if _, ok := one.files["in/cue.mod/module.cue"]; !ok {
				files["cue.mod/module.cue"] = inModule
			}
			for file, text := range one.files {
				files[file] = text
			}
			theirs := theirInstance(t, files, one.path)
			ours, err := loadFiles(files, one.path)
			if one.isRefused {
				if err == nil || theirs.Err != nil {
					t.Fatalf("ours: %v, theirs: %v", err, theirs.Err)
				}
				return
			}
			if (err == nil) != (theirs.Err == nil) {
				t.Fatalf("ours: %v, theirs: %v", err, theirs.Err)
			}
			if err != nil {
				return
			}
			if ours.PkgName != theirs.PkgName || !slices.Equal(names(ours), names(theirs)) {
				t.Errorf("ours: %s %v, theirs: %s %v", ours.PkgName, names(ours), theirs.PkgName, names(theirs))
			}
			if our, their := valueOf(t, ours), valueOf(t, theirs); our != their {
				t.Errorf("ours: %s, theirs: %s", our, their)
			}
		})
	}
}

func theirInstance(t *testing.T, files map[string]string, path string) *build.Instance {
	dir := t.TempDir()
	for file, text := range files {
		at := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CUE_REGISTRY", "none")
	return load.Instances([]string{"."}, &load.Config{Dir: filepath.Join(dir, path)})[0]
}

func names(instance *build.Instance) []string {
	var all []string
	for _, file := range instance.Files {
		all = append(all, filepath.Base(file.Filename))
	}
	slices.Sort(all)
	return all
}

func valueOf(t *testing.T, instance *build.Instance) string {
	value := cuecontext.New().BuildInstance(instance)
	text, err := value.MarshalJSON()
	if err != nil {
		return "no value"
	}
	var fields any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
