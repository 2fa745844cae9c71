package novaws

import "plexus/domain/nova"

// frameKind decides in which lane of the outbox a frame waits and what happens when
// there is no room.
type frameKind uint8

const (
	kindReply          frameKind = iota + 1 // client.ready and the receipts of commands
	kindClear                               // playback.clear
	kindAlert                               // playback.alert
	kindAudio                               // a NOVA frame: the only binary one
	kindTerminal                            // playback.terminal
	kindCaption                             // a caption that a later one replaces
	kindFullCaption                         // a final caption with its full text
	kindAnswer                              // input.text_result, input.transcription, desktop.capabilities
	kindPersonal                            // a frame of the personal extension with the bound of any text
	kindPersonalState                       // personal.state: a newer one replaces one that waits
	kindPersonalResult                      // personal.result
	kindProgress                            // executor.progress, a milestone
	kindDetail                              // executor.progress, a detail
	kindPing                                // clock.ping
	kindExecutorState                       // executor.state
	kindProjectState                        // project.state
	kindApproval                            // executor.approval
	kindTasks                               // executor.tasks
	kindResult                              // executor.results.reset and executor.result
)

// lane is a queue in which frames wait. The lanes are emptied in this order.
type lane uint8

const (
	laneDirect lane = iota // before all queues, as if written straight to the socket
	lanePreempt
	laneMain
	laneExecutor // this and the next three hold the latest value alone
	laneProject
	laneApproval
	laneTasks
	laneResults
	lanes int = iota
)

// laneBounds says how many frames wait at most (Nova client protocol §11.1; for
// laneDirect §11.3).
var laneBounds = [lanes]int{
	laneDirect: 128, lanePreempt: 128, laneMain: 128,
	laneExecutor: 1, laneProject: 1, laneApproval: 1, laneTasks: 1,
	laneResults: 65,
}

// delivery says whether a frame may be dropped or replaced (Nova client protocol
// §11.2).
type delivery uint8

const (
	required  delivery = iota + 1 // without it the connection must end
	droppable                     // goes when there is no room
	latest                        // a newer one replaces it
)

// frameRules is the one table from kind to treatment.
var frameRules = [...]struct {
	lane     lane
	delivery delivery
}{
	kindReply:          {laneDirect, required},
	kindClear:          {lanePreempt, required},
	kindAlert:          {lanePreempt, required},
	kindAudio:          {laneMain, required},
	kindTerminal:       {laneMain, required},
	kindCaption:        {laneMain, droppable},
	kindFullCaption:    {laneMain, required},
	kindAnswer:         {laneMain, required},
	kindPersonal:       {laneMain, required},
	kindPersonalState:  {laneMain, required},
	kindPersonalResult: {laneMain, required},
	kindProgress:       {laneMain, droppable},
	kindDetail:         {laneMain, droppable},
	kindPing:           {laneMain, droppable},
	kindExecutorState:  {laneExecutor, latest},
	kindProjectState:   {laneProject, latest},
	kindApproval:       {laneApproval, latest},
	kindTasks:          {laneTasks, latest},
	kindResult:         {laneResults, latest},
}

// body reports whether the larger budget of personal snapshots and results
// holds.
func (k frameKind) body() bool { return k == kindPersonalState || k == kindPersonalResult }

// extension reports whether a frame is the personal extension's.
func (k frameKind) extension() bool { return k == kindPersonal || k.body() }

// pushResult is what became of a frame that was pushed.
type pushResult uint8

const (
	queued     pushResult = iota + 1
	dropped               // as its policy allows, or because the client is not to have it
	refused               // a bug of the caller: empty, too large or in no lane; nothing is disturbed
	queueFull             // a required frame is lost because its lane is full: the connection must end
	overBudget            // likewise, for want of bytes or because replies are not taken
)

// frameOf gives the frame that carries m, still without its bytes, and without the
// caption part of a fence. ok is false for a message that never goes through
// an outbox.
func frameOf(m nova.Message) (f frame, ok bool) {
	switch m := m.(type) {
	case nova.PlaybackClear:
		f.kind, f.fence.Epoch = kindClear, m.Generation.Epoch
	case nova.PlaybackAlert:
		f.kind, f.fence.Epoch = kindAlert, m.Generation.Value.Epoch
	case nova.PlaybackTerminal:
		f.kind, f.epoch = kindTerminal, m.Epoch
	case nova.Caption:
		f.kind = kindCaption
		switch {
		case m.FullText != "":
			f.kind = kindFullCaption
		case !m.Final:
			f.turn = m.TurnID
		}
		if m.Role == nova.Assistant {
			f.caption = m.Sequence
		}
	case nova.PersonalState:
		f.kind, f.snapshot, f.revision = kindPersonalState, true, m.Revision
	case nova.PersonalResult:
		f.kind, f.snapshot, f.revision = kindPersonalResult, m.Revision > 0, m.Revision
	case nova.ExecutorProgress:
		f.kind = kindProgress
		if m.Level == nova.Detail {
			f.kind, f.work, f.summary = kindDetail, m.DelegateID, m.Summary
		}
	case nova.Ready, nova.Receipt:
		f.kind = kindReply
	case nova.TextResult, nova.Transcription, nova.DesktopCapabilities:
		f.kind = kindAnswer
	case nova.ConversationError, nova.PersonalError:
		f.kind = kindPersonal
	case nova.ClockPing:
		f.kind = kindPing
	case nova.ExecutorState:
		f.kind = kindExecutorState
	case nova.ProjectState:
		f.kind = kindProjectState
	case nova.ExecutorApproval:
		f.kind = kindApproval
	case nova.ExecutorTasks:
		f.kind = kindTasks
	case nova.ResultsReset, nova.ExecutorResult:
		f.kind = kindResult
	}
	return f, f.kind != 0
}
