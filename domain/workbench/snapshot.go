package workbench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"plexus/domain/conversations"
	"plexus/domain/nova"
)

// Bounds of a snapshot (decision K13). They hold for what is shown, not for what
// is stored.
const (
	MaxShownConversations = 128
	MaxShownMessages      = 512
	MaxMobileFrame        = 900 << 10 // bytes of a phone's personal.state
)

// Parts is what the host has to show at one moment.
type Parts struct {
	Revision uint64
	// Conversations in the order in which they are shown, at most
	// MaxShownConversations: selected, voice owner, main, proactive, then the most
	// recently updated.
	Conversations []conversations.Conversation
	SelectedID    string
	VoiceID       string // "" for none
	// Messages visits those of the selected conversation, newest first, until
	// visit returns false.
	Messages func(visit func(conversations.Message) bool) error
	Feed     []FeedItem // newest first
	Items    []Item     // of all three lists, in the order they were made
	Profile  Profile
	Tasks    []Task // in the order they were made
	Mode     Mode   // of the endpoint that is shown this
	TimeZone string // IANA name, "" for UTC
}

// What is not there looks missing, not simulated (nova-personal §13): no
// executor, memory, discovery, source or news service, no cards and no drafts.
const (
	noTasks  = `{"input":false,"cancel":false,"continue":false}`
	noMemory = `{"list":false,"get":false,"correct":false,"forgetEntry":false,"forgetSource":false,"purgeEntry":false}`

	emptyMemory      = `{"entries":[],"cursor":null,"overview":null}`
	emptyList        = `[]`
	desktopAbilities = `{"tasks":` + noTasks + `,"memory":` + noMemory + `,"discovery":false,"sources":false}`
	desktopNews      = `{"enabled":false,"refreshing":false,"explore":false,"mode":"timeline","rank_error":null,"pending":0,"total":0,` +
		`"interests":[],"interests_seeded":false,"profile_version":0,"items":[],"saved":[],"sources":[]}`
	desktopContext = `{"status":"idle","candidate_count":0,"recap":{"text":null,"projects":[]},"empty_reason":null,` +
		`"empty_reasons":{"todos":null,"ideas":null,"goals":null},"cards":[]}`
	desktopDraft      = `{"status":"idle","draft":null,"sources":[]}`
	idleUnderstanding = `{"status":"idle"}`
	nothing           = `null`

	mobileAbilities = `{"tasks":` + noTasks + `,"memory":` + noMemory + `}`
	mobileNews      = `{"enabled":false,"refreshing":false,"items":[],"saved":[]}`
	mobileContext   = `{"status":"idle","recap":{"text":null,"projects":[]},"cards":[]}`
	mobileDraft     = `{"status":"idle","draft":null}`
)

// desktopState is personal.state as the owner's page gets it (nova-personal
// §3.1). Its last members are those that grow, see compose.
type desktopState struct {
	Type                 string             `json:"type"`
	Revision             uint64             `json:"revision"`
	Memory               json.RawMessage    `json:"memory"`
	Sources              json.RawMessage    `json:"sources"`
	Capabilities         json.RawMessage    `json:"capabilities"`
	Settings             settings           `json:"settings"`
	PendingApprovals     json.RawMessage    `json:"pending_approvals"`
	PendingConfirmations json.RawMessage    `json:"pending_confirmations"`
	News                 json.RawMessage    `json:"news"`
	WorkbenchContext     json.RawMessage    `json:"workbench_context"`
	ProfilePreparation   json.RawMessage    `json:"profile_preparation"`
	PresentationMode     *Mode              `json:"presentation_mode"`
	Understanding        json.RawMessage    `json:"understanding"`
	Feishu               json.RawMessage    `json:"feishu"`
	Connectors           json.RawMessage    `json:"connectors"`
	Life                 ShownLife          `json:"life"`
	Conversations        ShownConversations `json:"conversations"`
	Feed                 []ShownFeed        `json:"feed"`
	Tasks                []ShownTask        `json:"tasks"`
}

