package novaws

import (
	"testing"

	"plexus/domain/nova"
)

func TestEveryKindHasAPlaceAndADelivery(t *testing.T) {
	for k := kindReply; k <= kindResult; k++ {
		rule := frameRules[k]
		if rule.delivery == 0 {
			t.Errorf("kind %d has no rule", k)
		}
		if slot := rule.lane >= laneExecutor; slot != (rule.delivery == latest) {
			t.Errorf("kind %d waits in lane %d with delivery %d", k, rule.lane, rule.delivery)
		}
		if laneBounds[rule.lane] == 0 {
			t.Errorf("lane %d holds nothing", rule.lane)
		}
	}
}

func TestDescribe_KnowsEveryMessageOfAConnection(t *testing.T) {
	generation := nova.Generation{UtteranceID: "u", Epoch: 7}
	for _, c := range []struct {
		m    nova.Message
		want frame
	}{
		{nova.Ready{}, frame{kind: kindReply}},
		{nova.Receipt{}, frame{kind: kindReply}},
		{nova.PlaybackClear{Generation: generation}, clearing7(kindClear)},
		{nova.PlaybackAlert{}, frame{kind: kindAlert}},
		{nova.PlaybackAlert{Generation: nova.Some(generation)}, clearing7(kindAlert)},
		{nova.PlaybackTerminal{Generation: generation}, frame{kind: kindTerminal, epoch: 7}},
		{nova.Caption{Role: nova.Assistant, Sequence: 4}, frame{kind: kindCaption, caption: 4}},
		{nova.Caption{Role: nova.User, Sequence: 4}, frame{kind: kindCaption}},
		{nova.Caption{Role: nova.User, TurnID: "t"}, frame{kind: kindCaption, turn: "t"}},
		{nova.Caption{Role: nova.User, TurnID: "t", Final: true}, frame{kind: kindCaption}},
		{nova.Caption{Role: nova.Assistant, Sequence: 4, Final: true}, frame{kind: kindCaption, caption: 4}},
		{nova.Caption{Role: nova.Assistant, Sequence: 4, Final: true, FullText: "x"}, frame{kind: kindFullCaption, caption: 4}},
		{nova.Caption{Role: nova.User, Final: true, FullText: "x"}, frame{kind: kindFullCaption}},
		{nova.TextResult{}, frame{kind: kindAnswer}},
		{nova.Transcription{}, frame{kind: kindAnswer}},
		{nova.DesktopCapabilities{}, frame{kind: kindAnswer}},
		{nova.ConversationError{}, frame{kind: kindPersonal}},
		{nova.PersonalError{}, frame{kind: kindPersonal}},
		{nova.PersonalState{Revision: 7}, frame{kind: kindPersonalState, snapshot: true, revision: 7}},
		{nova.PersonalResult{Revision: 7}, frame{kind: kindPersonalResult, snapshot: true, revision: 7}},
		{nova.PersonalResult{}, frame{kind: kindPersonalResult}},
		{nova.ExecutorProgress{Level: nova.Milestone, DelegateID: "w", Summary: "s"}, frame{kind: kindProgress}},
		{nova.ExecutorProgress{Level: nova.Detail, DelegateID: "w", Summary: "s"}, frame{kind: kindDetail, work: "w", summary: "s"}},
		{nova.ClockPing{}, frame{kind: kindPing}},
		{nova.ExecutorState{}, frame{kind: kindExecutorState}},
		{nova.ProjectState{}, frame{kind: kindProjectState}},
		{nova.ExecutorApproval{}, frame{kind: kindApproval}},
		{nova.ExecutorTasks{}, frame{kind: kindTasks}},
		{nova.ResultsReset{}, frame{kind: kindResult}},
		{nova.ExecutorResult{}, frame{kind: kindResult}},
	} {
		if got, ok := frameOf(c.m); !ok || got != c.want {
			t.Errorf("%s %+v is %+v, %v, want %+v", c.m.Type(), c.m, got, ok, c.want)
		}
	}
	for _, m := range []nova.Message{nova.Unknown{Name: "x"}, nova.PairError{}} {
		if f, ok := frameOf(m); ok {
			t.Errorf("%s is %+v, but has no business in an outbox", m.Type(), f)
		}
	}
}

func clearing7(k frameKind) (f frame) {
	f.kind, f.fence.Epoch = k, 7
	return f
}
