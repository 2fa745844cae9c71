package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
	"plexus/domain/conversations"
)

// config is everything that can be set. Zero limits mean the defaults of the
// packages that have them.
type config struct {
	language       string // en or zh-CN
	publicURL      string // as domain/pairing writes it; "": none is set here
	publicFrom     string // what sets publicURL, for people
	adminAddr      netip.AddrPort
	nerveAddr      netip.AddrPort
	clientAddr     netip.AddrPort
	nerveSocket    string
	nerveTokenFile string
	logFormat      string
	logLevel       string
	allowedOrigins []string
	searchKind     string
	searchURL      string
	searchKeyFile  string
	searchKey      admission.Secret
	indexEnabled   bool
	indexShared    bool
	modelKind      string
	modelURL       string
	modelName      string
	modelKeyFile   string
	modelKey       admission.Secret
	modelPlainHTTP bool
	recognizer     recognizerSettings
	recordBrowser  bool
	recordFrom     string // where recordBrowser is set; "": nowhere, and the page decides
	topics         int    // kept at most
	topicDays      int    // for how many an untouched topic is kept
	legacyExpiry   bool
	remoteAdmin    bool
	limits         limits
}

// limits are the bounds of the work at once and of waiting.
type limits struct {
	connections, handshakes, clients         int
	searches, generations                    int
	prompt                                   int // bytes
	searchConnect, searchTotal               time.Duration
	modelFirstByte, modelBetween, modelTotal time.Duration
}

// sources are where settings come from, besides the defaults.
type sources struct {
	file    string              // path
	named   bool                // by the owner, so that it has to exist
	flags   map[string][]string // setting flag → values
	dataDir string
}

// defaultAdminAddr is the owner's page.
func defaultAdminAddr() netip.AddrPort { return thisMachine(9010) }

// defaultNerveAddr is where the extension looks unless it is told otherwise.
func defaultNerveAddr() netip.AddrPort { return thisMachine(9001) }

// defaultClientAddr is what a TLS proxy forwards phones to.
func defaultClientAddr() netip.AddrPort { return thisMachine(18787) }

