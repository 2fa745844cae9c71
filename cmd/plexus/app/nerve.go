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
	"plexus/domain/usecases/browsers"
	"plexus/ports"
)

// hostedGenerations is the default against a model on another machine.
const hostedGenerations = 8

// nerveHost is what the NERVE listeners need: who answers, and who may ask.
type nerveHost struct {
	*ask.Service
	*browsers.Registry
}

func (p *process) newNerveHost(keep ports.AnswerRecorder) (h nerveHost, err error) {
	cfg := p.opts.Config
	deps := ask.Deps{Search: p.services.Search, Model: p.services.Model, Recorder: keep, Now: time.Now, Log: p.log}
	if cfg.UsesIndex() {
		deps.Index = p.store.Pages()
	}
	generations := cfg.Limits.Generations
	if generations == 0 && p.services.Model != nil && !p.services.IsLocal {
		generations = hostedGenerations
	}
	h.Service, err = ask.New(deps, ask.Options{
		Language: answers.Language(cfg.Language), NoAnswers: cfg.Model.Kind == "none", IndexShared: cfg.Index.Shared,
		MaxSearches: cfg.Limits.Searches, MaxGenerations: generations, MaxPrompt: cfg.Limits.Prompt,
	})
	if err != nil {
		return h, err
	}
	h.Registry, err = browsers.New(
		browsers.Deps{Extensions: p.store.Extensions(), Token: p.store.token.Token, Now: time.Now, Log: p.log},
		browsers.Options{AllowedOrigins: cfg.AllowedOrigins, TokenHash: p.store.token.Token.Secret().Hash()})
	return h, err
}

// nerveServers are the servers of NERVE on the listeners that are open.
func (p *process) nerveServers() []server {
	cfg, l := p.opts.Config.Limits, p.listeners
	ws := nervews.Config{MaxConnections: cfg.Connections, MaxHandshakes: cfg.Handshakes, Log: p.log}
	if runtime.GOOS == "linux" {
		ws.PeerIsOurs = hostfiles.TCPPeerIsOurs // elsewhere nobody can tell
	}
	web := nervews.New(p.nerve.Service, p.nerve.Registry, ws)
	servers := []server{{"NERVE WebSocket", l.nerve, web.Serve, web.Shutdown}}
	if l.nerveSocket != nil {
		l.nerveSocket.OnRefused = func() { p.nerve.Refuse(admission.ForeignUser, "") }
		unix := nerveuds.New(p.nerve.Service, p.nerve.Registry, nerveuds.Config{MaxConnections: cfg.Connections, Log: p.log})
		servers = append(servers, server{"NERVE socket", l.nerveSocket, unix.Serve, unix.Shutdown})
	}
	return servers
}
