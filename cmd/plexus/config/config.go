// Package config holds the settings of the host: what can be set, where each comes
// from, and what is wrong with them.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
	"plexus/domain/conversations"
)

// Config is everything that can be set. Zero limits mean the defaults of the
// packages that have them.
type Config struct {
	Language       string // en or zh-CN; "" when nothing says one: see OwnLanguage and PhoneLanguage
	PublicURL      string // as domain/pairing writes it; "": none is set here
	PublicURLFrom  string // what sets PublicURL, for people
	Listen         Listen
	Log            Log
	AllowedOrigins []string // of extensions that need no key
	Search         Search
	Index          Index
	Model          Model
	Recognizer     Recognizer
	Conversations  Conversations
	Pairing        Pairing
	Limits         Limits
}

// Listen is where the host listens, all of it on this machine only.
type Listen struct {
	Admin          netip.AddrPort // the owner's page
	Nerve          netip.AddrPort // extensions
	Client         netip.AddrPort // phones, behind a TLS proxy
	NerveSocket    string         // path
	NerveTokenFile string         // path
}

// Log is how the host logs.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}

// Search is where questions are looked up.
type Search struct {
	Kind    string // local, anvesha, searxng, brave or none
	URL     string
	KeyFile string
	Key     admission.Secret
	// Conversations: what is said in them goes to the service too. ConversationsFrom is
	// where that is set; "": nowhere, and the page decides.
	Conversations     bool
	ConversationsFrom string
}

// Index is the index of pages that were asked about.
type Index struct {
	Enabled bool
	Shared  bool // between extensions
}

// Model is what answers.
type Model struct {
	Kind      string // auto, openai, extractive or none
	BaseURL   string
	Name      string
	KeyFile   string
	Key       admission.Secret
	PlainHTTP bool // allowed to other machines
}

// Recognizer is what turns speech into text.
type Recognizer struct {
	Kind      string // none, openai or command
	BaseURL   string
	Name      string
	KeyFile   string
	Key       admission.Secret
	Command   []string
	Dir       string // of the files for the command, in the data directory
	PlainHTTP bool   // allowed to other machines
}

// Conversations is what is kept of what was said.
type Conversations struct {
	RecordBrowser bool
	RecordFrom    string // where RecordBrowser is set; "": nowhere, and the page decides
	Topics        int    // kept at most
	TopicDays     int    // for how many an untouched topic is kept
}

// Pairing is what phones may do beyond the usual.
type Pairing struct {
	LegacyExpiry bool // codes have an expiry
	RemoteAdmin  bool
}

// Limits are the bounds of the work at once and of waiting.
type Limits struct {
	Connections, Handshakes, Clients, Pages  int
	Searches, Generations                    int
	Prompt                                   int // bytes
	SearchConnect, SearchTotal               time.Duration
	ModelFirstByte, ModelBetween, ModelTotal time.Duration
}

// UsesIndex: with search.kind none nothing is looked up, so nothing is kept.
func (c Config) UsesIndex() bool { return c.Index.Enabled && c.Search.Kind != "none" }

// DefaultNerveAddr is where the extension looks unless it is told otherwise.
func DefaultNerveAddr() netip.AddrPort { return thisMachine(9001) }

func thisMachine(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// defaults of one machine and its environment. An error says that there is no path
// for the host token.
func defaults(env cli.Env, dataDir string) (Config, error) {
	tokenFile, err := env.Paths().NerveToken()
	return Config{
		Language: defaultLanguage(env),
		Listen: Listen{
			Admin: thisMachine(9010), Nerve: DefaultNerveAddr(), Client: thisMachine(18787),
			NerveSocket: env.Paths().NerveSocket(dataDir), NerveTokenFile: tokenFile,
		},
		Log:           Log{Format: "text", Level: "info"},
		Search:        Search{Kind: "local"},
		Index:         Index{Enabled: true},
		Model:         Model{Kind: "auto"},
		Recognizer:    Recognizer{Kind: "none", Dir: filepath.Join(dataDir, "speech")},
		Conversations: Conversations{RecordBrowser: true, Topics: conversations.MaxTopics, TopicDays: conversations.TopicDays},
	}, err
}

// OwnLanguage is that of the fixed sentences that browsers and the command line get
// (decision G16).
func (c Config) OwnLanguage() string { return cmp.Or(c.Language, "en") }

// PhoneLanguage is that of conversations, unless a phone asks for another one: where
// nothing says a language it is Chinese, as the client protocol has it (decision G16).
func (c Config) PhoneLanguage() string { return cmp.Or(c.Language, "zh-CN") }

// defaultLanguage is that of PROMPT_LANGUAGE or of the locale; "" where neither says one.
func defaultLanguage(env cli.Env) string {
	for _, name := range []string{"PROMPT_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		locale, _, _ := strings.Cut(strings.ToLower(env.Getenv(name)), ".")
		locale, _, _ = strings.Cut(locale, "@")
		switch {
		case locale == "":
			continue
		case locale == "c" || locale == "posix":
			return ""
		case strings.HasPrefix(locale, "zh"):
			return "zh-CN"
		}
		return "en"
	}
	return ""
}

// contradictions reports settings that would have no effect.
func (c *Config) contradictions() []error {
	var problems []error
	if c.Search.Kind == "local" || c.Search.Kind == "none" {
		if c.Search.URL != "" || !c.Search.Key.Empty() {
			problems = append(problems, fmt.Errorf("search.url or a search key is set, but search.kind is %q: set it to anvesha, searxng or brave", c.Search.Kind))
		}
	}
	if c.Search.Conversations && (c.Search.Kind == "local" || c.Search.Kind == "none") {
		problems = append(problems, fmt.Errorf("search.conversations is true, but search.kind is %q, so there is no service to ask: set it to anvesha, searxng or brave", c.Search.Kind))
	}
	if c.Search.Kind == "local" && !c.Index.Enabled {
		problems = append(problems, errors.New("search.kind is \"local\", but index.enabled is false: set search.kind to none"))
	}
	if c.Model.Kind != "openai" && (c.Model.BaseURL != "" || c.Model.Name != "" || !c.Model.Key.Empty()) {
		problems = append(problems, fmt.Errorf("model.base_url, model.name or a model key is set, but model.kind is %q: set it to openai", c.Model.Kind))
	}
	r := c.Recognizer
	if r.Kind != "openai" && (r.BaseURL != "" || r.Name != "" || !r.Key.Empty()) {
		problems = append(problems, fmt.Errorf("recognizer.base_url, recognizer.name or a recognizer key is set, but recognizer.kind is %q: set it to openai", r.Kind))
	}
	if r.Kind != "command" && len(r.Command) > 0 {
		problems = append(problems, fmt.Errorf("recognizer.command is set, but recognizer.kind is %q: set it to command", r.Kind))
	}
	return problems
}
