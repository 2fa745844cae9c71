package main

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
	set   func(c *config, value string) error // a list: once for each entry
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
		{"language", "", isText, "", oneOf(func(c *config) *string { return &c.language }, "en", "zh-CN")},
		{keyPublicURL, "public-url", isText, "`address` by which phones reach this host, such as wss://box.tailnet.ts.net", publicURL},
		{"listen.admin", "admin-addr", isText, "listen `address` of the owner's page, on this machine only", address(func(c *config) *netip.AddrPort { return &c.adminAddr }, defaultAdminAddr())},
		{"listen.nerve", "nerve-addr", isText, "listen `address` of the NERVE WebSocket, on this machine only; port 0 takes a free one", address(func(c *config) *netip.AddrPort { return &c.nerveAddr }, defaultNerveAddr())},
		{"listen.client", "client-addr", isText, "listen `address` for phones, on this machine only; a TLS proxy stands before it", address(func(c *config) *netip.AddrPort { return &c.clientAddr }, defaultClientAddr())},
		{"listen.nerve_socket", "nerve-socket", isText, "`path` of the NERVE Unix socket", path(func(c *config) *string { return &c.nerveSocket })},
		{"listen.nerve_token_file", "nerve-token-file", isText, "`path` of the host token", path(func(c *config) *string { return &c.nerveTokenFile })},
		{"log.format", "log-format", isText, "`format` of the log: text or json", oneOf(func(c *config) *string { return &c.logFormat }, "text", "json")},
		{"log.level", "log-level", isText, "least `level` that is logged: debug, info, warn or error", oneOf(func(c *config) *string { return &c.logLevel }, "debug", "info", "warn", "error")},
		{keyOrigins, "allow-origin", isList, "`origin` of an extension that needs no key, such as chrome-extension://…; may be given several times", addOrigin},
		{"search.kind", "", isText, "", oneOf(func(c *config) *string { return &c.searchKind }, "local", "anvesha", "searxng", "brave", "none")},
		{"search.url", "", isText, "", plain(func(c *config) *string { return &c.searchURL })},
		{"search.api_key_file", "", isText, "", path(func(c *config) *string { return &c.searchKeyFile })},
		{"index.enabled", "", isBool, "", boolean(func(c *config) *bool { return &c.indexEnabled })},
		{"index.shared", "", isBool, "", boolean(func(c *config) *bool { return &c.indexShared })},
		{"model.kind", "", isText, "", oneOf(func(c *config) *string { return &c.modelKind }, "auto", "openai", "extractive", "none")},
		{"model.base_url", "", isText, "", plain(func(c *config) *string { return &c.modelURL })},
		{"model.name", "", isText, "", plain(func(c *config) *string { return &c.modelName })},
		{"model.api_key_file", "", isText, "", path(func(c *config) *string { return &c.modelKeyFile })},
		{"model.allow_plain_http", "", isBool, "", boolean(func(c *config) *bool { return &c.modelPlainHTTP })},
		{"recognizer.kind", "", isText, "", oneOf(func(c *config) *string { return &c.recognizer.kind }, "none", "openai", "command")},
		{"recognizer.base_url", "", isText, "", plain(func(c *config) *string { return &c.recognizer.url })},
		{"recognizer.name", "", isText, "", plain(func(c *config) *string { return &c.recognizer.name })},
		{"recognizer.api_key_file", "", isText, "", path(func(c *config) *string { return &c.recognizer.keyFile })},
		{keyCommand, "", isList, "", addArgument},
		{"recognizer.allow_plain_http", "", isBool, "", boolean(func(c *config) *bool { return &c.recognizer.plainHTTP })},
		{keyRecord, "", isBool, "", boolean(func(c *config) *bool { return &c.recordBrowser })},
		{"conversations.topics", "", isNumber, "", number(func(c *config) *int { return &c.topics })},
		{"conversations.topic_days", "", isNumber, "", number(func(c *config) *int { return &c.topicDays })},
		{"pairing.legacy_expiry", "", isBool, "", boolean(func(c *config) *bool { return &c.legacyExpiry })},
		{"pairing.remote_admin", "", isBool, "", boolean(func(c *config) *bool { return &c.remoteAdmin })},
		{"limits.nerve_connections", "", isNumber, "", number(func(c *config) *int { return &c.limits.connections })},
		{"limits.nerve_handshakes", "", isNumber, "", number(func(c *config) *int { return &c.limits.handshakes })},
		{"limits.client_connections", "", isNumber, "", number(func(c *config) *int { return &c.limits.clients })},
		{"limits.searches", "", isNumber, "", number(func(c *config) *int { return &c.limits.searches })},
		{"limits.generations", "", isNumber, "", number(func(c *config) *int { return &c.limits.generations })},
		{"limits.prompt_bytes", "", isNumber, "", numberFrom(answers.MinPrompt, maxPromptBytes, func(c *config) *int { return &c.limits.prompt })},
		{"limits.search_connect", "", isText, "", duration(func(c *config) *time.Duration { return &c.limits.searchConnect })},
		{"limits.search_total", "", isText, "", duration(func(c *config) *time.Duration { return &c.limits.searchTotal })},
		{"limits.model_first_byte", "", isText, "", duration(func(c *config) *time.Duration { return &c.limits.modelFirstByte })},
		{"limits.model_between_bytes", "", isText, "", duration(func(c *config) *time.Duration { return &c.limits.modelBetween })},
		{"limits.model_total", "", isText, "", duration(func(c *config) *time.Duration { return &c.limits.modelTotal })},
	}
}

