package config

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
	"plexus/domain/answers"
	"plexus/domain/pairing"
)

// kind is the TOML type of a setting.
type kind string

const (
	isText   kind = "a text"
	isBool   kind = "true or false"
	isNumber kind = "a whole number"
	isList   kind = "a list of texts"
)

// setting is one thing that can be set: by its key in the file, by its
// environment variable and, for some, by a flag.
type setting struct {
	key   string // in the file
	flag  string // without dashes, "" for none
	kind  kind
	about string
	set   setter // a list: once for each entry
}

// env is the name of the setting's environment variable.
func (s setting) env() string {
	name := s.key
	if s.flag != "" {
		name = s.flag
	}
	return "PLEXUS_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// settings lists all of them, in the order of the documentation. They set c.
func settings(c *Config) []setting {
	return []setting{
		{"language", "", isText, "", oneOf(&c.Language, "en", "zh-CN")},
		{keyPublicURL, "public-url", isText, "`address` by which phones reach this host, such as wss://box.tailnet.ts.net", publicURL(&c.PublicURL)},
		{"listen.admin", "admin-addr", isText, "listen `address` of the owner's page, on this machine only", address(&c.Listen.Admin, thisMachine(9010))},
		{"listen.nerve", "nerve-addr", isText, "listen `address` of the NERVE WebSocket, on this machine only; port 0 takes a free one", address(&c.Listen.Nerve, DefaultNerveAddr())},
		{"listen.client", "client-addr", isText, "listen `address` for phones, on this machine only; a TLS proxy stands before it", address(&c.Listen.Client, thisMachine(18787))},
		{"listen.nerve_socket", "nerve-socket", isText, "`path` of the NERVE Unix socket", path(&c.Listen.NerveSocket)},
		{"listen.nerve_token_file", "nerve-token-file", isText, "`path` of the host token", path(&c.Listen.NerveTokenFile)},
		{"log.format", "log-format", isText, "`format` of the log: text or json", oneOf(&c.Log.Format, "text", "json")},
		{"log.level", "log-level", isText, "least `level` that is logged: debug, info, warn or error", oneOf(&c.Log.Level, "debug", "info", "warn", "error")},
		{keyOrigins, "allow-origin", isList, "`origin` of an extension that needs no key, such as chrome-extension://…; may be given several times", origins(&c.AllowedOrigins)},
		{"search.kind", "", isText, "", oneOf(&c.Search.Kind, "local", "anvesha", "searxng", "brave", "none")},
		{"search.url", "", isText, "", plain(&c.Search.URL)},
		{"search.api_key_file", "", isText, "", path(&c.Search.KeyFile)},
		{keySearches, "", isBool, "", boolean(&c.Search.Conversations)},
		{"index.enabled", "", isBool, "", boolean(&c.Index.Enabled)},
		{"index.shared", "", isBool, "", boolean(&c.Index.Shared)},
		{"model.kind", "", isText, "", oneOf(&c.Model.Kind, "auto", "openai", "extractive", "none")},
		{"model.base_url", "", isText, "", plain(&c.Model.BaseURL)},
		{"model.name", "", isText, "", plain(&c.Model.Name)},
		{"model.api_key_file", "", isText, "", path(&c.Model.KeyFile)},
		{"model.allow_plain_http", "", isBool, "", boolean(&c.Model.PlainHTTP)},
		{"recognizer.kind", "", isText, "", oneOf(&c.Recognizer.Kind, "none", "openai", "command")},
		{"recognizer.base_url", "", isText, "", plain(&c.Recognizer.BaseURL)},
		{"recognizer.name", "", isText, "", plain(&c.Recognizer.Name)},
		{"recognizer.api_key_file", "", isText, "", path(&c.Recognizer.KeyFile)},
		{keyCommand, "", isList, "", func(v string) error {
			c.Recognizer.Command = append(c.Recognizer.Command, v) // what it has to be is for the recognizer to say
			return nil
		}},
		{"recognizer.allow_plain_http", "", isBool, "", boolean(&c.Recognizer.PlainHTTP)},
		{keyRecord, "", isBool, "", boolean(&c.Conversations.RecordBrowser)},
		{"conversations.topics", "", isNumber, "", number(&c.Conversations.Topics)},
		{"conversations.topic_days", "", isNumber, "", number(&c.Conversations.TopicDays)},
		{"pairing.legacy_expiry", "", isBool, "", boolean(&c.Pairing.LegacyExpiry)},
		{"pairing.remote_admin", "", isBool, "", boolean(&c.Pairing.RemoteAdmin)},
		{"limits.nerve_connections", "", isNumber, "", number(&c.Limits.Connections)},
		{"limits.nerve_handshakes", "", isNumber, "", number(&c.Limits.Handshakes)},
		{"limits.client_connections", "", isNumber, "", number(&c.Limits.Clients)},
		{"limits.page_connections", "", isNumber, "", number(&c.Limits.Pages)},
		{"limits.searches", "", isNumber, "", number(&c.Limits.Searches)},
		{"limits.generations", "", isNumber, "", number(&c.Limits.Generations)},
		{"limits.prompt_bytes", "", isNumber, "", numberFrom(answers.MinPrompt, maxPromptBytes, &c.Limits.Prompt)},
		{"limits.search_connect", "", isText, "", duration(&c.Limits.SearchConnect)},
		{"limits.search_total", "", isText, "", duration(&c.Limits.SearchTotal)},
		{"limits.model_first_byte", "", isText, "", duration(&c.Limits.ModelFirstByte)},
		{"limits.model_between_bytes", "", isText, "", duration(&c.Limits.ModelBetween)},
		{"limits.model_total", "", isText, "", duration(&c.Limits.ModelTotal)},
	}
}

// AddFlags registers the settings that have a flag. What is given is in the result
// after parsing, for Find.
func AddFlags(fs *cli.FlagSet) map[string][]string {
	given := make(map[string][]string)
	for _, s := range settings(new(Config)) {
		if s.flag != "" {
			fs.Func(s.flag, s.about+" ("+s.env()+")", func(value string) error {
				given[s.flag] = append(given[s.flag], value)
				return nil
			})
		}
	}
	return given
}

// Upper bounds of numbers, so that a setting cannot remove a limit.
const (
	maxNumber      = 65_536
	maxPromptBytes = 1 << 20
	maxDuration    = time.Hour
)

type setter = func(value string) error

// plain takes an address or a name, without the blanks that were pasted around it.
func plain(field *string) setter {
	return func(v string) error {
		*field = strings.TrimSpace(v)
		return nil
	}
}

func oneOf(field *string, choices ...string) setter {
	return func(v string) error {
		if !slices.Contains(choices, v) {
			return fmt.Errorf("is %q and has to be one of %s", v, strings.Join(choices, ", "))
		}
		*field = v
		return nil
	}
}

func boolean(field *bool) setter {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("is %q and has to be true or false", v)
		}
		*field = b
		return nil
	}
}

