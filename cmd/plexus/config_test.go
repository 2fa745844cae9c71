package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"plexus/cmd/plexus/cli"
)

// load reads one configuration file under an environment and flags.
func load(t *testing.T, file string, environ []string, flags map[string][]string) (config, []string, error) {
	t.Helper()
	dir, base := home(t)
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	environ = append(base, environ...)
	return loadConfig(cli.Env{Environ: environ}, sources{file: path, named: true, flags: flags, dataDir: dir})
}

func TestConfig_DefaultsWithNothing(t *testing.T) {
	c, warnings, err := load(t, "", nil, nil)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("%v, %v", warnings, err)
	}
	if c.nerveAddr.String() != "127.0.0.1:9001" || c.clientAddr.String() != "127.0.0.1:18787" || c.publicURL != "" || c.searchKind != "local" || c.modelKind != "auto" || !c.indexEnabled ||
		c.language != "en" || c.logLevel != "info" || !strings.HasSuffix(c.nerveTokenFile, "/.anvesha/token") {
		t.Errorf("got %+v", c)
	}
}

func TestConfig_FlagOverEnvironmentOverFile(t *testing.T) {
	const file = "[listen]\nnerve = \"127.0.0.1:1\"\n[log]\nlevel = \"warn\"\nformat = \"json\"\n[nerve]\nallowed_origins = [\"chrome-extension://file\"]\n"
	environ := []string{"PLEXUS_NERVE_ADDR=127.0.0.1:2", "PLEXUS_LOG_LEVEL=error", "PLEXUS_ALLOW_ORIGIN=moz-extension://a,moz-extension://b", "ANVESHA_EXTENSION_ID=env"}
	c, _, err := load(t, file, environ, map[string][]string{"nerve-addr": {"[::1]:3"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"moz-extension://a", "moz-extension://b", "chrome-extension://env"}
	if c.nerveAddr.String() != "[::1]:3" || c.logLevel != "error" || c.logFormat != "json" || !slices.Equal(c.allowedOrigins, want) {
		t.Errorf("got %+v", c)
	}
}

func TestConfig_EveryKey(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := load(t, `
language = "zh-CN"
public_url = "wss://Box.example:8443"
[listen]
nerve = "127.0.0.1:0"
client = "[::1]:0"
nerve_socket = "/r/n.sock"
nerve_token_file = "/r/token"
[log]
format = "json"
level = "debug"
[nerve]
allowed_origins = ["chrome-extension://a"]
[search]
kind = "anvesha"
url = "https://search.example.org"
api_key_file = "`+key+`"
[index]
enabled = false
shared = true
[model]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
name = "llama3.2"
api_key_file = "`+key+`"
allow_plain_http = true
[recognizer]
kind = "openai"
base_url = "https://speech.example.org/v1"
name = "whisper-1"
api_key_file = "`+key+`"
allow_plain_http = true
[conversations]
record_browser = false
topics = 7
topic_days = 8
[limits]
nerve_connections = 1
nerve_handshakes = 2
client_connections = 7
searches = 3
generations = 4
prompt_bytes = 6144
search_connect = "1s"
search_total = "2s"
model_first_byte = "3s"
model_between_bytes = "4s"
model_total = "5s"
[pairing]
legacy_expiry = true
remote_admin = true
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := limits{1, 2, 7, 3, 4, 6144, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}
	if c.limits != want || c.searchKey.Reveal() != "k-1" || c.modelKey.Reveal() != "k-1" || c.indexEnabled || !c.indexShared ||
		!c.modelPlainHTTP || c.modelName != "llama3.2" || c.nerveSocket != "/r/n.sock" || c.language != "zh-CN" ||
		c.publicURL != "wss://box.example:8443/client/v1" || c.clientAddr.String() != "[::1]:0" || !c.legacyExpiry || !c.remoteAdmin {
		t.Errorf("got %+v", c)
	}
	if r := c.recognizer; r.kind != "openai" || r.url != "https://speech.example.org/v1" || r.name != "whisper-1" || r.key.Reveal() != "k-1" ||
		!r.plainHTTP || c.recordBrowser || c.recordFrom == "" || c.topics != 7 || c.topicDays != 8 {
		t.Errorf("got %+v", c)
	}
	for _, s := range settings() {
		if s.kind == "" || s.env() == "" || s.flag != "" && s.about == "" {
			t.Errorf("%s is not described", s.key)
		}
	}
}

// The page that describes the configuration knows every key and no other, and
// every variable that belongs to a flag.
func TestConfig_DocumentationIsComplete(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	_, block, _ := strings.Cut(doc, "```toml\n")
	block, _, _ = strings.Cut(block, "```")
	var tree map[string]any
	if err := toml.Unmarshal([]byte(block), &tree); err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]any)
	flatten(documented, "", tree)
	for _, s := range settings() {
		if _, ok := documented[s.key]; !ok {
			t.Errorf("%s is not documented", s.key)
		}
		delete(documented, s.key)
		if s.flag != "" && (!strings.Contains(doc, "`--"+s.flag+" ") || !strings.Contains(doc, "`"+s.env()+"`")) {
			t.Errorf("--%s or %s is not documented", s.flag, s.env())
		}
	}
	for key := range documented {
		t.Errorf("%s is documented and does not exist", key)
	}
}

func TestConfig_AllFaultsAtOnce(t *testing.T) {
	_, _, err := load(t, `
language = "fr"
public_url = "ws://phone.example"
[listen]
nerve = "192.168.1.7:9001"
client = "0.0.0.0:18787"
phone = "127.0.0.1:9010"
nerve_socket = "n.sock"
[nerve]
allowed_origins = ["http://a.example"]
[search]
kind = "bing"
url = 7
[index]
enabled = "yes"
[limits]
searches = 0
search_total = "soon"
[pairing]
remote_admin = 1
`, []string{"PLEXUS_LOG_LEVEL=loud", "PLEXUS_MODEL_API_KEY=two words"}, map[string][]string{"nerve-addr": {"9001"}})
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"language", "public_url cannot be used: server address: scheme", "listen.nerve is", "listen.client is", "no setting listen.phone", "listen.nerve_socket", "nerve.allowed_origins",
		"search.kind is", "search.url has to be a text", "index.enabled has to be true or false", "limits.searches", "limits.search_total",
		"pairing.remote_admin has to be true or false", "PLEXUS_LOG_LEVEL", "PLEXUS_MODEL_API_KEY", "--nerve-addr",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "two words") {
		t.Error("the error repeats a key")
	}
}

