package main

import (
	"encoding/json"
	"fmt"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
	cuejson "cuelang.org/go/encoding/json"
)

const (
	maxRequest = 16 << 20
	maxInput   = 256 << 10
	inputName  = "spec.input" // the input's name in positions, and what paths within it begin with
)

var (
	inputPath   = cue.ParsePath("input")
	contextPath = cue.ParsePath("context")
)

type source struct {
	Files map[string]string `json:"files"`
	Path  string            `json:"path"`
}

type request struct {
	source
	Input    json.RawMessage   `json:"input"`
	Context  map[string]string `json:"context"`
	Policies *source           `json:"policies"`
}

type response struct {
	Nodes       json.RawMessage `json:"nodes,omitempty"`
	Violations  []violation     `json:"violations,omitempty"`
	Overridable []string        `json:"overridable,omitempty"`
	Errors      []problem       `json:"errors,omitempty"`
}

// evaluation is what a module and the platform's policies are both given.
type evaluation struct {
	cue     *cue.Context
	input   cue.Value
	context cue.Value
}

// answer is total: whatever the request holds, it answers.
func answer(text []byte) (out []byte) {
	defer func() {
		if r := recover(); r != nil {
			out = encode(response{Errors: problems("internal", errors.Newf(token.NoPos, "the evaluator panicked: %v", r))})
		}
	}()
	return encode(respond(text))
}

func encode(r response) []byte {
	out, err := json.Marshal(r)
	if err != nil {
		out, _ = json.Marshal(response{Errors: problems("internal", err)})
	}
	return out
}

func respond(text []byte) response {
	var asked request
	if err := json.Unmarshal(text, &asked); err != nil {
		return response{Errors: problems("internal", err)}
	}
	e := evaluation{cue: cuecontext.New()}
	e.context = e.cue.Encode(asked.Context)
	module, failed := e.module(asked)
	if failed != nil {
		return response{Errors: failed}
	}
	nodes, failed := e.nodes(module)
	if failed != nil {
		return response{Errors: failed}
	}
	found, failed := violations(module, "module", "evaluate")
	if failed != nil {
		return response{Errors: failed}
	}
	answered := response{Nodes: nodes, Violations: found}
	if asked.Policies != nil {
		judged, failed := e.judge(*asked.Policies, nodes)
		if failed != nil {
			return response{Errors: failed}
		}
		answered.Violations = append(answered.Violations, judged.Violations...)
		answered.Overridable = judged.Overridable
	}
	return answered
}

// module builds the module with its input and context filled in.
func (e *evaluation) module(asked request) (cue.Value, []problem) {
	var none cue.Value
	value, failed := e.build(asked.source, "load", "evaluate")
	if failed != nil {
		return none, failed
	}
	value = value.FillPath(contextPath, e.context)
	schema := value.LookupPath(cue.ParsePath("#Input"))
	if !schema.Exists() {
		return none, problems("load", errors.Newf(token.NoPos, "the package has no #Input"))
	}
	if failed := e.fit(schema, asked.Input); failed != nil {
		return none, failed
	}
	value = value.FillPath(inputPath, e.input)
	if err := value.Validate(); err != nil {
		return none, problems("evaluate", err)
	}
	return value, nil
}

// fit makes the input what the schema makes of it. Filling it in where the schema is would let pass what a closed one does not have.
func (e *evaluation) fit(schema cue.Value, input json.RawMessage) []problem {
	given, err := e.data(inputName, input, maxInput)
	if err != nil {
		return within(inputName, problems("input", err))
	}
	// Twice: a default that is not decided on would still give way to whatever is unified with it later.
	for range 2 {
		fitting := schema.Unify(given)
		if err := fitting.Validate(cue.Concrete(true), cue.Final()); err != nil {
			return problems("input", err)
		}
		text, err := fitting.MarshalJSON()
		if err != nil {
			return problems("input", err)
		}
		if given, err = e.data(inputName, text, len(text)); err != nil {
			return within(inputName, problems("input", err))
		}
	}
	e.input = given
	return nil
}

// nodes are the graph's, as JSON.
func (e *evaluation) nodes(module cue.Value) (json.RawMessage, []problem) {
	nodes := module.LookupPath(cue.ParsePath("graph.nodes"))
	if !nodes.Exists() {
		return nil, problems("evaluate", errors.Newf(token.NoPos, "the package has no graph: nodes"))
	}
	if err := nodes.Validate(cue.Concrete(true), cue.Final()); err != nil {
		return nil, problems("evaluate", err)
	}
	if _, failed := checked(nodes, nodeSchema, "evaluate"); failed != nil {
		return nil, failed
	}
	text, err := nodes.MarshalJSON()
	if err != nil {
		return nil, problems("evaluate", err)
	}
	return text, nil
}

// judge has the platform's policies look at input, context and graph.
func (e *evaluation) judge(policies source, nodes json.RawMessage) (response, []problem) {
	var none response
	value, failed := e.build(policies, "policy", "policy")
	if failed != nil {
		return none, failed
	}
	graph, err := e.data("graph", []byte(fmt.Sprintf(`{"nodes":%s}`, nodes)), len(nodes)+maxNesting)
	if err != nil {
		return none, problems("policy", err)
	}
	value = value.FillPath(inputPath, e.input).FillPath(contextPath, e.context).FillPath(cue.ParsePath("graph"), graph)
	if err := value.Validate(); err != nil {
		return none, problems("policy", err)
	}
	found, failed := violations(value, "platform", "policy")
	if failed != nil {
		return none, failed
	}
	overridable := value.LookupPath(cue.ParsePath("overridable"))
	if !overridable.Exists() {
		return response{Violations: found}, nil
	}
	var names []string
	if err := overridable.Decode(&names); err != nil {
		return none, problems("policy", err)
	}
	return response{Violations: found, Overridable: names}, nil
}

// build loads a package and evaluates it; each of the two has a code for what is wrong.
func (e *evaluation) build(from source, loading, evaluating string) (cue.Value, []problem) {
	instance, err := loadFiles(from.Files, from.Path)
	if err != nil {
		return cue.Value{}, problems(loading, err)
	}
	value := e.cue.BuildInstance(instance)
	if err := value.Err(); err != nil {
		return cue.Value{}, problems(evaluating, err)
	}
	return value, nil
}

// data is JSON as a value; nothing is an empty map.
func (e *evaluation) data(name string, text json.RawMessage, most int) (cue.Value, error) {
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	if len(text) > most {
		return cue.Value{}, errors.Newf(token.NoPos, "%d bytes, more than %d", len(text), most)
	}
	if nesting(name, string(text)) > maxNesting {
		return cue.Value{}, errors.Newf(token.NoPos, "nests deeper than %d", maxNesting)
	}
	expression, err := cuejson.Extract(name, text)
	if err != nil {
		return cue.Value{}, err
	}
	value := e.cue.BuildExpr(expression)
	return value, value.Err()
}
