package stories

import (
	"math"
	"time"

	"plexus/web"
)

func (b *book) overview() {
	l := b.layout(web.OverviewPlace)
	b.add("overview", web.OverviewPage(l, b.busy()))
	b.add("overview-new", web.OverviewPage(l, b.fresh()))
	waiting := b.fresh()
	waiting.Waiting = b.waiting()
	waiting.Found = []web.FoundModel{{Name: "llama3.2:latest", BaseURL: "http://127.0.0.1:11434/v1", Server: "Ollama"}}
	l.Waiting = len(waiting.Waiting)
	b.add("overview-waiting", web.OverviewPage(l, waiting))
	l.Waiting, l.Problem = 0, l.T.Broken
	b.add("overview-trouble", web.OverviewPage(l, b.trouble()))
	l.Problem = ""
	silent := b.busy() // it has a model, and nothing that hears
	silent.Recognizer = web.Service{Kind: "none", Reach: web.Off}
	silent.Model.Failures, silent.Model.LastFailure = 2, b.before(3*time.Minute)
	silent.Model.LastCause = "asking the model: model unavailable: the prompt is longer than the model's context: set limits.prompt_bytes lower, or give the model a longer context: status 400 (exceed_context_size_error): request (4390 tokens) exceeds the available context size (4096 tokens)"
	silent.DictationConfig = "[recognizer]\nkind = \"command\"\ncommand = [\"whisper-cli\", \"-m\", \"/path/to/model.bin\", \"-nt\", \"-f\"]"
	b.add("overview-no-dictation", web.OverviewPage(l, silent))
	quiet := b.fresh() // its models do not chat
	quiet.PassedOver = []web.PassedModel{
		{Name: "all-minilm:latest", Server: "Ollama", Cause: `status 400 (invalid_request_error): "all-minilm:latest" does not support chat`},
		{Name: "bge-m3:latest", Server: "Ollama", Cause: "status 501"},
	}
	quiet.MorePassedOver = 3
	b.add("overview-no-chat", web.OverviewPage(l, quiet))
}

// fresh is a host that has just been started for the first time.
func (b *book) fresh() web.Overview {
	return web.Overview{
		Version: "0.3.0", Started: b.before(90 * time.Second), DataDir: "~/.local/share/plexus", DatabaseBytes: 61_440,
		Search: web.Service{Kind: "local", Reach: web.BuiltIn},
		Model:  web.Service{Kind: "auto", Reach: web.NotFound},
		Index:  web.Index{Enabled: true},

		Recognizer: web.Service{Kind: "none", Reach: web.Off},
		Kept:       &web.Kept{Conversations: 2},
	}
}

func (b *book) busy() web.Overview {
	v := b.fresh()
	v.Started, v.DatabaseBytes = b.before(3*day+7*hour), 48_300_000
	v.Search = web.Service{Kind: "searxng", URL: "https://search.example.org", Reach: web.Reachable}
	v.Model = web.Service{Kind: "openai", Name: "llama3.2", URL: "http://127.0.0.1:11434/v1", Reach: web.Reachable, Fixed: "model.name in config.toml"}
	v.Recognizer = web.Service{Kind: "command", Name: "whisper-cli", Reach: web.Reachable}
	v.Index = web.Index{Enabled: true, Pages: 1284, Bytes: 21_600_000}
	v.Address = web.Address{URL: "wss://box.tail1234.ts.net"}
	v.Kept = &web.Kept{Conversations: 214, Topics: 198, Messages: 1530, MessageBytes: 2_400_000}
	v.Extensions, v.Phone, v.Steps = 2, "Ann’s phone", web.Steps{Extension: true, Phone: true}
	v.Answered, v.Canceled, v.Refused = 412, 17, 1
	v.FirstResult = web.Latency{Count: 256, P50: 310 * time.Millisecond, P99: 1900 * time.Millisecond}
	v.Answer = web.Latency{Count: 256, P50: 2400 * time.Millisecond, P99: 9700 * time.Millisecond, Recent: wave(60)}
	v.Refusals = b.refusals()[:2]
	return v
}