func TestConfig_ServeListsFaultsOfServicesToo(t *testing.T) {
	dir, environ := home(t)
	path := filepath.Join(dir, "c.toml")
	const file = "language = \"fr\"\n[search]\nkind = \"anvesha\"\nurl = \"ftp://a.example\"\n[model]\nkind = \"openai\"\nbase_url = \"http://gpu.example/v1\"\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got := plexus(t.Context(), environ, "serve", "--config", path)
	if got.code != exitUsage {
		t.Errorf("exit code %d", got.code)
	}
	for _, want := range []string{"language", "search.url", "allow_plain_http", "name is missing"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("nothing about %s in:\n%s", want, got.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Error("a bad configuration made a data directory")
	}
}

func TestConfig_SettingsThatWouldDoNothing(t *testing.T) {
	for name, file := range map[string]string{
		"search.url without a kind":      "[search]\nurl = \"https://s.example\"\n",
		"no index for the local search":  "[index]\nenabled = false\n",
		"model.name without a kind":      "[model]\nname = \"llama\"\n",
		"model.base_url of extractive":   "[model]\nkind = \"extractive\"\nbase_url = \"http://127.0.0.1:1/v1\"\n",
		"half a table":                   "[search\n",
		"an array in place of a text":    "language = [\"en\"]\n",
		"a table in place of a value":    "[search.kind]\nx = 1\n",
		"a fraction in place of a count": "[limits]\nsearches = 1.5\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := load(t, file, nil, nil); err == nil {
				t.Error("taken")
			}
		})
	}
}