func thisMachine(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// keyPublicURL is the setting of which the page says where it comes from.
const keyPublicURL = "public_url"

// keyRecord is the setting that the page may change unless it stands elsewhere.
const keyRecord = "conversations.record_browser"

// The settings that are lists.
const (
	keyOrigins = "nerve.allowed_origins"
	keyCommand = "recognizer.command"
)

// defaults of one machine and its environment.
func defaults(env cli.Env, dataDir string) (config, error) {
	tokenFile, err := env.Places().NerveToken()
	return config{
		language:       defaultLanguage(env),
		adminAddr:      defaultAdminAddr(),
		nerveAddr:      defaultNerveAddr(),
		clientAddr:     defaultClientAddr(),
		nerveSocket:    env.Places().NerveSocket(dataDir),
		nerveTokenFile: tokenFile,
		logFormat:      "text",
		logLevel:       "info",
		searchKind:     "local",
		indexEnabled:   true,
		modelKind:      "auto",
		recognizer:     recognizerSettings{kind: "none", place: filepath.Join(dataDir, "speech")},
		recordBrowser:  true,
		topics:         conversations.MaxTopics,
		topicDays:      int(conversations.TopicAge / (24 * time.Hour)),
	}, err
}

// defaultLanguage reads the locale; a machine without one gets Chinese.
func defaultLanguage(env cli.Env) string {
	for _, name := range []string{"PROMPT_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		locale, _, _ := strings.Cut(env.Getenv(name), ".")
		switch {
		case locale == "":
			continue
		case locale == "C" || locale == "POSIX" || strings.HasPrefix(strings.ToLower(locale), "zh"):
			return "zh-CN"
		}
		return "en"
	}
	return "zh-CN"
}

// loadConfig reads every setting and the key files. It reports every problem at
// once and logs nothing; warnings are for the log.
func loadConfig(env cli.Env, src sources) (c config, warnings []string, err error) {
	c, problems := readSettings(env, src)
	warnings, more := readSecrets(env, &c)
	problems = append(problems, more...)
	problems = append(problems, c.contradictions()...)
	warnings = append(warnings, unknownVariables(env)...)
	return c, warnings, errors.Join(problems...)
}

// readSettings puts flags over environment over file over defaults.
func readSettings(env cli.Env, src sources) (config, []error) {
	c, noHome := defaults(env, src.dataDir)
	problems := readFile(env, &c, src)
	problems = append(problems, readEnvironment(env, &c)...)
	for _, s := range settings() {
		problems = append(problems, apply(&c, s, "--"+s.flag, src.flags[s.flag])...)
	}
	if noHome != nil && c.nerveTokenFile == "" {
		problems = append(problems, fmt.Errorf("the host token has no place: %w: set HOME, or name the file with --nerve-token-file", noHome))
	}
	return c, problems
}

// apply sets one setting from the texts of one source, called where.
func apply(c *config, s setting, where string, values []string) []error {
	if len(values) > 0 {
		c.emptyList(s.key) // a higher source replaces the list of a lower one
	}
	if s.key == keyPublicURL && len(values) > 0 {
		c.publicFrom = where
	}
	if s.key == keyRecord && len(values) > 0 {
		c.recordFrom = where
	}
	var problems []error
	for _, value := range values {
		if err := s.set(c, value); err != nil {
			problems = append(problems, fmt.Errorf("%s %w", where, err))
		}
	}
	return problems
}

func (c *config) emptyList(key string) {
	switch key {
	case keyOrigins:
		c.allowedOrigins = nil
	case keyCommand:
		c.recognizer.command = nil
	}
}

func readFile(env cli.Env, c *config, src sources) []error {
	b, err := readConfigFile(src.file)
	if errors.Is(err, fs.ErrNotExist) && !src.named {
		return nil
	}
	if err != nil {
		return []error{fmt.Errorf("reading the configuration: %w", err)}
	}
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		return []error{fmt.Errorf("%s: %w", src.file, err)}
	}
	values := make(map[string]any)
	flatten(values, "", tree)
	var problems []error
	for _, s := range settings() {
		value, ok := values[s.key]
		if !ok {
			continue
		}
		delete(values, s.key)
		texts, err := s.kind.texts(value)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s %w", src.file, s.key, err))
			continue
		}
		problems = append(problems, apply(c, s, src.file+": "+s.key, texts)...)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		problems = append(problems, fmt.Errorf("%s: there is no setting %s", src.file, key))
	}
	return problems
}

// maxConfigFile bounds the configuration file, in bytes.
const maxConfigFile = 1 << 20

// readConfigFile reads no more than that: a device or a wrong file named by
// mistake must not take all memory.
func readConfigFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	defer file.Close() // opened for reading
	b, err := io.ReadAll(io.LimitReader(file, maxConfigFile+1))
	if err == nil && len(b) > maxConfigFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxConfigFile)
	}
	return b, err
}

// flatten turns nested tables into dotted keys.
func flatten(into map[string]any, prefix string, tree map[string]any) {
	for key, value := range tree {
		if table, ok := value.(map[string]any); ok {
			flatten(into, prefix+key+".", table)
			continue
		}
		into[prefix+key] = value
	}
}

// texts checks the TOML type of a value and spells it as a flag would.
func (k kind) texts(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		if k == isText {
			return []string{v}, nil
		}
	case bool:
		if k == isBool {
			return []string{fmt.Sprint(v)}, nil
		}
	case int64:
		if k == isNumber {
			return []string{fmt.Sprint(v)}, nil
		}
	case []any:
		texts := make([]string, 0, len(v))
		for _, entry := range v {
			if s, ok := entry.(string); ok && k == isList {
				texts = append(texts, s)
			}
		}
		if k == isList && len(texts) == len(v) {
			return texts, nil
		}
	}
	return nil, fmt.Errorf("has to be %s", k)
}

