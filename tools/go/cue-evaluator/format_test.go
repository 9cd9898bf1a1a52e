package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"cuelang.org/go/cue/format"
)

// TestFormat has the modules that ship laid out as `cue fmt` does.
func TestFormat(t *testing.T) {
	root := "../../../assets/graph"
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".cue" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := format.Source(text)
		if err != nil {
			return err
		}
		if os.Getenv("CUE_FORMAT") == "write" {
			return os.WriteFile(path, want, 0o644)
		}
		if string(want) != string(text) {
			t.Errorf("%s is laid out otherwise: CUE_FORMAT=write go test -run TestFormat writes it", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
