package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/domain/admission"
	"plexus/domain/secret"
)

// Sources are where settings come from, besides the environment and the defaults.
type Sources struct {
	file    string              // path
	named   bool                // by the owner, so that it has to exist
	flags   map[string][]string // setting flag → values
	dataDir string
}

// Find gives the sources of a host on dataDir: the file is the given one, else the
// one that the environment names, else the usual one.
func Find(env cli.Env, dataDir, file string, flags map[string][]string) (Sources, error) {
	if file == "" {
		file = env.Getenv("PLEXUS_CONFIG")
	}
	src, err := Sources{file: file, named: file != "", flags: flags, dataDir: dataDir}, error(nil)
	if src.named {
		src.file, err = filepath.Abs(file)
	} else if src.file, err = env.Paths().ConfigFile(); err != nil {
		err = fmt.Errorf("%w: set HOME, or name the file with --config", err)
	}
	if err != nil {
		err = fmt.Errorf("finding the configuration: %w", err)
	}
	return src, err
}

// Settings that are not only set.
const (
	keyPublicURL = "public_url"                   // the page says where it comes from
	keyRecord    = "conversations.record_browser" // the page may change it unless a flag, the environment or the file sets it
	keySearches  = "search.conversations"         // so is this
	keyOrigins   = "nerve.allowed_origins"        // a list
	keyCommand   = "recognizer.command"           // a list
)

// Load reads every setting and the key files. It reports every problem at once and
// logs nothing; warnings are for the log.
func Load(env cli.Env, src Sources) (c Config, warnings []string, err error) {
	c, problems := readSettings(env, src)
	warnings, more := ReadSecrets(env, &c)
	problems = append(problems, more...)
	problems = append(problems, c.contradictions()...)
	warnings = append(warnings, unknownVariables(env)...)
	return c, warnings, errors.Join(problems...)
}

// Read reads the settings as serve would, without the keys.
func Read(env cli.Env, dataDir, file string, flags map[string][]string) (Config, error) {
	src, err := Find(env, dataDir, file, flags)
	if err != nil {
		return Config{}, err
	}
	c, problems := readSettings(env, src)
	if err := errors.Join(problems...); err != nil {
		return Config{}, Unusable(err)
	}
	return c, nil
}

// Unusable is a usage error that lists every fault, one a line.
func Unusable(err error) error {
	return cli.Usagef("the configuration cannot be used:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// readSettings puts flags over environment over file over defaults.
func readSettings(env cli.Env, src Sources) (Config, []error) {
	c, noHome := defaults(env, src.dataDir)
	problems := readFile(&c, src)
	problems = append(problems, readEnvironment(env, &c)...)
	for _, s := range settings(&c) {
		problems = append(problems, apply(&c, s, "--"+s.flag, src.flags[s.flag])...)
	}
	if noHome != nil && c.Listen.NerveTokenFile == "" {
		problems = append(problems, fmt.Errorf("the host token has no place: %w: set HOME, or name the file with --nerve-token-file", noHome))
	}
	return c, problems
}

// apply sets one setting from the texts of one source, called where.
func apply(c *Config, s setting, where string, values []string) []error {
	if len(values) > 0 {
		switch s.key {
		case keyOrigins: // a higher source replaces the list of a lower one
			c.AllowedOrigins = nil
		case keyCommand:
			c.Recognizer.Command = nil
		case keyPublicURL:
			c.PublicURLFrom = where
		case keyRecord:
			c.Conversations.RecordFrom = where
		case keySearches:
			c.Search.ConversationsFrom = where
		}
	}
	var problems []error
	for _, value := range values {
		if err := s.set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s %w", where, err))
		}
	}
	return problems
}

// maxConfigFile bounds the configuration file, in bytes.
const maxConfigFile = 1 << 20

func readFile(c *Config, src Sources) []error {
	b, err := cli.ReadAtMost(src.file, maxConfigFile+1)
	if errors.Is(err, fs.ErrNotExist) && !src.named {
		return nil
	}
	if len(b) > maxConfigFile {
		err = fmt.Errorf("%s is longer than %d bytes", src.file, maxConfigFile)
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
	for _, s := range settings(c) {
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
	var found kind
	texts := []string{fmt.Sprint(value)}
	switch v := value.(type) {
	case string:
		found = isText
	case bool:
		found = isBool
	case int64:
		found = isNumber
	case []any:
		found, texts = isList, nil
		for _, entry := range v {
			s, ok := entry.(string)
			if !ok {
				found = ""
			}
			texts = append(texts, s)
		}
	}
	if found != k {
		return nil, fmt.Errorf("has to be %s", k)
	}
	return texts, nil
}

func readEnvironment(env cli.Env, c *Config) []error {
	var problems []error
	for _, s := range settings(c) {
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
		if err := origins(&c.AllowedOrigins)("chrome-extension://" + id); err != nil {
			problems = append(problems, fmt.Errorf("ANVESHA_EXTENSION_ID %w", err))
		}
	}
	return problems
}

// unknownVariables finds PLEXUS_ names that nothing reads. They are not errors:
// the environment is shared with other programs.
func unknownVariables(env cli.Env) []string {
	known := []string{"PLEXUS_DATA_DIR", "PLEXUS_CONFIG", "PLEXUS_READY_FILE", "PLEXUS_OPEN_BROWSER", searchKeyVariable, modelKeyVariable, recognizerKeyVariable}
	for _, s := range settings(new(Config)) {
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

// secretVariables name the keys that may stand in the environment. The file of
// each can be named there too, by the setting's own variable.
const (
	searchKeyVariable     = "PLEXUS_SEARCH_API_KEY"
	modelKeyVariable      = "PLEXUS_MODEL_API_KEY"
	recognizerKeyVariable = "PLEXUS_RECOGNIZER_API_KEY"
)

// ReadSecrets reads the keys, from the environment or from the files that the settings
// name. Warnings are about who may read a file.
func ReadSecrets(env cli.Env, c *Config) (warnings []string, problems []error) {
	for _, one := range []struct {
		variable, key, file string
		secret              *admission.Secret
	}{
		{searchKeyVariable, "search.api_key_file", c.Search.KeyFile, &c.Search.Key},
		{modelKeyVariable, "model.api_key_file", c.Model.KeyFile, &c.Model.Key},
		{recognizerKeyVariable, "recognizer.api_key_file", c.Recognizer.KeyFile, &c.Recognizer.Key},
	} {
		value := env.Getenv(one.variable)
		switch {
		case value != "" && one.file != "":
			problems = append(problems, fmt.Errorf("%s is set, and a file with the key too: leave one of them out", one.variable))
		case value != "":
			key, err := secret.ParseLine([]byte(value))
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: the key cannot be used: %w", one.variable, err))
			}
			*one.secret = admission.NewSecret(key)
		case one.file != "":
			key, more, err := hostfiles.ReadSecret(one.file)
			warnings = append(warnings, more...)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", one.key, err))
			}
			*one.secret = key
		}
	}
	return warnings, problems
}
