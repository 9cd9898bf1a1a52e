package main

import (
	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
)

// nodeSchema is what whoever looks at nodes takes for granted: the platform's policies, and what lays them out as a graph.
const nodeSchema = `{
	id!: !=""
	object!: {
		apiVersion!: !=""
		kind!:       !=""
		metadata!: {
			name!: !=""
			...
		}
		...
	}
	...
}`

// violationSchema is what each of `policies` has to be.
const violationSchema = `close({
	name!:     =~"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
	severity!: "Error" | "Warning" | "Info"
	path:      string | *""
	message!:  !=""
})`

type violation struct {
	Name     string `json:"name"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Message  string `json:"message"`
	Source   string `json:"source"`
}

// violations are what stands in `policies` of a package when all is evaluated. A policy that cannot be decided is a problem: it must
// not pass for one that is kept.
func violations(value cue.Value, source, code string) ([]violation, []problem) {
	policies := value.LookupPath(cue.ParsePath("policies"))
	if !policies.Exists() {
		return nil, nil
	}
	if err := policies.Validate(cue.Concrete(true)); err != nil {
		return nil, problems(code, err)
	}
	items, failed := checked(policies, violationSchema, code)
	if failed != nil {
		return nil, failed
	}
	found := make([]violation, len(items))
	for at, item := range items {
		if err := item.Decode(&found[at]); err != nil {
			return nil, problems(code, err)
		}
		found[at].Path, found[at].Message = clip(found[at].Path), clip(found[at].Message)
		found[at].Source = source
	}
	return found, nil
}

// checked are the items of a list, each unified with what it has to be.
func checked(list cue.Value, schema, code string) ([]cue.Value, []problem) {
	if list.IncompleteKind() != cue.ListKind {
		return nil, within(list.Path().String(), problems(code, errors.Newf(list.Pos(), "is no list")))
	}
	items, err := list.List()
	if err != nil {
		return nil, problems(code, err)
	}
	needed := list.Context().CompileString(schema)
	var found []cue.Value
	for items.Next() {
		item := needed.Unify(items.Value())
		if err := item.Validate(cue.Concrete(true), cue.Final()); err != nil {
			return nil, within(items.Value().Path().String(), problems(code, err))
		}
		found = append(found, item)
	}
	return found, nil
}
