package topics

import "testing"

func TestWhatIsErasedWhileAnAnswerIsUnderWayIsRemembered(t *testing.T) {
	var e erasures
	e.note("before")
	first := e.begin()
	e.note("a")
	second := e.begin()
	for _, c := range []struct {
		subject string
		began   uint64
		want    bool
	}{
		{"before", first, false}, {"a", first, true}, {"a", second, false}, {"b", first, false},
	} {
		if got := e.since(c.subject, c.began); got != c.want {
			t.Errorf("%s since %d: %v", c.subject, c.began, got)
		}
	}
	e.note("") // all
	if !e.since("b", second) {
		t.Error("all were erased, and this one not")
	}
	e.end()
	if !e.since("a", first) {
		t.Error("forgotten while an answer is under way")
	}
	e.end()
	if e.erased != nil {
		t.Errorf("nobody needs %v", e.erased)
	}
}
