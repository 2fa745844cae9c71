package feed_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/usecases/personal/feed"
)

// moment is in no zone of the wire and finer than it, on purpose.
var moment = time.Date(2026, time.November, 30, 9, 30, 0, 123_456_789, time.FixedZone("", 2*60*60))

func question() feed.Item {
	return feed.Item{
		ID: "f", Kind: "question", Title: "T", WhyNow: "W", EvidenceRefs: []string{"e"}, UserState: "new", Lifecycle: "active",
		CreatedAt: moment.UTC(), UpdatedAt: moment.UTC(),
	}
}

// with is a question that was changed.
func with(change func(*feed.Item)) feed.Item {
	item := question()
	change(&item)
	return item
}

// act does what must succeed, an hour after moment.
func act(t *testing.T, item feed.Item, verb feed.Verb) feed.Item {
	t.Helper()
	got, err := feed.Act(item, verb, moment.Add(2*time.Hour), moment.Add(time.Hour))
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	if got.Lifecycle != item.Lifecycle || !got.UpdatedAt.Equal(moment.Add(time.Hour)) {
		t.Errorf("%s: %+v", verb, got)
	}
	return got
}

func refuseAct(t *testing.T, item feed.Item, verb feed.Verb, until time.Time, want workbench.Refusal) {
	t.Helper()
	got, err := feed.Act(item, verb, until, moment)
	if !errors.Is(err, want) || !reflect.DeepEqual(got, item) {
		t.Errorf("%s on %s, %s gives %v, want %s", verb, item.UserState, item.Lifecycle, err, want)
	}
}

func TestWhatTheOwnerDoesWithAnItem(t *testing.T) {
	later := moment.Add(2 * time.Hour)
	snoozed := with(func(f *feed.Item) { f.UserState, f.SnoozeUntil = "snoozed", &later })
	if got := act(t, snoozed, feed.VerbOpen); got.UserState != "seen" || got.SnoozeUntil != &later {
		t.Errorf("open: %+v", got)
	}
	dismissed := act(t, question(), feed.VerbDismiss)
	if dismissed.UserState != "dismissed" {
		t.Errorf("dismiss: %+v", dismissed)
	}
	if got := act(t, dismissed, feed.VerbOpen); got.UserState != "seen" {
		t.Errorf("open what was dismissed: %+v", got)
	}
	if got := act(t, question(), feed.VerbSnooze); got.UserState != "snoozed" || !got.SnoozeUntil.Equal(later) {
		t.Errorf("snooze: %+v", got)
	}
	want := question()
	want.UpdatedAt = moment.Add(time.Hour).UTC()
	if got := act(t, question(), feed.VerbExpand); !reflect.DeepEqual(got, want) {
		t.Errorf("expand_evidence: %+v", got)
	}
}

func TestP10_ActWithoutHandlerIsUnsupported(t *testing.T) {
	refuseAct(t, question(), feed.VerbAct, time.Time{}, workbench.Unsupported)
}

func TestP19_StaleComesBeforeAnythingElse(t *testing.T) {
	soon := moment.Add(time.Second)
	stale := []feed.Item{
		with(func(f *feed.Item) { f.Lifecycle = "invalidated" }),
		with(func(f *feed.Item) { f.UserState = "dismissed" }),
		with(func(f *feed.Item) { f.UserState, f.SnoozeUntil = "snoozed", &soon }),
	}
	for _, item := range stale {
		item.Kind = "notify" // notified would be refused for this too
		for _, verb := range []feed.Verb{feed.VerbAct, feed.VerbPresented, feed.VerbNotified} {
			refuseAct(t, item, verb, time.Time{}, workbench.Stale)
		}
		act(t, item, feed.VerbOpen)
		act(t, item, feed.VerbDismiss)
		act(t, item, feed.VerbSnooze)
	}
	resolved := with(func(f *feed.Item) { f.Kind, f.Lifecycle = "task_result", "resolved" })
	act(t, resolved, feed.VerbPresented)
	refuseAct(t, resolved, feed.VerbNotified, time.Time{}, workbench.Stale)
	refuseAct(t, resolved, feed.VerbAct, time.Time{}, workbench.Stale)
	awake := with(func(f *feed.Item) { f.UserState, f.SnoozeUntil = "snoozed", &soon })
	act(t, awake, feed.VerbPresented) // an hour later
}

