package outbound

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSaid_TellsWhatServicesSay(t *testing.T) {
	const page = "A page: the request of Anna Example for a larger context: her diagnosis is diabetes, her PIN 48213. 她的密码是开门见山。"
	for message, want := range map[string]string{
		"request (4390 tokens) exceeds the available context size (4096 tokens)":                   "request (4390 tokens) exceeds the available context size (4096 tokens)",
		"This model's maximum context length is 4096 tokens. However, your messages resulted in 9": "This model's maximum context length is 4096 tokens. However, your messages resulted in 9",
		"404 page not found":                             "404 page not found",
		`model "llama3" not found, try pulling it first`: `model "llama3" not found, try pulling it first`,
		`"all-minilm:latest" does not support chat`:      `"all-minilm:latest" does not support chat`,
		"the prompt\tis too\r\n\x1b[2Jlong\u202e":        `the prompt is too \x1b[2Jlong\u202e`,
		"上下文长度超出限制":                                      "上下文长度超出限制",
		"":                                               "",
		" \n ":                                           "",
		"\xff\xfe!":                                      "",
	} {
		if got := Said(message, "", page); got != want {
			t.Errorf("%q gives %q; want %q", message, got, want)
		}
	}
}

// What a service was sent, and what only its keeper may know, is not in what it says.
func TestSaid_RepeatsNothing(t *testing.T) {
	const key = "k-9f8e7d6c5b4a"
	const sent = "What does Anna Example's diagnosis of diabetes mean? PIN 48213. 她的密码是开门见山。 Größe"
	secrets := []string{"Anna", "Example", "diagnos", "diabet", "48213", "密码是", "开门见山", "Größe", "GRÖSSE",
		"9f8e7d", "5b4a", "hunter2", "QWxhZGRpbg", "sk-proj-abc", "AIzaSyD"}
	for _, message := range []string{
		"cannot answer 'What does ANNA example's diagnosis of diabetes mean?'",
		`parse error: last read: '{"content":"What does Anna Exam'`,
		"[{'type':'x','input':'diabetes'}]",
		"flagged: iabete",
		"flagged: 48213!",
		"内容不合规：她的密码是开门见山",
		"开门见",
		"refused: Größe GRÖßE",
		"Incorrect API key provided: " + key + ". You can find yours at home.",
		"Incorrect API key provided: k-9f8e7d****",
		"bad header Authorization: Bearer " + key,
		"bad header authorization=hunter2",
		"Bearer hunter2 is unknown",
		"Basic QWxhZGRpbg== is unknown",
		"cannot reach http://anna:hunter2@10.0.0.1/v1",
		`{"api_key": "hunter2"}`,
		"the password is hunter2",
		"upstream refused sk-proj-abc123def",
		"upstream refused AIzaSyD-abc_123456",
		// As programs write texts that they repeat: with escapes, and percent signs.
		`input 'So:\nAnna and\tDiabetes\r\n48213'`,
		`{"content": "\u5979\u7684\u5bc6\u7801\u662f\u5f00\u95e8"}`,
		`last read: '{\"content\": \"Gr\\u00f6\\u00dfe \\u5f00\\u95e8\\u89c1\\u5c71\"}'`,
		`b'\xe5\xaf\x86\xe7\xa0\x81\xe6\x98\xaf Gr\xc3\xb6\xc3\x9fe'`,
		"GET /v1/x?q=Anna%20Example%20%E5%BC%80%E9%97%A8%E8%A7%81%E5%B1%B1",
	} {
		got := Said(message, key, sent)
		for _, secret := range append(secrets, "5979", "5f00", "xe5", "E5%", "u00f6", "xc3") {
			if strings.Contains(strings.ToLower(got), strings.ToLower(secret)) {
				t.Errorf("%q gives %q, which holds %q", message, got, secret)
			}
		}
	}
}

func TestSaid_IsBounded(t *testing.T) {
	for _, long := range []string{strings.Repeat("too long ", 1<<17), strings.Repeat("x", 1<<20), strings.Repeat("长", 1<<20), strings.Repeat("a b ", 1<<18)} {
		got := Said(long, "", strings.Repeat("question ", 1<<17))
		if len(got) > maxSaid || !utf8.ValidString(got) || got == "" {
			t.Errorf("%d bytes: %.40q…", len(got), got)
		}
	}
}

func FuzzSaid(f *testing.F) {
	f.Add("cannot answer: the question of Anna", "sk-1234567890", "the question of Anna Example")
	f.Fuzz(func(t *testing.T, message, key, sent string) {
		got := Said(message, key, sent)
		if len(got) > maxSaid || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\u202e") {
			t.Errorf("%q", got)
		}
		if len(key) >= keyPart && !strings.ContainsAny(key, " \t\r\n\v\f\u0085\u00a0[…]") && utf8.ValidString(key) && strings.Contains(got, key) {
			t.Errorf("%q holds the key", got)
		}
	})
}
