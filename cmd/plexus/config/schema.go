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
	set   func(c *Config, value string) error // a list: once for each entry
}

// env is the name of the setting's environment variable.
func (s setting) env() string {
	name := s.key
	if s.flag != "" {
		name = s.flag
	}
	return "PLEXUS_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// settings lists all of them, in the order of the documentation.
func settings() []setting {
	return []setting{
		{"language", "", isText, "", oneOf(func(c *Config) *string { return &c.Language }, "en", "zh-CN")},
		{keyPublicURL, "public-url", isText, "`address` by which phones reach this host, such as wss://box.tailnet.ts.net", publicURL},
		{"listen.admin", "admin-addr", isText, "listen `address` of the owner's page, on this machine only", address(func(c *Config) *netip.AddrPort { return &c.Listen.Admin }, thisMachine(9010))},
		{"listen.nerve", "nerve-addr", isText, "listen `address` of the NERVE WebSocket, on this machine only; port 0 takes a free one", address(func(c *Config) *netip.AddrPort { return &c.Listen.Nerve }, DefaultNerveAddr())},
		{"listen.client", "client-addr", isText, "listen `address` for phones, on this machine only; a TLS proxy stands before it", address(func(c *Config) *netip.AddrPort { return &c.Listen.Client }, thisMachine(18787))},
		{"listen.nerve_socket", "nerve-socket", isText, "`path` of the NERVE Unix socket", path(func(c *Config) *string { return &c.Listen.NerveSocket })},
		{"listen.nerve_token_file", "nerve-token-file", isText, "`path` of the host token", path(func(c *Config) *string { return &c.Listen.NerveTokenFile })},
		{"log.format", "log-format", isText, "`format` of the log: text or json", oneOf(func(c *Config) *string { return &c.Log.Format }, "text", "json")},
		{"log.level", "log-level", isText, "least `level` that is logged: debug, info, warn or error", oneOf(func(c *Config) *string { return &c.Log.Level }, "debug", "info", "warn", "error")},
		{keyOrigins, "allow-origin", isList, "`origin` of an extension that needs no key, such as chrome-extension://…; may be given several times", addOrigin},
		{"search.kind", "", isText, "", oneOf(func(c *Config) *string { return &c.Search.Kind }, "local", "anvesha", "searxng", "brave", "none")},
		{"search.url", "", isText, "", plain(func(c *Config) *string { return &c.Search.URL })},
		{"search.api_key_file", "", isText, "", path(func(c *Config) *string { return &c.Search.KeyFile })},
		{"index.enabled", "", isBool, "", boolean(func(c *Config) *bool { return &c.Index.Enabled })},
		{"index.shared", "", isBool, "", boolean(func(c *Config) *bool { return &c.Index.Shared })},
		{"model.kind", "", isText, "", oneOf(func(c *Config) *string { return &c.Model.Kind }, "auto", "openai", "extractive", "none")},
		{"model.base_url", "", isText, "", plain(func(c *Config) *string { return &c.Model.BaseURL })},
		{"model.name", "", isText, "", plain(func(c *Config) *string { return &c.Model.Name })},
		{"model.api_key_file", "", isText, "", path(func(c *Config) *string { return &c.Model.KeyFile })},
		{"model.allow_plain_http", "", isBool, "", boolean(func(c *Config) *bool { return &c.Model.PlainHTTP })},
		{"recognizer.kind", "", isText, "", oneOf(func(c *Config) *string { return &c.Recognizer.Kind }, "none", "openai", "command")},
		{"recognizer.base_url", "", isText, "", plain(func(c *Config) *string { return &c.Recognizer.BaseURL })},
		{"recognizer.name", "", isText, "", plain(func(c *Config) *string { return &c.Recognizer.Name })},
		{"recognizer.api_key_file", "", isText, "", path(func(c *Config) *string { return &c.Recognizer.KeyFile })},
		{keyCommand, "", isList, "", func(c *Config, v string) error {
			c.Recognizer.Command = append(c.Recognizer.Command, v) // what it has to be is for the recognizer to say
			return nil
		}},
		{"recognizer.allow_plain_http", "", isBool, "", boolean(func(c *Config) *bool { return &c.Recognizer.PlainHTTP })},
		{keyRecord, "", isBool, "", boolean(func(c *Config) *bool { return &c.Conversations.RecordBrowser })},
		{"conversations.topics", "", isNumber, "", number(func(c *Config) *int { return &c.Conversations.Topics })},
		{"conversations.topic_days", "", isNumber, "", number(func(c *Config) *int { return &c.Conversations.TopicDays })},
		{"pairing.legacy_expiry", "", isBool, "", boolean(func(c *Config) *bool { return &c.Pairing.LegacyExpiry })},
		{"pairing.remote_admin", "", isBool, "", boolean(func(c *Config) *bool { return &c.Pairing.RemoteAdmin })},
		{"limits.nerve_connections", "", isNumber, "", number(func(c *Config) *int { return &c.Limits.Connections })},
		{"limits.nerve_handshakes", "", isNumber, "", number(func(c *Config) *int { return &c.Limits.Handshakes })},
		{"limits.client_connections", "", isNumber, "", number(func(c *Config) *int { return &c.Limits.Clients })},
		{"limits.searches", "", isNumber, "", number(func(c *Config) *int { return &c.Limits.Searches })},
		{"limits.generations", "", isNumber, "", number(func(c *Config) *int { return &c.Limits.Generations })},
		{"limits.prompt_bytes", "", isNumber, "", numberFrom(answers.MinPrompt, maxPromptBytes, func(c *Config) *int { return &c.Limits.Prompt })},
		{"limits.search_connect", "", isText, "", duration(func(c *Config) *time.Duration { return &c.Limits.SearchConnect })},
		{"limits.search_total", "", isText, "", duration(func(c *Config) *time.Duration { return &c.Limits.SearchTotal })},
		{"limits.model_first_byte", "", isText, "", duration(func(c *Config) *time.Duration { return &c.Limits.ModelFirstByte })},
		{"limits.model_between_bytes", "", isText, "", duration(func(c *Config) *time.Duration { return &c.Limits.ModelBetween })},
		{"limits.model_total", "", isText, "", duration(func(c *Config) *time.Duration { return &c.Limits.ModelTotal })},
	}
}

// AddFlags registers the settings that have a flag. What is given is in the result
// after parsing, for Find.
func AddFlags(fs *cli.FlagSet) map[string][]string {
	given := make(map[string][]string)
	for _, s := range settings() {
		if s.flag != "" {
			fs.Func(s.flag, s.about+" ("+s.env()+")", func(value string) error {
				given[s.flag] = append(given[s.flag], value)
				return nil
			})
		}
	}
	return given
}

// These keep every limit a limit.
const (
	maxNumber      = 65_536
	maxPromptBytes = 1 << 20
	maxDuration    = time.Hour
)

type setter = func(*Config, string) error

func plain(field func(*Config) *string) setter {
	return func(c *Config, v string) error {
		*field(c) = v
		return nil
	}
}

func oneOf(field func(*Config) *string, choices ...string) setter {
	return func(c *Config, v string) error {
		if !slices.Contains(choices, v) {
			return fmt.Errorf("is %q and has to be one of %s", v, strings.Join(choices, ", "))
		}
		*field(c) = v
		return nil
	}
}

func boolean(field func(*Config) *bool) setter {
	return func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("is %q and has to be true or false", v)
		}
		*field(c) = b
		return nil
	}
}