func (b *book) trouble() web.Overview {
	v := b.busy()
	v.Search.Reach, v.Search.Problem = web.Unreachable, "connection refused"
	v.Search.Failures, v.Search.LastFailure, v.Search.LastCause = 3, b.before(4*time.Minute), "search unavailable: dial tcp: connection refused"
	v.Model = web.Service{Kind: "none", Reach: web.Off, Fixed: "--model-kind"}
	v.Recognizer = web.Service{Kind: "openai", Name: "whisper-1", URL: "http://127.0.0.1:8000/v1", Reach: web.Unreachable, Problem: "no text came in time"}
	v.Unstored = 3
	v.Index = web.Index{}
	v.Address.Warning = "Nothing answers at this address."
	v.Paused, v.Phone, v.Extensions = true, "", 0
	v.Answer, v.FirstResult = web.Latency{}, web.Latency{}
	v.Refusals, v.Kept = nil, nil
	return v
}

// wave makes n plausible durations.
func wave(n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(2400+1700*math.Sin(float64(i)/3)+float64(i*137%900)) * time.Millisecond
	}
	return out
}

const (
	chromeOrigin  = "chrome-extension://joodhdobialhnfopbcpkalkibgpkdnad"
	firefoxOrigin = "moz-extension://9a1f6c0e-5f0a-4e0a-9a53-2f0b8a1c7d11"
)

func (b *book) waiting() []web.Extension {
	return []web.Extension{
		{ID: 4, Origin: chromeOrigin, Digits: "0427", State: web.ExtensionWaiting, FirstSeen: b.before(2 * time.Minute), LastSeen: b.before(4 * time.Second)},
	}
}

func (b *book) extensions() {
	l := b.layout(web.ExtensionsPlace)
	l.Waiting, l.Notice = 1, l.T.Notices["removed"]
	list := append(b.waiting(),
		web.Extension{ID: 1, Origin: chromeOrigin, Digits: "8136", State: web.ExtensionAllowed, FirstSeen: b.before(20 * day), LastSeen: b.before(3 * time.Minute)},
		web.Extension{ID: 2, Origin: firefoxOrigin, State: web.ExtensionByToken, FirstSeen: b.before(9 * day), LastSeen: b.before(26 * hour)},
		web.Extension{ID: 3, Origin: "safari-web-extension://5E2B0C1A-1111-2222-3333-444455556666", Digits: "5501", State: web.ExtensionBlocked, FirstSeen: b.before(61 * day), LastSeen: b.before(45 * day)},
	)
	b.add("extensions", web.ExtensionsPage(l, web.Extensions{Extensions: list}))
	b.add("extensions-empty", web.ExtensionsPage(b.layout(web.ExtensionsPlace), web.Extensions{}))
}

func (b *book) refusals() []web.Refusal {
	return []web.Refusal{
		{Cause: "web_origin", Peer: "https://evil.example", Advice: "A web page tried to connect; web pages are never let in.", Count: 38, First: b.before(2 * day), Last: b.before(6 * time.Minute)},
		{Cause: "phone_busy", Peer: "Ann’s phone (2)", Advice: "Another phone is connected.", Count: 3, First: b.before(hour), Last: b.before(2 * hour)},
		{Cause: "no_token", Advice: "A program tried to connect without the right host token; `plexus token path` says where the token is.", Count: 1, First: b.before(5 * hour), Last: b.before(5 * hour)},
		{Cause: "key_waiting", Peer: chromeOrigin, Advice: "An extension is waiting for you: compare its four digits, then allow it.", Count: 12, First: b.before(hour), Last: b.before(hour)},
		{Cause: "code_spent", Peer: "<script>alert(1)</script>", Advice: "A code was used a second time; make a new one.", Count: 2, First: b.before(day), Last: b.before(day)},
	}
}
