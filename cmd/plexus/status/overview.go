package status

import (
	"time"

	"plexus/web"
)

// Overview is the report as the owner's page shows it. Who waits, who was refused and
// what else the page knows of itself it adds.
func (r Report) Overview() web.Overview {
	o := web.Overview{
		Version: r.Version, Started: r.StartedAt, DataDir: r.DataDir, DatabaseBytes: r.DatabaseBytes,
		Search: r.Search.view(""), Model: r.Model.view(r.Model.Name),
		Recognizer: r.Recognizer.view(r.Recognizer.Name), DictationConfig: r.Recognizer.Config,
		Index:      web.Index{Enabled: r.Index.Enabled, Pages: r.Index.Pages, Bytes: r.Index.Bytes},
		Extensions: r.Connections,
		Answered:   r.Queries.Answered, Cancelled: r.Queries.Cancelled, Refused: r.Queries.Refused,
		FirstResult: r.Queries.FirstResult.view(), Answer: r.Queries.Answer.view(),
	}
	for _, f := range r.Model.Found {
		if !f.Used {
			o.Found = append(o.Found, web.FoundModel{Name: f.Name, BaseURL: f.BaseURL, Server: f.Server})
		}
	}
	return o
}

func (s Service) view(name string) web.Service {
	v := web.Service{
		Kind: s.Kind, Name: name, URL: s.URL, Reach: web.Reach(s.Reach), Problem: s.Problem,
		Failures: s.Failures.Count, LastCause: s.Cause,
	}
	if s.Last != nil {
		v.LastFailure = *s.Last
	}
	return v
}

func (l Latency) view() web.Latency {
	duration := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return web.Latency{Count: l.Count, P50: duration(l.P50), P99: duration(l.P99), Recent: l.Recent}
}