func number(field func(*Config) *int) setter { return numberFrom(1, maxNumber, field) }

func numberFrom(least, most int, field func(*Config) *int) setter {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %s and has to be a number from %d to %d", v, least, most)
		}
		*field(c) = n
		return nil
	}
}

func duration(field func(*Config) *time.Duration) setter {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 || d > maxDuration {
			return fmt.Errorf("is %q and has to be a time such as \"8s\", at most %s", v, maxDuration)
		}
		*field(c) = d
		return nil
	}
}

func path(field func(*Config) *string) setter {
	return func(c *Config, v string) error {
		if !filepath.IsAbs(v) {
			return fmt.Errorf("is %q and has to be a full path, one that begins at the root", v)
		}
		*field(c) = filepath.Clean(v)
		return nil
	}
}

// address takes a literal loopback address. A name such as localhost means ::1
// to one program and 127.0.0.1 to the next, so it is refused.
func address(field func(*Config) *netip.AddrPort, example netip.AddrPort) setter {
	return func(c *Config, v string) error {
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
		*field(c) = netip.AddrPortFrom(addr, uint16(n))
		return nil
	}
}

// publicURL does not repeat what it refuses: it may hold a password.
func publicURL(c *Config, v string) error {
	server, err := pairing.ParseServer(v)
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	c.PublicURL = server.String()
	return nil
}

func addOrigin(c *Config, v string) error {
	origin, class := admission.ClassifyOrigin([]string{v})
	if class != admission.ExtensionOrigin {
		return fmt.Errorf("holds %q and may hold origins of extensions only, such as chrome-extension://…", v)
	}
	c.AllowedOrigins = append(c.AllowedOrigins, origin)
	return nil
}
