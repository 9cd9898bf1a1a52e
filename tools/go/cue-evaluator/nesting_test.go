package main

import (
	"strings"
	"testing"
)

func TestNesting(t *testing.T) {
	for text, want := range map[string]int{
		"":                                0,
		"a: 1":                            0,
		"a: {b: [(1)]}":                   3,
		"a: {}, b: {}":                    1,
		"a: -1 - -1":                      2,
		`a: "((((" // [[[[`:               0,
		`a: "\(b)" + "\([c]) and \({d})"`: 2,
		`a: "\("\("\(b)")")"`:             3,
		"a: \"\"\"\n\t\\(b) ((\n\t\"\"\"": 1,
		`a: #"\(( \#(b)"#`:                1,
		`{"a": "=====", "b": ["}}"]}`:     2,
		"a: \"\\(b":                       1,
		"}}}} {":                          0,
		strings.Repeat("[", 999):          999,
	} {
		if got := nesting("m.cue", text); got != want {
			t.Errorf("%q nests %d deep, not %d", text, got, want)
		}
	}
}
