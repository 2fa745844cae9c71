package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestStorybookServesUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"-addr", "127.0.0.1:0"}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(strings.TrimSpace(line) + "story/devices")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "Devices") {
		t.Errorf("status %d, %v", answer.StatusCode, err)
	}
	_ = answer.Body.Close()
	stop()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}

func TestStorybookStaysOnThisMachine(t *testing.T) {
	for _, args := range [][]string{{"-addr", "0.0.0.0:0"}, {"-addr", "nowhere"}, {"-x"}} {
		var errs strings.Builder
		if got := run(t.Context(), args, io.Discard, &errs); got == 0 || errs.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, got, errs.String())
		}
	}
}
