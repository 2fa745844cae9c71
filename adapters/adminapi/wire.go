// Package adminapi is what the command line asks a running host: HTTP with JSON
// over the admin socket in the data directory or, where there are no Unix sockets,
// below /api of the owner's page. Only the owner's account reaches the socket, and
// only the master token opens /api; both are checked by the caller, which brings
// the listener and the dialer.
//
//	GET  /v1/status                        Status
//	GET  /v1/extensions                    []Extension
//	POST /v1/extensions/{id}/allow         Extension
//	POST /v1/extensions/{id}/remove        Extension
//	POST /v1/extensions/{id}/forget        204
//	GET  /v1/devices                       []Device
//	POST /v1/devices/{id}/revoke           204
//	POST /v1/invitations?server=s&legacy=b Invitation; without server: to the public URL
//	GET  /v1/invitations/{id}              Outcome, held open while the invitation waits
//	POST /v1/invitations/{id}/cancel       Cancelled
//	POST /v1/signin/link                   SignInLink
//	POST /v1/signin/code                   SignInCode
//	POST /v1/token/rotate                  Rotated
//	GET  /v1/pages?limit=n                 []Page
//	POST /v1/pages/clear                   Cleared
//
// Every failure is a Fault.
package adminapi

import (
	"time"

	"plexus/domain/admission"
	"plexus/domain/pages"
	"plexus/domain/text"
)

// Extension is one row of the list of extensions.
type Extension struct {
	ID        int64     `json:"id"`
	Origin    string    `json:"origin"`
	Digits    string    `json:"digits,omitempty"` // four decimal digits; none for a row admitted by token
	State     string    `json:"state"`            // waiting, allowed, by_token, blocked
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

// NewExtension turns a row into its wire form. The key's hash stays behind.
func NewExtension(e admission.Extension) Extension {
	return Extension{
		ID: e.ID, Origin: text.Printable(e.Origin), Digits: e.Digits(), State: string(e.State),
		FirstSeen: e.FirstSeen, LastSeen: e.LastSeen,
	}
}

// Page is one row of the page index. It holds no page text.
type Page struct {
	URL      string    `json:"url"`
	Title    string    `json:"title"`
	Origin   string    `json:"origin,omitempty"` // extension that brought it; none for the owner's own tools
	Bytes    int       `json:"bytes"`            // of text
	LastSeen time.Time `json:"last_seen"`
}

func newPage(l pages.Listing) Page {
	return Page{URL: l.URL, Title: l.Title, Origin: l.Origin, Bytes: l.Bytes, LastSeen: l.LastSeen}
}

// Cleared says how many pages were removed.
type Cleared struct {
	Pages int `json:"pages"`
}

// Rotated says where the new host token lies and who came with the old one.
type Rotated struct {
	TokenFile  string      `json:"token_file"`
	Extensions []Extension `json:"extensions"` // admitted by token; they need the new one
}

// Status is what is configured and reachable, and who is knocking.
type Status struct {
	Version       string      `json:"version"`
	PID           int         `json:"pid"`
	StartedAt     time.Time   `json:"started_at"`
	UptimeSeconds int64       `json:"uptime_seconds"`
	DataDir       string      `json:"data_dir"`
	DatabaseBytes int64       `json:"database_bytes"`  // with its write-ahead log
	WALBytes      int64       `json:"wal_bytes"`       // of the write-ahead log alone; it grows while a reader never ends
	Admin         string      `json:"admin,omitempty"` // address of the owner's page
	Nerve         Listeners   `json:"nerve"`
	Phones        PhoneStatus `json:"phones"`
	Search        Service     `json:"search"`
	Model         Model       `json:"model"`
	Recognizer    Recognizer  `json:"recognizer"`
	Index         Index       `json:"index"`
	Kept          Kept        `json:"conversations"`
	Connections   int         `json:"connections"` // live NERVE connections
	Queries       Queries     `json:"queries"`
	Waiting       []Extension `json:"waiting"` // extensions that wait to be allowed
	Refused       []Refusal   `json:"refused"` // newest first
}

// Kept says what of conversations is stored.
type Kept struct {
	Conversations int   `json:"conversations"`
	Topics        int   `json:"topics"` // of them
	Messages      int   `json:"messages"`
	Bytes         int64 `json:"bytes"`          // of the messages' texts
	Browser       bool  `json:"record_browser"` // questions of the browser become topics
}

// Listeners are the open NERVE listeners.
type Listeners struct {
	Address string `json:"address,omitempty"` // 127.0.0.1:9001
	Socket  string `json:"socket,omitempty"`  // path
	Token   string `json:"token_file"`        // path of the file, never its content
}

// PhoneStatus is the listener for phones and who is paired.
type PhoneStatus struct {
	Address    string   `json:"address,omitempty"`          // 127.0.0.1:18787
	PublicURL  string   `json:"public_url,omitempty"`       // by which phones reach it; none: not set
	Fixed      bool     `json:"public_url_fixed,omitempty"` // by a flag, the environment or the file
	Accepted   []string `json:"accepted_hosts"`             // names by which clients may come, the public URL's included
	Paired     int      `json:"paired"`
	Connected  int      `json:"connected"`  // now
	Invitation bool     `json:"invitation"` // one is open
	NoPhone    bool     `json:"no_phone"`   // the owner wants none for now
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
	Kind        string     `json:"kind"`          // as in the configuration
	URL         string     `json:"url,omitempty"` // as in the configuration
	Reach       Reach      `json:"reach"`
	Problem     string     `json:"problem,omitempty"` // why it is unreachable, without key or question
	Failures    int64      `json:"failures"`          // since the start
	LastFailure *time.Time `json:"last_failure,omitempty"`
	LastCause   string     `json:"last_cause,omitempty"`
}

// Model is the model in use and the ones that were found on this machine.
type Model struct {
	Service
	Name  string  `json:"name,omitempty"`
	Found []Found `json:"found,omitempty"`
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

// Found is a model that runs on this machine.
type Found struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url"`
	Server  string `json:"server"`
	Used    bool   `json:"used"`
	Config  string `json:"config"` // the lines of the configuration file that take it
}

// Index says whether pages are remembered, and how many are.
type Index struct {
	Enabled bool  `json:"enabled"`
	Shared  bool  `json:"shared"`
	Pages   int   `json:"pages"`
	Bytes   int64 `json:"bytes"` // of their texts

	Failures    int64      `json:"failures"` // pages that could not be kept since the start
	LastFailure *time.Time `json:"last_failure,omitempty"`
	LastCause   string     `json:"last_cause,omitempty"`
}

// Queries counts the work since the start.
type Queries struct {
	Answered    int64   `json:"answered"`
	Cancelled   int64   `json:"cancelled"`
	Refused     int64   `json:"refused"`
	FirstResult Latency `json:"first_result"` // from the query to its results
	Answer      Latency `json:"answer"`       // from the query to the end of its answer
}

// Latency is measured over the last queries, in milliseconds. Count 0: none yet.
type Latency struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
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

// Fault is the body of every failed request.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
