package main

import "cuelang.org/go/cue"

type violation struct {
	Name     string `json:"name"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Message  string `json:"message"`
	Source   string `json:"source"`
}

// violationSchema is what each of `policies` has to be.
const violationSchema = `close({
	name:     =~"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
	severity: "Error" | "Warning" | "Info"
	path:     string | *""
	message:  !=""
})`

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
	items, err := policies.List()
	if err != nil {
		return nil, problems(code, err)
	}
	schema := value.Context().CompileString(violationSchema)
	var found []violation
	for items.Next() {
		item := items.Value()
		checked := schema.Unify(item)
		one := violation{Source: source}
		err := checked.Validate(cue.Concrete(true), cue.Final())
		if err == nil {
			err = checked.Decode(&one)
		}
		if err != nil {
			return nil, within(item.Path().String(), problems(code, err))
		}
		found = append(found, one)
	}
	return found, nil
}
