package app

import (
	"runtime"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/domain/admission"
	"plexus/domain/answers"
	"plexus/domain/usecases/ask"
	"plexus/ports"
)

// hostedGenerations is the default against a model on another machine.
const hostedGenerations = 8

// newQuestions builds who answers. What is asked goes to keep.
func (p *process) newQuestions(keep ports.AnswerRecorder) (*ask.Service, error) {
	cfg := p.opts.Config
	deps := ask.Deps{Search: p.services.Search, Model: p.services.Model, Recorder: keep, Now: time.Now, Log: p.log}
	if cfg.UsesIndex() {
		deps.Index = p.store.Pages()
	}
	generations := cfg.Limits.Generations
	if generations == 0 && p.services.Model != nil && !p.services.IsLocal {
		generations = hostedGenerations
	}
	return ask.New(deps, ask.Options{
		Language: answers.Language(cfg.Language), NoAnswers: cfg.Model.Kind == "none", IndexShared: cfg.Index.Shared,
		MaxSearches: cfg.Limits.Searches, MaxGenerations: generations, MaxPrompt: cfg.Limits.Prompt,
	})
}

// nerveServers are the servers of NERVE on the listeners that are open.
func (p *process) nerveServers() []server {
	cfg, l := p.opts.Config.Limits, p.listeners
	ws := nervews.Config{MaxConnections: cfg.Connections, MaxHandshakes: cfg.Handshakes, Log: p.log}
	if runtime.GOOS == "linux" {
		ws.PeerIsOurs = hostfiles.TCPPeerIsOurs // elsewhere nobody can tell
	}
	web := nervews.New(p.questions, p.browsers, ws)
	servers := []server{{"NERVE WebSocket", l.nerve, web.Serve, web.Shutdown}}
	if l.nerveSocket != nil {
		l.nerveSocket.OnRefused = func() { p.browsers.Refuse(admission.ForeignUser, "") }
		unix := nerveuds.New(p.questions, p.browsers, nerveuds.Config{MaxConnections: cfg.Connections, Log: p.log})
		servers = append(servers, server{"NERVE socket", l.nerveSocket, unix.Serve, unix.Shutdown})
	}
	return servers
}