func number(field *int) setter { return numberFrom(1, maxNumber, field) }

func numberFrom(least, most int, field *int) setter {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %s and has to be a number from %d to %d", v, least, most)
		}
		*field = n
		return nil
	}
}

func duration(field *time.Duration) setter {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 || d > maxDuration {
			return fmt.Errorf("is %q and has to be a time such as \"8s\", at most %s", v, maxDuration)
		}
		*field = d
		return nil
	}
}

func path(field *string) setter {
	return func(v string) error {
		if !filepath.IsAbs(v) {
			return fmt.Errorf("is %q and has to be a full path, one that begins at the root", v)
		}
		*field = filepath.Clean(v)
		return nil
	}
}

// address takes a literal loopback address. A name such as localhost means ::1
// to one program and 127.0.0.1 to the next, so it is refused.
func address(field *netip.AddrPort, example netip.AddrPort) setter {
	return func(v string) error {
		host, port, err := net.SplitHostPort(v)
		if err != nil {
			return fmt.Errorf("is %q and has to look like %s", v, example)
		}
		if host == "localhost" {
			return fmt.Errorf("is %q; write 127.0.0.1:%s, since localhost can mean two addresses", v, port)
		}
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.IsLoopback() || addr.Zone() != "" {
			return fmt.Errorf("is %q and has to be an address of this machine alone, such as %s", v, example)
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("is %q and its port has to be a number from 0 to 65535", v)
		}
		*field = netip.AddrPortFrom(addr, uint16(n))
		return nil
	}
}

// publicURL does not repeat what it refuses: it may hold a password.
func publicURL(field *string) setter {
	return func(v string) error {
		server, err := pairing.ParseServer(v)
		if err != nil {
			return fmt.Errorf("cannot be used: %w", err)
		}
		*field = server.String()
		return nil
	}
}

func origins(field *[]string) setter {
	return func(v string) error {
		origin, class := admission.ClassifyOrigin([]string{v})
		if class != admission.ExtensionOrigin {
			return fmt.Errorf("holds %q and may hold origins of extensions only, such as chrome-extension://…", v)
		}
		*field = append(*field, origin)
		return nil
	}
}
