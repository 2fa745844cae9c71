package admindesk

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/text"
	"plexus/domain/workbench"
	"plexus/web"
)

// shownClosed is how many entries are shown of those that are done with.
const shownClosed = 50

// kinds are the lists that hold entries.
var kinds = map[web.List]workbench.ItemKind{web.Todos: workbench.Todo, web.Ideas: workbench.Idea, web.Goals: workbench.Goal}

// becomes are the states that an entry can be given, with what is said of it then.
var becomes = map[workbench.ItemKind]map[string]string{
	workbench.Todo: {"open": "reopened", "doing": "saved", "waiting": "saved", "done": "item-done", "cancelled": "item-cancelled"},
	workbench.Idea: {"active": "restored", "archived": "archived"},
	workbench.Goal: {"active": "restored", "paused": "saved", "completed": "completed", "archived": "archived"},
}

// listOf reads the list of a path.
func listOf(r *http.Request) (web.List, workbench.ItemKind, error) {
	list := web.List(r.PathValue("list"))
	kind, ok := kinds[list]
	if !ok {
		return "", "", ErrNotHere
	}
	return list, kind, nil
}

// at is the path of a list, with what is said there.
func at(list web.List, done string) string { return "lists/" + string(list) + "?done=" + done }

func (d *Desk) todos(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.listWith(r, f, web.Lists{List: web.Todos})
}

func (d *Desk) ideas(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.listWith(r, f, web.Lists{List: web.Ideas})
}

func (d *Desk) list(r *http.Request, f web.Frame) (templ.Component, error) {
	list := web.List(r.PathValue("list"))
	if list == web.AboutMe {
		return d.aboutWith(r, f, nil)
	}
	return d.listWith(r, f, web.Lists{List: list})
}

// listWith fills one list, and what was typed and why it was not taken stays.
func (d *Desk) listWith(r *http.Request, f web.Frame, v web.Lists) (templ.Component, error) {
	kind, ok := kinds[v.List]
	if !ok {
		return nil, ErrNotHere
	}
	items, _, err := d.owner.Lists(r.Context())
	if err != nil {
		return nil, err
	}
	today := f.Now.Format(time.DateOnly)
	goals, progress := goalTitles(items), progressOf(items)
	for _, i := range items {
		if i.Kind != kind {
			continue
		}
		row := web.Item{
			ID: i.ID, Version: i.Version, Title: text.Printable(i.Title), Note: text.PrintableLines(i.Note), Status: i.Status,
			Due: text.Printable(i.Due), Goal: text.Printable(goals[i.GoalID]), Updated: i.UpdatedAt,
			Done: progress[i.ID].done, Total: progress[i.ID].total,
		}
		if closed(i.Status) {
			v.Closed = append(v.Closed, row)
			continue
		}
		row.Late = i.Due != "" && i.Due < today
		v.Open = append(v.Open, row)
	}
	arrange(&v)
	return web.ListPage(f, v), nil
}

// arrange puts what is due first on top, and of the rest the latest.
func arrange(v *web.Lists) {
	slices.SortStableFunc(v.Open, func(a, b web.Item) int {
		if (a.Due == "") != (b.Due == "") {
			return cmp.Compare(b.Due, a.Due) // "" last
		}
		return cmp.Compare(a.Due, b.Due)
	})
	slices.SortStableFunc(v.Closed, func(a, b web.Item) int { return b.Updated.Compare(a.Updated) })
	if v.Hidden = max(len(v.Closed)-shownClosed, 0); v.Hidden > 0 {
		v.Closed = v.Closed[:shownClosed]
	}
}

func closed(status string) bool {
	return slices.Contains([]string{"done", "cancelled", "completed", "archived"}, status)
}

func goalTitles(items []workbench.Item) map[string]string {
	titles := make(map[string]string)
	for _, i := range items {
		if i.Kind == workbench.Goal {
			titles[i.ID] = i.Title
		}
	}
	return titles
}

type progress struct{ done, total int }

// progressOf counts the to-dos of each goal; those that were cancelled do not
// count (nova-personal §3.9).
func progressOf(items []workbench.Item) map[string]progress {
	of := make(map[string]progress)
	for _, i := range items {
		if i.Kind != workbench.Todo || i.GoalID == "" || i.Status == "cancelled" {
			continue
		}
		p := of[i.GoalID]
		p.total++
		if i.Status == "done" {
			p.done++
		}
		of[i.GoalID] = p
	}
	return of
}

func (d *Desk) addEntry(r *http.Request) (string, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return "", err
	}
	title := strings.TrimSpace(r.PostForm.Get("title"))
	if !fits(title, 1, web.MaxItemTitle) {
		err = workbench.InvalidRequest
	} else {
		err = d.mutate(r, workbench.CreateItem{Kind: kind, Title: title})
	}
	return at(list, "added"), d.orList(list, title, err)
}

// orList draws the list again with what was typed when err is a refusal.
func (d *Desk) orList(list web.List, typed string, err error) error {
	said, refused := Said(d.words, err)
	if !refused {
		return err
	}
	return Redrawn{web.ListsPlace, func(r *http.Request, f web.Frame) (templ.Component, error) {
		return d.listWith(r, f, web.Lists{List: list, Typed: typed, Fault: said})
	}}
}

