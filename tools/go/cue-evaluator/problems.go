package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue/errors"
)

const (
	maxProblems = 50
	maxMessage  = 1000
)

type problem struct {
	Code     string `json:"code"`
	Path     string `json:"path"`
	Message  string `json:"message"`
	Position string `json:"position,omitempty"`
}

// problems tells an error of CUE's: one for each field, or each place where no field is at fault; by path, and the first few of very
// many.
func problems(code string, err error) []problem {
	byPlace := map[string][]problem{}
	for _, one := range errors.Errors(errors.Sanitize(errors.Promote(err, ""))) {
		next := problem{code, pathOf(one.Path()), message(one), position(one)}
		place := next.Path
		if place == "" {
			place = " " + next.Position
		}
		byPlace[place] = append(byPlace[place], next)
	}
	var told []problem
	for _, place := range slices.Sorted(maps.Keys(byPlace)) {
		// What CUE says of a whole disjunction it says again, better, of the fields within.
		if one := merged(byPlace[place]); !isHeadline(one) || len(byPlace) == 1 {
			told = append(told, one)
		}
	}
	if len(told) == 0 { // an error is never nothing
		told = []problem{{Code: code, Message: clip(err.Error())}}
	}
	return told[:min(len(told), maxProblems)]
}

// within puts a path before those of problems.
func within(path string, all []problem) []problem {
	for at := range all {
		all[at].Path = strings.TrimSuffix(path+"."+all[at].Path, ".")
	}
	return all
}

// merged makes one problem of those of one field: of a disjunction CUE tells what is wrong with each of its branches. Where one of
// them is a bound that is exceeded, that is the news: the others are the default, which nobody asked for.
func merged(all []problem) problem {
	chosen := all
	for _, isNews := range []func(problem) bool{isBound, func(one problem) bool { return !isHeadline(one) }} {
		if some := keep(all, isNews); len(some) > 0 {
			chosen = some
			break
		}
	}
	one := problem{Code: all[0].Code, Path: all[0].Path}
	var messages []string
	for at, other := range chosen {
		if isRepeated(other, chosen[at+1:]) {
			continue
		}
		messages = append(messages, other.Message)
		if one.Position == "" {
			one.Position = other.Position
		}
	}
	one.Message = clip(strings.Join(messages, "; "))
	return one
}

func keep(all []problem, is func(problem) bool) []problem {
	var some []problem
	for _, one := range all {
		if is(one) {
			some = append(some, one)
		}
	}
	return some
}

// mismatch is how CUE ends where the types differ: it says so for a default, too, and for the type itself last.
var mismatch = regexp.MustCompile(`\(mismatched types .*\)$`)

func isRepeated(one problem, later []problem) bool {
	types := mismatch.FindString(one.Message)
	return slices.ContainsFunc(later, func(other problem) bool {
		return other.Message == one.Message || types != "" && mismatch.FindString(other.Message) == types
	})
}

func isBound(one problem) bool { return strings.Contains(one.Message, "out of bound") }
func isHeadline(one problem) bool {
	return strings.HasSuffix(one.Message, "errors in empty disjunction:")
}

var (
	index      = regexp.MustCompile(`^[0-9]+$`)
	identifier = regexp.MustCompile(`^[#_]*[A-Za-z_$][A-Za-z0-9_$]*$`)
)

// pathOf writes a path as Kubernetes writes fields: spec.input.ports[0], spec.input.env[a-b].
func pathOf(segments []string) string {
	var path strings.Builder
	for at, segment := range segments {
		switch {
		case at == 0 && segment == "#Input":
			path.WriteString(inputName)
		case index.MatchString(segment) || !identifier.MatchString(segment):
			fmt.Fprintf(&path, "[%s]", strings.Trim(segment, `"`))
		case at > 0:
			path.WriteString("." + segment)
		default:
			path.WriteString(segment)
		}
	}
	return path.String()
}

// position is the first place in a file of the module; that the input and the graph have one too, as JSON, helps nobody.
func position(err errors.Error) string {
	for _, at := range errors.Positions(err) {
		if isSource(at.Filename()) {
			return fmt.Sprintf("%s:%d:%d", at.Filename(), at.Line(), at.Column())
		}
	}
	return ""
}

// message tells an error with its causes, without its path and positions.
func message(err error) string {
	told, ok := err.(errors.Error)
	if !ok {
		return err.Error()
	}
	format, args := told.Msg()
	text := fmt.Sprintf(format, args...)
	if cause := errors.Unwrap(err); cause != nil {
		if more := message(cause); more != "" && more != text {
			return strings.TrimPrefix(text+": "+more, ": ")
		}
	}
	return text
}

func clip(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
