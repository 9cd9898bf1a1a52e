// A small promtool. It checks rules, and tests that alerts fire when, and with what, a test says: `check rules FILE…` and
// `test rules FILE…`, with the arguments and the files (tests as JSON) of Prometheus's promtool, which may stand in for it.
//
// The syntax of rules, PromQL, the notation of series and the templates are Prometheus's own code. What is ours is when an
// alert is pending and when it fires: Prometheus's own needs a third of all of Prometheus, and minutes to compile.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// testFile is https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules, as far as it is needed.
type testFile struct {
	RuleFiles          []string       `json:"rule_files"`
	EvaluationInterval model.Duration `json:"evaluation_interval"`
	Tests              []test         `json:"tests"`
}

type test struct {
	Name        string         `json:"name"`
	Interval    model.Duration `json:"interval"`
	InputSeries []inputSeries  `json:"input_series"`
	Moments     []moment       `json:"alert_rule_test"`
}

type inputSeries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// moment is what fires under a name at a time, and nothing else does.
type moment struct {
	At       model.Duration `json:"eval_time"`
	Name     string         `json:"alertname"`
	Expected []struct {
		Labels      map[string]string `json:"exp_labels"`
		Annotations map[string]string `json:"exp_annotations"`
	} `json:"exp_alerts"`
}

var promQL = parser.NewParser(parser.Options{})

func main() {
	if len(os.Args) < 4 || os.Args[2] != "rules" || (os.Args[1] != "check" && os.Args[1] != "test") {
		fmt.Fprintln(os.Stderr, "promtool check rules [--lint=all] FILE…, or promtool test rules FILE…")
		os.Exit(2)
	}
	failed := false
	for _, file := range os.Args[3:] {
		if file == "--lint=all" { // is what check does
			continue
		}
		said, err := run(os.Args[1], file)
		if err != nil {
			fmt.Printf("%s\n  FAILED:\n%v\n", file, err)
			failed = true
			continue
		}
		fmt.Printf("%s\n  SUCCESS%s\n", file, said)
	}
	if failed {
		os.Exit(1)
	}
}

func run(command, file string) (string, error) {
	if command == "test" {
		return "", testRules(file)
	}
	rules, err := readRules(file)
	return fmt.Sprintf(": %d rules found", len(rules)), err
}

// readRules reads a file of alerting rules; it refuses what Prometheus would, and what is not done here.
func readRules(file string) ([]rulefmt.Rule, error) {
	parsed, mistakes := rulefmt.ParseFile(file, false, model.UTF8Validation, promQL)
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	var rules []rulefmt.Rule
	seen := map[string]bool{}
	for _, group := range parsed.Groups {
		if group.QueryOffset != nil || group.Limit != 0 || len(group.Labels) > 0 {
			return nil, fmt.Errorf("group %s: query_offset, limit and labels are not supported", group.Name)
		}
		for _, rule := range group.Rules {
			if rule.Record != "" || rule.KeepFiringFor != 0 {
				return nil, fmt.Errorf("group %s: record and keep_firing_for are not supported", group.Name)
			}
			name := rule.Alert + labels.FromMap(rule.Labels).String()
			if seen[name] {
				return nil, fmt.Errorf("%s is there twice", name)
			}
			seen[name] = true
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

func testRules(file string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	decoder := json.NewDecoder(content)
	decoder.DisallowUnknownFields()
	var read testFile
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	if read.EvaluationInterval <= 0 {
		return errors.New("no evaluation_interval")
	}
	var rules []rulefmt.Rule
	for _, name := range read.RuleFiles {
		found, err := readRules(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return err
		}
		rules = append(rules, found...)
	}
	var failures []error
	for _, test := range read.Tests {
		if err := test.run(rules, time.Duration(read.EvaluationInterval)); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", test.Name, err))
		}
	}
	return errors.Join(failures...)
}

// run evaluates all rules again and again, and compares what fires at the last evaluation before, or at, each moment.
func (t test) run(rules []rulefmt.Rule, interval time.Duration) error {
	query, err := queryOf(t.InputSeries, time.Duration(t.Interval), interval)
	if err != nil {
		return err
	}
	alerts := make([]alert, len(rules))
	for i, rule := range rules {
		alerts[i].Rule = rule
	}
	moments := slices.SortedFunc(slices.Values(t.Moments), func(a, b moment) int { return int(a.At - b.At) })
	var failures []error
	for at := time.Duration(0); len(moments) > 0; at += interval {
		for i := range alerts {
			if err := alerts[i].evaluate(query, time.UnixMilli(at.Milliseconds())); err != nil {
				return err
			}
		}
		for ; len(moments) > 0 && time.Duration(moments[0].At) < at+interval; moments = moments[1:] {
			if err := moments[0].compare(alerts); err != nil {
				failures = append(failures, err)
			}
		}
	}
	return errors.Join(failures...)
}

func (m moment) compare(alerts []alert) error {
	var expected, found []string
	for _, one := range m.Expected {
		named := labels.NewBuilder(labels.FromMap(one.Labels)).Set(labels.AlertName, m.Name).Labels()
		expected = append(expected, said(named, labels.FromMap(one.Annotations)))
	}
	for _, one := range alerts {
		if one.Alert == m.Name {
			found = append(found, one.firing...)
		}
	}
	slices.Sort(expected)
	slices.Sort(found)
	if slices.Equal(expected, found) {
		return nil
	}
	list := func(alerts []string) string { return "[" + strings.Join(alerts, "\n         ") + "]" }
	return fmt.Errorf("alertname: %s, time: %s\n    exp: %s\n    got: %s", m.Name, m.At, list(expected), list(found))
}