func TestP20_OnlyQuestionsAreNotifiedOf(t *testing.T) {
	act(t, question(), feed.VerbNotified)
	for _, kind := range []string{"notify", "task_result", "schedule", "change"} {
		item := with(func(f *feed.Item) { f.Kind = kind })
		refuseAct(t, item, feed.VerbNotified, time.Time{}, workbench.NotificationDenied)
	}
}

func TestP21_SnoozeIsIntoTheFuture(t *testing.T) {
	for _, until := range []time.Time{{}, moment.Add(-time.Hour), moment} {
		refuseAct(t, question(), feed.VerbSnooze, until, workbench.InvalidSnooze)
	}
}

func TestP22_DeliveryIsSetOnce(t *testing.T) {
	for _, verb := range []feed.Verb{feed.VerbPresented, feed.VerbNotified} {
		first := act(t, question(), verb)
		again, err := feed.Act(first, verb, time.Time{}, moment.Add(5*time.Hour))
		if err != nil || !reflect.DeepEqual(again.Delivery, first.Delivery) || !again.UpdatedAt.After(first.UpdatedAt) {
			t.Errorf("%s: %+v, then %+v, %v", verb, first, again, err)
		}
	}
	both := act(t, act(t, question(), feed.VerbPresented), feed.VerbNotified).Delivery
	if at := moment.Add(time.Hour); both.PresentedAt == nil || !both.PresentedAt.Equal(at) || !both.NotifiedAt.Equal(at) || both.SpokenAt != nil {
		t.Errorf("%+v", both)
	}
}

func TestItemsExpireOnTime(t *testing.T) {
	item := with(func(f *feed.Item) { at := moment.Add(time.Hour); f.ExpiresAt = &at })
	for offset, want := range map[time.Duration]bool{0: false, time.Hour - 1: false, time.Hour: true, 2 * time.Hour: true} {
		now := moment.Add(offset)
		late, changed := feed.Expire(item, now)
		if changed != want || feed.Openable(item, now) == want {
			t.Errorf("after %v: %v", offset, changed)
		}
		if changed && (late.Lifecycle != "invalidated" || !late.UpdatedAt.Equal(now) || late.UserState != "new") {
			t.Errorf("after %v: %+v", offset, late)
		}
		if _, changed := feed.Expire(late, now); changed {
			t.Error("it expires twice")
		}
	}
	if _, changed := feed.Expire(question(), moment.AddDate(100, 0, 0)); changed {
		t.Error("an item without an end has expired")
	}
	resolved := item
	resolved.Lifecycle = "resolved"
	if _, changed := feed.Expire(resolved, moment.AddDate(1, 0, 0)); changed {
		t.Error("a result has expired")
	}
}

func TestWhatATopicMayBeOpenedOn(t *testing.T) {
	later := moment.Add(time.Hour)
	for name, c := range map[string]struct {
		item feed.Item
		want bool
	}{
		"new":         {question(), true},
		"snoozed":     {with(func(f *feed.Item) { f.UserState, f.SnoozeUntil = "snoozed", &later }), true},
		"dismissed":   {with(func(f *feed.Item) { f.UserState = "dismissed" }), false},
		"invalidated": {with(func(f *feed.Item) { f.Lifecycle = "invalidated" }), false},
		"resolved":    {with(func(f *feed.Item) { f.Lifecycle = "resolved" }), false},
	} {
		if got := feed.Openable(c.item, moment); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBackgroundIsWhatWasPrepared(t *testing.T) {
	if got, want := feed.Background(question()), (conversations.Background{Title: "T", Text: "W", Refs: []string{"e"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	prepared := with(func(f *feed.Item) {
		f.Prepared = &feed.Prepared{Trust: "untrusted_external", Text: strings.Repeat("回", 12_000), EvidenceRefs: []string{"p"}}
	})
	got := feed.Background(prepared)
	if len(got.Text) > conversations.MaxBackground || !strings.HasPrefix(prepared.Prepared.Text, got.Text) || len(got.Text) < conversations.MaxBackground-3 ||
		!reflect.DeepEqual(got.Refs, []string{"p"}) {
		t.Errorf("%d bytes, %v", len(got.Text), got.Refs)
	}
}