func readEnvironment(env cli.Env, c *config) []error {
	var problems []error
	for _, s := range settings() {
		value := env.Getenv(s.env())
		if value == "" {
			continue
		}
		values := []string{value}
		switch {
		case s.key == keyCommand:
			values = strings.Fields(value) // a comma may belong to an argument
		case s.kind == isList:
			values = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
		problems = append(problems, apply(c, s, s.env(), values)...)
	}
	// The name under which existing extensions of NERVE tell their ID.
	if id := env.Getenv("ANVESHA_EXTENSION_ID"); id != "" {
		if err := addOrigin(c, "chrome-extension://"+id); err != nil {
			problems = append(problems, fmt.Errorf("ANVESHA_EXTENSION_ID %w", err))
		}
	}
	return problems
}

// secretVariables name the keys that may stand in the environment. The file of
// each can be named there too, by the setting's own variable.
const (
	searchKeyVariable     = "PLEXUS_SEARCH_API_KEY"
	modelKeyVariable      = "PLEXUS_MODEL_API_KEY"
	recognizerKeyVariable = "PLEXUS_RECOGNIZER_API_KEY"
)

func readSecrets(env cli.Env, c *config) (warnings []string, problems []error) {
	for _, one := range []struct {
		variable, key, file string
		secret              *admission.Secret
	}{
		{searchKeyVariable, "search.api_key_file", c.searchKeyFile, &c.searchKey},
		{modelKeyVariable, "model.api_key_file", c.modelKeyFile, &c.modelKey},
		{recognizerKeyVariable, "recognizer.api_key_file", c.recognizer.keyFile, &c.recognizer.key},
	} {
		value := env.Getenv(one.variable)
		switch {
		case value != "" && one.file != "":
			problems = append(problems, fmt.Errorf("%s is set, and a file with the key too: leave one of them out", one.variable))
		case value != "":
			if err := hostfiles.CheckSecret(value); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", one.variable, err))
			}
			*one.secret = admission.NewSecret(value)
		case one.file != "":
			secret, said, err := hostfiles.ReadSecret(one.file)
			warnings = append(warnings, said...)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", one.key, err))
			}
			*one.secret = secret
		}
	}
	return warnings, problems
}

// contradictions are settings that would silently do nothing.
func (c *config) contradictions() []error {
	var problems []error
	if c.searchKind == "local" || c.searchKind == "none" {
		if c.searchURL != "" || !c.searchKey.Empty() {
			problems = append(problems, fmt.Errorf("search.url or a search key is set, but search.kind is %q: set it to anvesha, searxng or brave", c.searchKind))
		}
	}
	if c.searchKind == "local" && !c.indexEnabled {
		problems = append(problems, errors.New("search.kind is \"local\", but index.enabled is false: set search.kind to none"))
	}
	if c.modelKind != "openai" && (c.modelURL != "" || c.modelName != "" || !c.modelKey.Empty()) {
		problems = append(problems, fmt.Errorf("model.base_url, model.name or a model key is set, but model.kind is %q: set it to openai", c.modelKind))
	}
	return append(problems, c.recognizer.contradictions()...)
}

// unknownVariables finds PLEXUS_ names that nothing reads. They are not errors:
// the environment is shared with other programs.
func unknownVariables(env cli.Env) []string {
	known := []string{"PLEXUS_DATA_DIR", "PLEXUS_CONFIG", "PLEXUS_READY_FILE", "PLEXUS_OPEN_BROWSER", searchKeyVariable, modelKeyVariable, recognizerKeyVariable}
	for _, s := range settings() {
		known = append(known, s.env())
	}
	var warnings []string
	for _, entry := range env.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "PLEXUS_") && !slices.Contains(known, name) {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is not known and was ignored", name))
		}
	}
	return warnings
}

// configFile finds the configuration: flag, environment, default.
func configFile(env cli.Env, given string) (path string, named bool, err error) {
	if given == "" {
		given = env.Getenv("PLEXUS_CONFIG")
	}
	if given != "" {
		path, err = filepath.Abs(given)
		return path, true, err
	}
	path, err = env.Places().ConfigFile()
	if err != nil {
		err = fmt.Errorf("%w: set HOME, or name the file with --config", err)
	}
	return path, false, err
}