func (d *Desk) setStatus(r *http.Request) (string, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return "", err
	}
	status := r.PostForm.Get("status")
	done, known := becomes[kind][status]
	if !known {
		return "", ErrNotHere
	}
	err = d.mutate(r, workbench.UpdateItem{Kind: kind, ID: r.PathValue("id"), Expected: version(r), Status: status})
	return at(list, done), d.orList(list, "", err)
}

func (d *Desk) convert(r *http.Request) (string, error) {
	target := workbench.ItemKind(r.PostForm.Get("target"))
	if target != workbench.Todo && target != workbench.Goal {
		return "", ErrNotHere
	}
	err := d.mutate(r, workbench.ConvertIdea{ID: r.PathValue("id"), Target: target, Expected: version(r)})
	return at(web.Ideas, "made-"+string(target)), d.orList(web.Ideas, "", err)
}

// entry draws the form of one entry.
func (d *Desk) entry(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.entryWith(r, f, "")
}

// entryWith draws it as it is now, and says why a change was not made.
func (d *Desk) entryWith(r *http.Request, f web.Frame, fault string) (templ.Component, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return nil, err
	}
	items, _, err := d.owner.Lists(r.Context())
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(items, func(i workbench.Item) bool { return i.Kind == kind && i.ID == r.PathValue("id") })
	if at < 0 {
		return nil, ErrNotHere
	}
	i := items[at]
	v := web.Edit{List: list, Name: text.Printable(i.Title), Fault: fault, Goal: i.GoalID, Item: web.Item{
		ID: i.ID, Version: i.Version, Title: i.Title, Note: i.Note, Status: i.Status, Due: i.Due, Criteria: i.Criteria,
	}}
	for _, g := range items {
		if kind != workbench.Goal && g.Kind == workbench.Goal && (g.Status != "archived" || g.ID == i.GoalID) {
			v.Goals = append(v.Goals, web.Goal{ID: g.ID, Title: text.Printable(g.Title)})
		}
	}
	return web.EditPage(f, v), nil
}

func (d *Desk) saveEntry(r *http.Request) (string, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return "", err
	}
	op, err := readUpdate(r, kind)
	if err == nil {
		err = d.mutate(r, op)
	}
	if errors.Is(err, workbench.ItemNotFound) {
		return "", d.orList(list, "", err)
	}
	if said, refused := Said(d.words, err); refused {
		return "", Redrawn{web.ListsPlace, func(r *http.Request, f web.Frame) (templ.Component, error) {
			return d.entryWith(r, f, said)
		}}
	}
	return at(list, "saved"), err
}

// readUpdate reads the form of an entry.
func readUpdate(r *http.Request, kind workbench.ItemKind) (workbench.UpdateItem, error) {
	form := r.PostForm
	op := workbench.UpdateItem{
		Kind: kind, ID: r.PathValue("id"), Expected: version(r), Status: form.Get("status"),
		Title: nova.Some(strings.TrimSpace(form.Get("title"))), Note: nova.Some(lines(form.Get("note"))),
	}
	good := fits(op.Title.Value, 1, web.MaxItemTitle) && fits(op.Note.Value, 0, web.MaxItemNote)
	if _, known := becomes[kind][op.Status]; !known {
		good = false
	}
	switch kind {
	case workbench.Todo:
		op.Due = nova.Some(form.Get("due"))
		if _, err := time.Parse(time.DateOnly, op.Due.Value); err != nil && op.Due.Value != "" {
			good = false
		}
	case workbench.Goal:
		op.Criteria = nova.Some(lines(form.Get("criteria")))
		good = good && fits(op.Criteria.Value, 0, web.MaxCriteria)
	case workbench.Idea:
	}
	if kind != workbench.Goal && form.Has("goal") {
		op.GoalID = nova.Some(form.Get("goal"))
	}
	if !good {
		return op, workbench.InvalidRequest
	}
	return op, nil
}

// aboutWith draws the profile as it is now; err is why it was not changed.
func (d *Desk) aboutWith(r *http.Request, f web.Frame, err error) (templ.Component, error) {
	_, profile, failed := d.owner.Lists(r.Context())
	if failed != nil {
		return nil, failed
	}
	said, _ := Said(d.words, err)
	return web.AboutPage(f, web.About{Text: profile.About, Version: profile.Version, Fault: said}), nil
}

func (d *Desk) describe(r *http.Request) (string, error) {
	about := lines(r.PostForm.Get("about"))
	err := error(workbench.InvalidRequest)
	if fits(about, 0, workbench.MaxProfile) {
		err = d.mutate(r, workbench.SetProfile{About: about, Expected: version(r)})
	}
	if _, refused := Said(d.words, err); refused {
		return "", Redrawn{web.ListsPlace, func(r *http.Request, f web.Frame) (templ.Component, error) {
			return d.aboutWith(r, f, err)
		}}
	}
	return at(web.AboutMe, "saved"), err
}

// mutate does op under a request id of its own: a form is sent once.
func (d *Desk) mutate(r *http.Request, op workbench.LifeOp) error {
	_, err := d.owner.MutateLife(r.Context(), rand.Text(), op)
	return err
}

// version is that of the entry that the form was drawn from. What is no number
// matches none.
func version(r *http.Request) uint64 {
	n, err := strconv.ParseUint(r.PostForm.Get("version"), 10, 53)
	if err != nil {
		return jsonform.MaxSafe
	}
	return n
}

// fits bounds s in UTF-16 units, which browsers count too.
func fits(s string, low, high int) bool {
	n := jsonform.UnitCount(s)
	return low <= n && n <= high
}