// settings are those of nova-personal §3.7. Nothing changes them yet.
type settings struct {
	Discovery        bool   `json:"discovery_enabled"`
	DiscoveryMinutes int    `json:"discovery_interval_minutes"`
	TimeZone         string `json:"timezone"`
	QuietStart       string `json:"quiet_start"`
	QuietEnd         string `json:"quiet_end"`
	Outlook          bool   `json:"briefing_outlook_enabled"`
	Review           bool   `json:"briefing_review_enabled"`
	OutlookTime      string `json:"briefing_outlook_time"`
	ReviewTime       string `json:"briefing_review_time"`
	Weekdays         []int  `json:"briefing_weekdays"`
}

func defaultSettings(zone string) settings {
	if zone == "" {
		zone = "UTC"
	}
	return settings{
		Discovery: true, DiscoveryMinutes: 30, TimeZone: zone, QuietStart: "22:00", QuietEnd: "08:00",
		OutlookTime: "08:30", ReviewTime: "18:30", Weekdays: []int{1, 2, 3, 4, 5},
	}
}

// DesktopFrame composes personal.state for the owner's page as one JSON text. It
// is cut to nova.MaxDesktopText as a phone's is to MaxMobileFrame; where even
// that is too little it is longer, and nova.AppendDesktop says so.
func DesktopFrame(p Parts) (frame []byte, err error) {
	state := desktopState{
		Type: nova.PersonalState{}.Type(), Revision: p.Revision,
		Memory: raw(emptyMemory), Sources: raw(emptyList), Capabilities: raw(desktopAbilities),
		Settings:         defaultSettings(p.TimeZone),
		PendingApprovals: raw(emptyList), PendingConfirmations: raw(emptyList),
		News: raw(desktopNews), WorkbenchContext: raw(desktopContext), ProfilePreparation: raw(desktopDraft),
		Understanding: raw(idleUnderstanding), Feishu: raw(nothing), Connectors: raw(nothing),
		Life: showLife(p), Conversations: showConversations(p), Feed: []ShownFeed{}, Tasks: []ShownTask{},
	}
	if p.Mode != "" {
		state.PresentationMode = &p.Mode
	}
	frame, _, err = compose(&state, p, nova.MaxDesktopText)
	return frame, err
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// MobileFrame composes personal.state for a phone as one JSON text of at most
// MaxMobileFrame bytes (nova-personal §9.3, decision K13): what MobileSnapshot
// names and nothing else. It is also the data of a result that carries the state.
// Frame is nil with cut.Reload, when the lists of the owner alone are too long.
func MobileFrame(p Parts) (frame []byte, cut Cut, err error) {
	if lifeFloor(p) > MaxMobileFrame {
		return nil, Cut{Reload: true}, nil
	}
	frame, cut, err = compose(&MobileSnapshot{
		Type: nova.PersonalState{}.Type(), Revision: p.Revision,
		Memory: raw(emptyMemory), Capabilities: raw(mobileAbilities),
		PendingApprovals: raw(emptyList), PendingConfirmations: raw(emptyList),
		News: raw(mobileNews), WorkbenchContext: raw(mobileContext), ProfilePreparation: raw(mobileDraft),
		Life: showLife(p), Conversations: showConversations(p), Feed: []ShownFeed{}, Tasks: []ShownTask{},
	}, p, MaxMobileFrame)
	if cut.Reload {
		frame = nil
	}
	return frame, cut, err
}

// ConversationsData is the member conversations of a snapshot alone, as results
// of conversations.* carry it, cut like a phone's.
func ConversationsData(p Parts) (json.RawMessage, error) {
	const before, after = `{"conversations":`, `,"feed":[],"tasks":[]}`
	p.Feed, p.Tasks = nil, nil
	frame, _, err := compose(&struct {
		Conversations ShownConversations `json:"conversations"`
		Feed          []ShownFeed        `json:"feed"`
		Tasks         []ShownTask        `json:"tasks"`
	}{showConversations(p), []ShownFeed{}, []ShownTask{}}, p, MaxMobileFrame)
	if err != nil {
		return nil, err
	}
	return frame[len(before) : len(frame)-len(after)], nil
}

// Cut says what a frame had no room for.
type Cut struct {
	Messages bool // fewer than MaxShownMessages are shown, and there are more
	Feed     int  // items left out, the oldest
	Tasks    int  // the same
	Reload   bool // the rest alone is too long
}

// growing is how every state ends before the lists that grow are put in.
const growing = `]},"feed":[],"tasks":[]}`

// compose encodes a state without messages, feed and tasks, and then puts in the
// newest tasks, feed items and messages, in this order, for which limit leaves
// room. Of each list it encodes at most one row that it does not show. A state
// that is too long without them comes as it is, with cut.Reload.
func compose(state any, p Parts, limit int) (frame []byte, cut Cut, err error) {
	page := newRows(math.MaxInt)
	page.add(state)
	head := page.buf.Bytes()
	if page.err != nil || len(head) > limit {
		return head, Cut{Reload: page.err == nil}, page.err
	}
	tasks := newRows(limit - len(head))
	for _, t := range slices.Backward(p.Tasks) {
		if !tasks.add(showTask(t)) {
			break
		}
	}
	cut.Tasks = len(p.Tasks) - len(tasks.ends)
	feed := newRows(tasks.room)
	for _, f := range p.Feed {
		if cut.Tasks > 0 || !feed.add(showFeed(f)) {
			break
		}
	}
	cut.Feed = len(p.Feed) - len(feed.ends)
	messages := newRows(feed.room)
	cut.Messages, err = messages.addMessages(p)
	if err != nil {
		return nil, Cut{}, fmt.Errorf("read the messages of the snapshot: %w", err)
	}
	if err := cmp.Or(tasks.err, feed.err, messages.err); err != nil {
		return nil, Cut{}, err
	}
	frame = make([]byte, 0, limit-messages.room)
	frame = append(frame, head[:len(head)-len(growing)]...)
	frame = messages.appendOldestFirst(frame)
	frame = append(frame, `]},"feed":[`...)
	frame = feed.appendTo(frame)
	frame = append(frame, `],"tasks":[`...)
	frame = tasks.appendOldestFirst(frame)
	return append(frame, `]}`...), cut, nil
}

// rows encodes one list row by row, newest first, as long as there is room.
type rows struct {
	room int // bytes that are left
	buf  bytes.Buffer
	enc  *json.Encoder
	ends []int // of the rows in buf
	err  error
}

func newRows(room int) *rows {
	r := &rows{room: room}
	r.enc = json.NewEncoder(&r.buf)
	r.enc.SetEscapeHTML(false)
	return r
}

// add reports whether row found room; without it, or after an error, no further
// one may be added.
func (r *rows) add(row any) bool {
	start := r.buf.Len()
	if err := r.enc.Encode(row); err != nil {
		r.err = fmt.Errorf("encode the snapshot: %w", err)
		return false
	}
	r.buf.Truncate(r.buf.Len() - 1) // the line feed
	size := r.buf.Len() - start
	if start > 0 {
		size++ // the comma
	}
	if size > r.room {
		r.buf.Truncate(start)
		return false
	}
	r.room -= size
	r.ends = append(r.ends, r.buf.Len())
	return true
}

// addMessages adds the newest messages and reports whether it lacked room for more.
func (r *rows) addMessages(p Parts) (short bool, err error) {
	through := readThrough(p)
	err = p.Messages(func(m conversations.Message) bool {
		short = !r.add(showMessage(m, through))
		return !short && len(r.ends) < MaxShownMessages
	})
	return short, err
}

func (r *rows) appendTo(dst []byte) []byte {
	for i := range r.ends {
		dst = r.appendRow(dst, i, i == 0)
	}
	return dst
}

func (r *rows) appendOldestFirst(dst []byte) []byte {
	for i := range slices.Backward(r.ends) {
		dst = r.appendRow(dst, i, i == len(r.ends)-1)
	}
	return dst
}

func (r *rows) appendRow(dst []byte, i int, first bool) []byte {
	if !first {
		dst = append(dst, ',')
	}
	start := 0
	if i > 0 {
		start = r.ends[i-1]
	}
	return append(dst, r.buf.Bytes()[start:r.ends[i]]...)
}
