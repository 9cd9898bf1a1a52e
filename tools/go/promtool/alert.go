package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/annotations"
)

// Rules use these without declaring them.
const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// alert is a rule, since when each of its label sets is active, and what fires since the last evaluation.
type alert struct {
	rulefmt.Rule
	active map[string]time.Time
	firing []string
}

// evaluate does what Prometheus does at one time: what the expression gives is active from the first evaluation that
// gives it to the first that does not, and fires when it is active for as long as the rule says.
func (a *alert) evaluate(query template.QueryFunc, now time.Time) error {
	found, err := query(context.Background(), a.Expr, now)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Alert, err)
	}
	before := a.active
	a.active, a.firing = map[string]time.Time{}, nil
	for _, sample := range found {
		set, notes, err := a.expand(query, now, sample)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Alert, err)
		}
		key := set.String()
		if _, isThere := a.active[key]; isThere {
			return fmt.Errorf("%s: the expression gives %s twice", a.Alert, key)
		}
		since, isOld := before[key]
		if !isOld {
			since = now
		}
		a.active[key] = since
		if now.Sub(since) >= time.Duration(a.For) {
			a.firing = append(a.firing, said(set, notes))
		}
	}
	return nil
}

// expand gives the labels and the annotations of an alert.
func (a *alert) expand(query template.QueryFunc, now time.Time, sample promql.Sample) (labels.Labels, labels.Labels, error) {
	set, notes := labels.NewBuilder(sample.Metric), labels.NewBuilder(labels.EmptyLabels())
	set.Del(labels.MetricName)
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	fill := func(into *labels.Builder, texts map[string]string) error {
		for name, text := range texts {
			at := model.Time(timestamp.FromTime(now))
			value, err := template.NewTemplateExpander(context.Background(), variables+text, a.Alert, data, at, query, nil, nil).Expand()
			if err != nil {
				return err
			}
			into.Set(name, value)
		}
		return nil
	}
	if err := fill(set, a.Labels); err != nil {
		return set.Labels(), notes.Labels(), err
	}
	set.Set(labels.AlertName, a.Alert)
	err := fill(notes, a.Annotations)
	return set.Labels(), notes.Labels(), err
}

func said(set, notes labels.Labels) string {
	return set.String() + " " + notes.String()
}

// queryOf gives a PromQL engine on series that were scraped every so often from the epoch on.
func queryOf(given []inputSeries, scraped, evaluated time.Duration) (template.QueryFunc, error) {
	stored := make([]promql.Series, len(given))
	for i, one := range given {
		metric, values, err := promQL.ParseSeriesDesc(one.Series + " " + one.Values)
		if err != nil {
			return nil, err
		}
		stored[i].Metric = metric
		for scrape, value := range values {
			if value.Histogram != nil {
				return nil, fmt.Errorf("%s: native histograms are not supported", one.Series)
			}
			if !value.Omitted {
				at := int64(scrape) * scraped.Milliseconds()
				stored[i].Floats = append(stored[i].Floats, promql.FPoint{T: at, F: value.Value})
			}
		}
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples:               100_000,
		Timeout:                  time.Minute,
		NoStepSubqueryIntervalFn: func(int64) int64 { return evaluated.Milliseconds() },
	})
	queryable := storage.QueryableFunc(func(int64, int64) (storage.Querier, error) {
		return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return matching(stored, matchers)
		}}, nil
	})
	return func(ctx context.Context, text string, at time.Time) (promql.Vector, error) {
		query, err := engine.NewInstantQuery(ctx, queryable, nil, text, at)
		if err != nil {
			return nil, err
		}
		defer query.Close()
		result := query.Exec(ctx)
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Vector()
	}, nil
}

// found is a storage.SeriesSet.
type found struct {
	rest    []promql.Series
	current promql.Series
}

func matching(stored []promql.Series, matchers []*labels.Matcher) *found {
	var set found
	for _, series := range stored {
		if labels.Selector(matchers).Matches(series.Metric) {
			set.rest = append(set.rest, series)
		}
	}
	return &set
}

func (f *found) Next() bool {
	if len(f.rest) == 0 {
		return false
	}
	f.current, f.rest = f.rest[0], f.rest[1:]
	return true
}

func (f *found) At() storage.Series { return promql.NewStorageSeries(f.current) }

func (f *found) Err() error { return nil }

func (f *found) Warnings() annotations.Annotations { return nil }
