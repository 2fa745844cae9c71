// Package status gathers what a host knows of itself, once, and renders it for a
// terminal, for programs and for the owner's page.
package status

import (
	"time"

	"plexus/adapters/adminapi"
	"plexus/web"
)

// Report is what is configured and reachable, who is connected, and who waits to be let in.
type Report struct {
	Version       string               `json:"version"`
	PID           int                  `json:"pid"`
	StartedAt     time.Time            `json:"started_at"`
	UptimeSeconds int64                `json:"uptime_seconds"`
	DataDir       string               `json:"data_dir"`
	DatabaseBytes int64                `json:"database_bytes"`  // with its write-ahead log
	WALBytes      int64                `json:"wal_bytes"`       // of the write-ahead log alone; it grows while a reader never ends
	Admin         string               `json:"admin,omitempty"` // address of the owner's page
	Nerve         Nerve                `json:"nerve"`
	Phones        Phones               `json:"phones"`
	Search        Service              `json:"search"`
	Model         Model                `json:"model"`
	Recognizer    Recognizer           `json:"recognizer"`
	Index         Index                `json:"index"`
	Kept          Kept                 `json:"conversations"`
	DiskFull      *DiskFull            `json:"disk_full,omitempty"`
	Connections   int                  `json:"connections"` // live NERVE connections
	Queries       Queries              `json:"queries"`
	Waiting       []adminapi.Extension `json:"waiting"` // extensions that wait to be allowed
	Refused       []Refusal            `json:"refused"` // newest first
}

// Kept says what of conversations is stored.
type Kept struct {
	Conversations int   `json:"conversations"`
	Topics        int   `json:"topics"` // of them
	Messages      int   `json:"messages"`
	Bytes         int64 `json:"bytes"`          // of the messages' texts
	Browser       bool  `json:"record_browser"` // questions of the browser become topics
}

// DiskFull says that there was no room on the disk when something was last to be stored:
// until there is, texts and changes are refused.
type DiskFull struct {
	Unstored int       `json:"unstored"` // texts and changes since then
	Last     time.Time `json:"last"`
}

// Nerve are the open NERVE listeners.
type Nerve struct {
	Address string `json:"address,omitempty"` // 127.0.0.1:9001
	Socket  string `json:"socket,omitempty"`  // path
	Token   string `json:"token_file"`        // path of the file, never its content
}

// Phones is the listener for phones and who is paired.
type Phones struct {
	Address    string   `json:"address,omitempty"`          // 127.0.0.1:18787
	PublicURL  string   `json:"public_url,omitempty"`       // by which phones reach it; none: not set
	Fixed      bool     `json:"public_url_fixed,omitempty"` // by a flag, the environment or the file
	Accepted   []string `json:"accepted_hosts"`             // names by which clients may come, the public URL's included
	Paired     int      `json:"paired"`
	Connected  int      `json:"connected"`  // now
	Invitation bool     `json:"invitation"` // one is open
	NoPhone    bool     `json:"no_phone"`   // the owner wants none for now

	InvitationTo string `json:"invitation_to,omitempty"` // address in the open one's code
}

// Reach says what became of a try to reach a service just now.
type Reach string

// The values of Reach.
const (
	Off         Reach = "off"     // switched off
	BuiltIn     Reach = "builtin" // part of the host
	Reachable   Reach = "reachable"
	Unreachable Reach = "unreachable"
	NotFound    Reach = "not_found" // looked for, and none runs on this machine
)

// Service is one thing the host may call out to.
type Service struct {
	Kind    string `json:"kind"`          // as in the configuration
	URL     string `json:"url,omitempty"` // as in the configuration
	Reach   Reach  `json:"reach"`
	Problem string `json:"problem,omitempty"` // why it is unreachable, or may fail although it answers; without key or question
	Failures
}

// Failures are what went wrong since the start.
type Failures struct {
	Count int64      `json:"failures"`
	Last  *time.Time `json:"last_failure,omitempty"`
	Cause string     `json:"last_cause,omitempty"` // of the last one
}

// Model is the model in use and the ones that were found on this machine.
type Model struct {
	Service
	Name       string        `json:"name,omitempty"`
	Found      []FoundModel  `json:"found,omitempty"`
	PassedOver []PassedModel `json:"passed_over,omitempty"`
}

// PassedModel is a model of this machine that does not chat.
type PassedModel struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	Cause  string `json:"cause"` // as its server has said
}

// Recognizer is what turns speech into text, and what phones are offered with it
// and the model.
type Recognizer struct {
	Service
	Name      string `json:"name,omitempty"`
	TextInput bool   `json:"text_input"`
	Dictation bool   `json:"dictation"`
	Config    string `json:"config,omitempty"` // the lines of the configuration file that switch dictation on, where text alone is offered
}

// FoundModel is a model that runs on this machine.
type FoundModel struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url"`
	Server  string `json:"server"`
	Used    bool   `json:"used"`
	Config  string `json:"config"` // the lines of the configuration file that take it
}

// Index says whether pages are remembered, and how many are.
type Index struct {
	Enabled  bool  `json:"enabled"`
	Shared   bool  `json:"shared"`
	Pages    int   `json:"pages"`
	Bytes    int64 `json:"bytes"` // of their texts
	Failures       // of keeping pages and answers
}

// Queries counts the work since the start.
type Queries struct {
	Answered    int64   `json:"answered"`
	Canceled    int64   `json:"cancelled"`
	Refused     int64   `json:"refused"`
	FirstResult Latency `json:"first_result"` // from the query to its results
	Answer      Latency `json:"answer"`       // from the query to the end of its answer
}

// Latency is measured over the last queries, in milliseconds. Count 0: none yet.
type Latency struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`

	Recent []time.Duration `json:"-"` // oldest first; of whole answers, for the page
}

// Refusal is one merged line of the list of refused attempts.
type Refusal struct {
	Cause  string    `json:"cause"`
	Peer   string    `json:"peer,omitempty"` // origin; none for a native tool
	Count  int       `json:"count"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Advice string    `json:"advice"`
}

// Overview is the report as the owner's page shows it. Who waits, who was refused and
// what else the page knows of itself it adds.
func (r Report) Overview() web.Overview {
	o := web.Overview{
		Version: r.Version, Started: r.StartedAt, DataDir: r.DataDir, DatabaseBytes: r.DatabaseBytes,
		Search: r.Search.view(""), Model: r.Model.view(r.Model.Name),
		Recognizer: r.Recognizer.view(r.Recognizer.Name), DictationConfig: r.Recognizer.Config,
		Index:      web.Index{Enabled: r.Index.Enabled, Pages: r.Index.Pages, Bytes: r.Index.Bytes},
		Extensions: r.Connections,
		Answered:   r.Queries.Answered, Canceled: r.Queries.Canceled, Refused: r.Queries.Refused,
		FirstResult: r.Queries.FirstResult.view(), Answer: r.Queries.Answer.view(),
	}
	if r.DiskFull != nil {
		o.Unstored = r.DiskFull.Unstored
	}
	for _, f := range r.Model.Found {
		if !f.Used {
			o.Found = append(o.Found, web.FoundModel{Name: f.Name, BaseURL: f.BaseURL, Server: f.Server})
		}
	}
	for _, p := range r.Model.PassedOver[:min(len(r.Model.PassedOver), shownPassedOver)] {
		o.PassedOver = append(o.PassedOver, web.PassedModel(p))
	}
	o.MorePassedOver = len(r.Model.PassedOver) - len(o.PassedOver)
	return o
}

// shownPassedOver is how many models that do not chat a person is shown.
const shownPassedOver = 4

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
