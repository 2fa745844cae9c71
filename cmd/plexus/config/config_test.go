package config

import (
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
func load(t *testing.T, file string, environ []string, flags map[string][]string) (Config, []string, error) {
	t.Helper()
	dir := t.TempDir()
	base := []string{"HOME=" + dir, "LANG=en_GB.UTF-8", "PLEXUS_DATA_DIR=" + filepath.Join(dir, "data")}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	environ = append(base, environ...)
	return Load(cli.Env{Environ: environ}, Sources{file: path, named: true, flags: flags, dataDir: dir})
}

func TestConfig_DefaultsWithNothing(t *testing.T) {
	c, warnings, err := load(t, "", nil, nil)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("%v, %v", warnings, err)
	}
	if c.Listen.Nerve.String() != "127.0.0.1:9001" || c.Listen.Client.String() != "127.0.0.1:18787" || c.PublicURL != "" || c.Search.Kind != "local" || c.Model.Kind != "auto" || !c.Index.Enabled ||
		c.Language != "en" || c.Log.Level != "info" || !strings.HasSuffix(c.Listen.NerveTokenFile, "/.anvesha/token") {
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
	if c.Listen.Nerve.String() != "[::1]:3" || c.Log.Level != "error" || c.Log.Format != "json" || !slices.Equal(c.AllowedOrigins, want) {
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
page_connections = 9
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
	want := Limits{1, 2, 7, 9, 3, 4, 6144, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}
	if c.Limits != want || c.Search.Key.Reveal() != "k-1" || c.Model.Key.Reveal() != "k-1" || c.Index.Enabled || !c.Index.Shared ||
		!c.Model.PlainHTTP || c.Model.Name != "llama3.2" || c.Listen.NerveSocket != "/r/n.sock" || c.Language != "zh-CN" ||
		c.PublicURL != "wss://box.example:8443/client/v1" || c.Listen.Client.String() != "[::1]:0" || !c.Pairing.LegacyExpiry || !c.Pairing.RemoteAdmin {
		t.Errorf("got %+v", c)
	}
	if r := c.Recognizer; r.Kind != "openai" || r.BaseURL != "https://speech.example.org/v1" || r.Name != "whisper-1" || r.Key.Reveal() != "k-1" ||
		!r.PlainHTTP || c.Conversations.RecordBrowser || c.Conversations.RecordFrom == "" || c.Conversations.Topics != 7 || c.Conversations.TopicDays != 8 {
		t.Errorf("got %+v", c)
	}
	for _, s := range settings(new(Config)) {
		if s.kind == "" || s.env() == "" || s.flag != "" && s.about == "" {
			t.Errorf("%s is not described", s.key)
		}
	}
}

// The page that describes the configuration knows every key and no other, and
// every variable that belongs to a flag.
func TestConfig_DocumentationIsComplete(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "configuration.md"))
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
	for _, s := range settings(new(Config)) {
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

// A blank that came along with an address is no part of it.
func TestConfig_BlanksAroundAnAddress(t *testing.T) {
	c, _, err := load(t, "[search]\nkind = \"anvesha\"\nurl = \" https://search.example.org\\t\"\n"+
		"[model]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:11434/v1 \"\nname = \" llama3.2\"\n", nil, nil)
	if err != nil || c.Search.URL != "https://search.example.org" || c.Model.BaseURL != "http://127.0.0.1:11434/v1" || c.Model.Name != "llama3.2" {
		t.Errorf("got %+v, %+v, %v", c.Search, c.Model, err)
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
		if _, problems := readSettings(cli.Env{}, Sources{file: where, named: true}); len(problems) == 0 || !strings.Contains(problems[0].Error(), where) {
			t.Errorf("%s: %v", where, problems)
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
		{"environment as copied", []string{"PLEXUS_SEARCH_API_KEY=\ufeff Bearer from-env\r\n"}, "from-env", false},
		{"environment with blanks alone", []string{"PLEXUS_SEARCH_API_KEY= "}, "", true},
		{"both", []string{"PLEXUS_SEARCH_API_KEY=from-env", "PLEXUS_SEARCH_API_KEY_FILE=" + key}, "", true},
		{"missing file", []string{"PLEXUS_SEARCH_API_KEY_FILE=" + key + "2"}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _, err := load(t, file, tc.environ, nil)
			if (err != nil) != tc.fails || !tc.fails && c.Search.Key.Reveal() != tc.want {
				t.Errorf("got %q, %v", c.Search.Key.Reveal(), err)
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

func TestG16_Language(t *testing.T) {
	for _, tc := range []struct{ file, environ, own, phones string }{
		{"", "LANG=", "en", "zh-CN"},
		{"", "LANG=C", "en", "zh-CN"},
		{"", "LANG=C.UTF-8", "en", "zh-CN"},
		{"", "LANG=POSIX", "en", "zh-CN"},
		{"", "LANG=c.utf8", "en", "zh-CN"},
		{"", "LANG=C@x", "en", "zh-CN"},
		{"", "LC_ALL=zh_CN LC_MESSAGES=en_US", "zh-CN", "zh-CN"},
		{"", "LC_MESSAGES=zh_CN.UTF-8 LANG=en_US", "zh-CN", "zh-CN"},
		{"", "LC_MESSAGES=C LANG=zh_CN", "en", "zh-CN"},
		{"", "LC_ALL=C LANG=de_DE", "en", "zh-CN"},
		{"", "LANG=zh_TW.UTF-8", "zh-CN", "zh-CN"},
		{"", "LANG=en_US.UTF-8", "en", "en"},
		{"", "LANG=de_DE", "en", "en"},
		{"", "PROMPT_LANGUAGE=zh-CN LANG=en_US", "zh-CN", "zh-CN"},
		{"", "LC_ALL=en_GB LANG=zh_CN", "en", "en"},
		{`language = "en"`, "PROMPT_LANGUAGE=zh-CN", "en", "en"},
		{`language = "zh-CN"`, "LANG=en_US.UTF-8", "zh-CN", "zh-CN"},
	} {
		c, _, err := load(t, tc.file, strings.Fields(tc.environ), nil)
		if err != nil || c.OwnLanguage() != tc.own || c.PhoneLanguage() != tc.phones {
			t.Errorf("%+v: %s and %s, %v", tc, c.OwnLanguage(), c.PhoneLanguage(), err)
		}
	}
}

func TestConfig_SpeechDefaults(t *testing.T) {
	c, _, err := load(t, "", nil, nil)
	if err != nil || c.Recognizer.Kind != "none" || !c.Conversations.RecordBrowser || c.Conversations.RecordFrom != "" || c.Conversations.Topics != 5000 || c.Conversations.TopicDays != 365 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// What is said in conversations goes to a search service only if the owner says so,
// and there is one.
func TestConfig_ConversationsAreSearchedForOnlyWhenThatIsSet(t *testing.T) {
	const service = "[search]\nkind = \"searxng\"\nurl = \"http://127.0.0.1:8080\"\n"
	c, _, err := load(t, service, nil, nil)
	if err != nil || c.Search.Conversations || c.Search.ConversationsFrom != "" {
		t.Errorf("not set: %+v, %v", c.Search, err)
	}
	for _, on := range []bool{true, false} {
		c, _, err = load(t, service+map[bool]string{true: "conversations = true\n", false: "conversations = false\n"}[on], nil, nil)
		if err != nil || c.Search.Conversations != on || !strings.HasSuffix(c.Search.ConversationsFrom, "search.conversations") {
			t.Errorf("set to %v: %+v, %v", on, c.Search, err)
		}
	}
	if _, _, err := load(t, "[search]\nconversations = true\n", nil, nil); err == nil || !strings.Contains(err.Error(), "search.conversations") {
		t.Errorf("without a service: %v", err)
	}
}

func TestConfig_RecognizerCommand(t *testing.T) {
	const file = "[recognizer]\nkind = \"command\"\ncommand = [\"whisper-cli\", \"-l\", \"a b\"]\n"
	origins := []string{"PLEXUS_ALLOW_ORIGIN=chrome-extension://a"}
	c, _, err := load(t, file, origins, nil)
	if want := []string{"whisper-cli", "-l", "a b"}; err != nil || !slices.Equal(c.Recognizer.Command, want) || len(c.AllowedOrigins) != 1 {
		t.Errorf("got %q, %q, %v", c.Recognizer.Command, c.AllowedOrigins, err)
	}
	c, _, err = load(t, file, append(origins, "PLEXUS_RECOGNIZER_COMMAND=listen --words a,b"), nil)
	if want := []string{"listen", "--words", "a,b"}; err != nil || !slices.Equal(c.Recognizer.Command, want) {
		t.Errorf("got %q, %v", c.Recognizer.Command, err)
	}
}

func TestConfig_RecognizerKey(t *testing.T) {
	const file = "[recognizer]\nkind = \"openai\"\nbase_url = \"https://s.example/v1\"\nname = \"w\"\n"
	c, warnings, err := load(t, file, []string{"PLEXUS_RECOGNIZER_API_KEY=from-env"}, nil)
	if err != nil || len(warnings) != 0 || c.Recognizer.Key.Reveal() != "from-env" {
		t.Errorf("got %q, %v, %v", c.Recognizer.Key.Reveal(), warnings, err)
	}
	if _, _, err := load(t, file+"api_key = \"inline\"\n", nil, nil); err == nil || strings.Contains(err.Error(), "inline") {
		t.Errorf("a key in the file: %v", err)
	}
}

func TestConfig_SpeechFaultsAllAtOnce(t *testing.T) {
	_, _, err := load(t, `
[recognizer]
kind = "whisper"
name = "w"
command = "whisper-cli"
model = "m"
allow_plain_http = 1
[conversations]
record_browser = "yes"
topics = 0
topic_days = 1.5
`, []string{"PLEXUS_RECOGNIZER_API_KEY=two words", "PLEXUS_CONVERSATIONS_TOPIC_DAYS=x"}, nil)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"recognizer.kind is", "recognizer.name or a recognizer key", "recognizer.command has to be a list of texts", "no setting recognizer.model",
		"recognizer.allow_plain_http has to be", "conversations.record_browser has to be", "conversations.topics is", "conversations.topic_days has to be",
		"PLEXUS_RECOGNIZER_API_KEY", "PLEXUS_CONVERSATIONS_TOPIC_DAYS",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "two words") {
		t.Error("the error repeats a key")
	}
	if _, _, err := load(t, "[recognizer]\ncommand = [\"w\"]\n", nil, nil); err == nil || !strings.Contains(err.Error(), "set it to command") {
		t.Errorf("a command without its kind: %v", err)
	}
}
