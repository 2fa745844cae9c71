package doctor

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/hostclient"
	"plexus/cmd/plexus/services"
	"plexus/cmd/plexus/status"
	"plexus/domain/pairing"
)

// NewSubject gathers what is known of the host: from itself where it runs, else from
// the configuration.
func NewSubject(ctx context.Context, env cli.Env, dir, configPath string) (Subject, error) {
	cfg, err := config.Read(env, dir, configPath, nil)
	if err != nil {
		return Subject{}, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	database := in(hostfiles.DatabaseName)
	s := Subject{
		Directory: dir, Database: database, Now: env.Now,
		Private: []string{
			database, database + "-wal", database + "-shm", in(hostfiles.MasterTokenName), in(hostfiles.RevokedName),
			in(hostfiles.RunName), cfg.Listen.NerveTokenFile,
		},
		TokenFile: cfg.Listen.NerveTokenFile,
		Client:    cfg.Listen.Client, Local: []string{cfg.Listen.Admin.String(), cfg.Listen.Nerve.String()},
	}
	if env.UnixSockets {
		s.Sockets = []string{in(hostfiles.AdminSocketName), cfg.Listen.NerveSocket}
	}
	public := cfg.PublicURL
	if s.Running, _, err = hostfiles.HostRuns(dir); err == nil && s.Running {
		public = s.askHost(ctx, dir, public)
	}
	if public != "" {
		if s.Server, err = pairing.ParseServer(public); err != nil {
			return s, err
		}
	}
	if !s.Running {
		s.Model, s.Recognizer = probeSpeech(ctx, env, cfg)
	}
	if tool, err := tailscale.Find(env.Environ); err == nil {
		s.Tailscale = tool
	}
	return s, nil
}

// askHost takes the addresses that are really open, and gives the public URL. When
// the host does not answer, the steps report it.
func (s *Subject) askHost(ctx context.Context, dir, public string) string {
	if run, err := hostfiles.ReadRun(dir); err == nil {
		if addr, err := netip.ParseAddrPort(run.Client); err == nil {
			s.Client = addr
		}
		s.Local = []string{run.Admin, run.Nerve}
		if run.NerveSocket != "" {
			s.Sockets = []string{run.AdminSocket, run.NerveSocket}
		}
	}
	report, err := hostclient.Call(ctx, dir, adminapi.Status[status.Report])
	if err != nil {
		return public
	}
	s.Model, s.Recognizer = &report.Model, &report.Recognizer
	return cmp.Or(report.Phones.PublicURL, report.Phones.InvitationTo) // that of a first code is remembered only once it is used
}

// probeSpeech looks at model and recognizer as a host with this configuration would. A
// configuration with faults gives nil.
func probeSpeech(ctx context.Context, env cli.Env, cfg config.Config) (*status.Model, *status.Recognizer) {
	if _, problems := config.ReadSecrets(env, &cfg); len(problems) > 0 {
		return nil, nil
	}
	built, err := services.Build(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil
	}
	defer built.Close()
	model, recognizer := status.ProbeSpeech(ctx, cfg, built)
	return &model, &recognizer
}
