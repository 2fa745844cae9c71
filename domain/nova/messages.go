package nova

func (Ready) message()               {}
func (Receipt) message()             {}
func (DesktopCapabilities) message() {}
func (PlaybackClear) message()       {}
func (PlaybackAlert) message()       {}
func (PlaybackTerminal) message()    {}
func (Caption) message()             {}
func (TextResult) message()          {}
func (Transcription) message()       {}
func (ClockPing) message()           {}
func (ConversationError) message()   {}
func (ProjectState) message()        {}
func (ExecutorState) message()       {}
func (ExecutorApproval) message()    {}
func (ExecutorProgress) message()    {}
func (ResultsReset) message()        {}
func (ExecutorResult) message()      {}
func (ExecutorTasks) message()       {}
func (Unknown) message()             {}
func (PairReady) message()           {}
func (PairError) message()           {}
func (PairDevices) message()         {}
func (Invitation) message()          {}

func (Ready) Type() string               { return "client.ready" }
func (Receipt) Type() string             { return "client.command_result" }
func (DesktopCapabilities) Type() string { return "desktop.capabilities" }
func (PlaybackClear) Type() string       { return "playback.clear" }
func (PlaybackAlert) Type() string       { return "playback.alert" }
func (PlaybackTerminal) Type() string    { return "playback.terminal" }
func (Caption) Type() string             { return "caption" }
func (TextResult) Type() string          { return "input.text_result" }
func (Transcription) Type() string       { return "input.transcription" }
func (ClockPing) Type() string           { return "clock.ping" }
func (ConversationError) Type() string   { return "conversation.error" }
func (ProjectState) Type() string        { return "project.state" }
func (ExecutorState) Type() string       { return "executor.state" }
func (ExecutorApproval) Type() string    { return "executor.approval" }
func (ExecutorProgress) Type() string    { return "executor.progress" }
func (ResultsReset) Type() string        { return "executor.results.reset" }
func (ExecutorResult) Type() string      { return "executor.result" }
func (ExecutorTasks) Type() string       { return "executor.tasks" }
func (m Unknown) Type() string           { return m.Name }
func (PairReady) Type() string           { return "pair.ready" }
func (PairError) Type() string           { return "pair.error" }
func (PairDevices) Type() string         { return "pair.devices" }
func (Invitation) Type() string          { return "nova.pair" }