// These keep every limit a limit.
const (
	maxNumber      = 65_536
	maxPromptBytes = 1 << 20
	maxDuration    = time.Hour
)

type setter = func(*config, string) error

func plain(field func(*config) *string) setter {
	return func(c *config, v string) error {
		*field(c) = v
		return nil
	}
}

func oneOf(field func(*config) *string, choices ...string) setter {
	return func(c *config, v string) error {
		for _, choice := range choices {
			if v == choice {
				*field(c) = v
				return nil
			}
		}
		return fmt.Errorf("is %q and has to be one of %s", v, strings.Join(choices, ", "))
	}
}

func boolean(field func(*config) *bool) setter {
	return func(c *config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("is %q and has to be true or false", v)
		}
		*field(c) = b
		return nil
	}
}

func number(field func(*config) *int) setter { return numberFrom(1, maxNumber, field) }

func numberFrom(least, most int, field func(*config) *int) setter {
	return func(c *config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %s and has to be a number from %d to %d", v, least, most)
		}
		*field(c) = n
		return nil
	}
}

func duration(field func(*config) *time.Duration) setter {
	return func(c *config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 || d > maxDuration {
			return fmt.Errorf("is %q and has to be a time such as \"8s\", at most %s", v, maxDuration)
		}
		*field(c) = d
		return nil
	}
}

func path(field func(*config) *string) setter {
	return func(c *config, v string) error {
		if !filepath.IsAbs(v) {
			return fmt.Errorf("is %q and has to be a full path, one that begins at the root", v)
		}
		*field(c) = filepath.Clean(v)
		return nil
	}
}

// address takes a literal loopback address. A name such as localhost means ::1
// to one program and 127.0.0.1 to the next, so it is refused.
func address(field func(*config) *netip.AddrPort, example netip.AddrPort) setter {
	return func(c *config, v string) error {
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
func publicURL(c *config, v string) error {
	server, err := pairing.ParseServer(v)
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	c.publicURL = server.String()
	return nil
}

func addOrigin(c *config, v string) error {
	origin, class := admission.ClassifyOrigin([]string{v})
	if class != admission.ExtensionOrigin {
		return fmt.Errorf("holds %q and may hold origins of extensions only, such as chrome-extension://…", v)
	}
	c.allowedOrigins = append(c.allowedOrigins, origin)
	return nil
}

// addArgument takes them as they are; what they have to be is for the recogniser
// to say.
func addArgument(c *config, v string) error {
	c.recognizer.command = append(c.recognizer.command, v)
	return nil
}