func TestConfig_FileThatIsNone(t *testing.T) {
	if _, _, err := load(t, strings.Repeat("#", maxConfigFile+1), nil, nil); err == nil || !strings.Contains(err.Error(), "config.toml is longer than") {
		t.Errorf("a file without end: %v", err)
	}
	for _, where := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, problems := readSettings(cli.Env{}, sources{file: where, named: true}); len(problems) == 0 || !strings.Contains(problems[0].Error(), where) {
			t.Errorf("%s: %v", where, problems)
		}
	}
}

func TestConfig_NoHomeSaysWhichFlagHelps(t *testing.T) {
	for _, tc := range []struct{ environ, want string }{
		{"", "--data-dir"},
		{"PLEXUS_DATA_DIR=/d", "--config"},
		{"PLEXUS_DATA_DIR=/d PLEXUS_CONFIG=" + os.DevNull, "--nerve-token-file"},
	} {
		got := plexus(t.Context(), strings.Fields(tc.environ), "serve")
		if got.code == exitDone || !strings.Contains(got.stderr, "no home directory: set HOME, or name the") || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%q: code %d, %s", tc.environ, got.code, got.stderr)
		}
	}
}

func TestConfig_Secrets(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("from-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	const file = "[search]\nkind = \"brave\"\n"
	for _, tc := range []struct {
		name    string
		environ []string
		want    string
		fails   bool
	}{
		{"environment", []string{"PLEXUS_SEARCH_API_KEY=from-env"}, "from-env", false},
		{"file named by the environment", []string{"PLEXUS_SEARCH_API_KEY_FILE=" + key}, "from-file", false},
		{"both", []string{"PLEXUS_SEARCH_API_KEY=from-env", "PLEXUS_SEARCH_API_KEY_FILE=" + key}, "", true},
		{"missing file", []string{"PLEXUS_SEARCH_API_KEY_FILE=" + key + "2"}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _, err := load(t, file, tc.environ, nil)
			if (err != nil) != tc.fails || !tc.fails && c.searchKey.Reveal() != tc.want {
				t.Errorf("got %q, %v", c.searchKey.Reveal(), err)
			}
			if err != nil && strings.Contains(err.Error(), "from-env") {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
	if _, _, err := load(t, "[search]\nkind = \"brave\"\napi_key = \"inline\"\n", nil, nil); err == nil || strings.Contains(err.Error(), "inline") {
		t.Errorf("a key in the file: %v", err)
	}
	if _, warnings, err := load(t, "", []string{"PLEXUS_SERCH_URL=x"}, nil); err != nil || len(warnings) != 1 {
		t.Errorf("a misspelt variable: %v, %v", warnings, err)
	}
}

func TestConfig_Language(t *testing.T) {
	for environ, want := range map[string]string{
		"": "zh-CN", "LANG=C": "zh-CN", "LANG=POSIX": "zh-CN", "LANG=zh_TW.UTF-8": "zh-CN", "LANG=en_US.UTF-8": "en", "LANG=de_DE": "en",
		"PROMPT_LANGUAGE=zh-CN LANG=en_US": "zh-CN", "LC_ALL=en_GB LANG=zh_CN": "en",
	} {
		if got := defaultLanguage(cli.Env{Environ: strings.Fields(environ)}); got != want {
			t.Errorf("%q: %s, want %s", environ, got, want)
		}
	}
}

// The second net: nothing secret is meant to get this far.
func TestLogger_Redacts(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := newLogger(&out, format, "debug")
		log.Debug("offered anvesha-v1."+secret, "token", "tok-1", slog.Group("g", "question", "when?"),
			"header", "Bearer key-1", "error", os.ErrNotExist, "list", []string{secret}, "count", 3, "lasted", 3*time.Second)
		got := out.String()
		for _, bad := range []string{secret, "tok-1", "when?", "key-1"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: %q in %s", format, bad, got)
			}
		}
		if !strings.Contains(got, "file does not exist") || !strings.Contains(got, "3") || !strings.Contains(got, "3s") {
			t.Errorf("%s: too much is gone: %s", format, got)
		}
		out.Reset()
		newLogger(&out, format, "warn").Info("quiet")
		if out.Len() != 0 {
			t.Errorf("%s: the level is ignored", format)
		}
	}
}
