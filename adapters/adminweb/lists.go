package adminweb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/text"
	"plexus/domain/workbench"
	"plexus/usecases/personal/life"
	"plexus/web"
)

// Lists keeps the owner's lists and profile: *life.Life.
type Lists interface {
	Lists(ctx context.Context) (items []life.Item, profile life.Profile, err error)
	MutateLife(ctx context.Context, requestID string, op life.Op) (life.Outcome, error)
}

// maxClosed is how many entries are shown of those that are done with.
const maxClosed = 50

// kinds are the lists that hold entries.
var kinds = map[web.List]workbench.ItemKind{web.Todos: workbench.Todo, web.Ideas: workbench.Idea, web.Goals: workbench.Goal}

// statusNotices are the states that an entry can be given, with the notice that is
// shown then.
var statusNotices = map[workbench.ItemKind]map[string]string{
	workbench.Todo: {"open": "reopened", "doing": "saved", "waiting": "saved", "done": "item-done", "cancelled": "item-cancelled"},
	workbench.Idea: {"active": "restored", "archived": "archived"},
	workbench.Goal: {"active": "restored", "paused": "saved", "completed": "completed", "archived": "archived"},
}

// listOf reads the list of a path.
func listOf(r *http.Request) (web.List, workbench.ItemKind, error) {
	list := web.List(r.PathValue("list"))
	kind, ok := kinds[list]
	if !ok {
		return "", "", errNotFound
	}
	return list, kind, nil
}

// listPages are the owner's lists and the owner's profile.
type listPages struct{ lists Lists }

func (p listPages) view(r *http.Request, l web.Layout) (response, error) {
	list := web.List(cmp.Or(r.PathValue("list"), string(web.Todos)))
	if list == web.AboutMe {
		return p.aboutWith(r, l, nil)
	}
	return p.viewWith(r, l, web.Lists{List: list})
}

// viewWith fills one list, and what was typed and why it was not taken stays. Open
// entries are sorted by due date, closed ones by the latest change.
func (p listPages) viewWith(r *http.Request, l web.Layout, v web.Lists) (response, error) {
	kind, ok := kinds[v.List]
	if !ok {
		return response{}, errNotFound
	}
	items, _, err := p.lists.Lists(r.Context())
	if err != nil {
		return response{}, err
	}
	today := l.Now.Format(time.DateOnly)
	goals, done, total := goalsOf(items)
	for _, i := range items {
		if i.Kind != kind {
			continue
		}
		row := web.Item{
			ID: i.ID, Version: i.Version, Title: text.Printable(i.Title), Note: text.PrintableLines(i.Note), Status: i.Status,
			Due: text.Printable(i.Due), Goal: text.Printable(goals[i.GoalID]), Updated: i.UpdatedAt,
			Done: done[i.ID], Total: total[i.ID],
		}
		if slices.Contains([]string{"done", "cancelled", "completed", "archived"}, i.Status) {
			v.Closed = append(v.Closed, row)
			continue
		}
		row.Late = i.Due != "" && i.Due < today
		v.Open = append(v.Open, row)
	}
	slices.SortStableFunc(v.Open, func(a, b web.Item) int {
		if (a.Due == "") != (b.Due == "") {
			return cmp.Compare(b.Due, a.Due) // "" last
		}
		return cmp.Compare(a.Due, b.Due)
	})
	slices.SortStableFunc(v.Closed, func(a, b web.Item) int { return b.Updated.Compare(a.Updated) })
	if v.Hidden = max(len(v.Closed)-maxClosed, 0); v.Hidden > 0 {
		v.Closed = v.Closed[:maxClosed]
	}
	return show(web.ListPage(l, v))
}

// goalsOf gives the titles of the goals and how many of their to-dos are done; those
// that were cancelled do not count (nova-personal §3.9).
func goalsOf(items []life.Item) (titles map[string]string, done, total map[string]int) {
	titles, done, total = make(map[string]string), make(map[string]int), make(map[string]int)
	for _, i := range items {
		switch {
		case i.Kind == workbench.Goal:
			titles[i.ID] = i.Title
		case i.Kind == workbench.Todo && i.GoalID != "" && i.Status != "cancelled":
			total[i.GoalID]++
			if i.Status == "done" {
				done[i.GoalID]++
			}
		}
	}
	return titles, done, total
}

func (p listPages) addItem(r *http.Request) (response, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return response{}, err
	}
	title := strings.TrimSpace(r.PostForm.Get("title"))
	if fits(title, 1, web.MaxItemTitle) {
		err = p.mutate(r, life.CreateItem{Kind: kind, Title: title})
	} else {
		err = workbench.InvalidRequest
	}
	return p.redirect(list, "added", title, err)
}

// redirect leads to a list that was changed. When err is a refusal, the list
// is shown instead, with what was typed and why it was not taken.
func (p listPages) redirect(list web.List, done, typed string, err error) (response, error) {
	if isRefusal(err) {
		return correct(web.ListsPlace, func(r *http.Request, l web.Layout) (response, error) {
			return p.viewWith(r, l, web.Lists{List: list, Typed: typed, Fault: refusalText(l.T, err)})
		}), nil
	}
	return redirect("lists/" + string(list) + "?done=" + done), err
}

func (p listPages) setStatus(r *http.Request) (response, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return response{}, err
	}
	status := r.PostForm.Get("status")
	done, known := statusNotices[kind][status]
	if !known {
		return response{}, errNotFound
	}
	err = p.mutate(r, life.UpdateItem{Kind: kind, ID: r.PathValue("id"), Expected: formVersion(r), Status: status})
	return p.redirect(list, done, "", err)
}

func (p listPages) convertIdea(r *http.Request) (response, error) {
	target := workbench.ItemKind(r.PostForm.Get("target"))
	if target != workbench.Todo && target != workbench.Goal {
		return response{}, errNotFound
	}
	err := p.mutate(r, life.ConvertIdea{ID: r.PathValue("id"), Target: target, Expected: formVersion(r)})
	return p.redirect(web.Ideas, "made-"+string(target), "", err)
}

// item shows the form of one entry.
func (p listPages) item(r *http.Request, l web.Layout) (response, error) {
	return p.itemWith(r, l, nil)
}

// itemWith shows it as it is now; refusal is why a change was not made.
func (p listPages) itemWith(r *http.Request, l web.Layout, refusal error) (response, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return response{}, err
	}
	items, _, err := p.lists.Lists(r.Context())
	if err != nil {
		return response{}, err
	}
	at := slices.IndexFunc(items, func(i life.Item) bool { return i.Kind == kind && i.ID == r.PathValue("id") })
	if at < 0 {
		return response{}, errNotFound
	}
	i := items[at]
	v := web.Edit{List: list, Name: text.Printable(i.Title), Fault: refusalText(l.T, refusal), Goal: i.GoalID, Item: web.Item{
		ID: i.ID, Version: i.Version, Title: i.Title, Note: i.Note, Status: i.Status, Due: i.Due, Criteria: i.Criteria,
	}}
	for _, g := range items {
		if kind != workbench.Goal && g.Kind == workbench.Goal && (g.Status != "archived" || g.ID == i.GoalID) {
			v.Goals = append(v.Goals, web.Goal{ID: g.ID, Title: text.Printable(g.Title)})
		}
	}
	return show(web.EditPage(l, v))
}

func (p listPages) saveItem(r *http.Request) (response, error) {
	list, kind, err := listOf(r)
	if err != nil {
		return response{}, err
	}
	op, err := parseUpdate(r, kind)
	if err == nil {
		err = p.mutate(r, op)
	}
	if isRefusal(err) && !errors.Is(err, workbench.ItemNotFound) {
		return correct(web.ListsPlace, func(r *http.Request, l web.Layout) (response, error) {
			return p.itemWith(r, l, err)
		}), nil
	}
	return p.redirect(list, "saved", "", err)
}

// parseUpdate reads the form of an entry.
func parseUpdate(r *http.Request, kind workbench.ItemKind) (life.UpdateItem, error) {
	form := r.PostForm
	op := life.UpdateItem{
		Kind: kind, ID: r.PathValue("id"), Expected: formVersion(r), Status: form.Get("status"),
		Title: nova.Some(strings.TrimSpace(form.Get("title"))), Note: nova.Some(formText(r, "note")),
	}
	_, good := statusNotices[kind][op.Status]
	good = good && fits(op.Title.Value, 1, web.MaxItemTitle) && fits(op.Note.Value, 0, web.MaxItemNote)
	switch kind {
	case workbench.Todo:
		op.Due = nova.Some(form.Get("due"))
		if _, err := time.Parse(time.DateOnly, op.Due.Value); err != nil && op.Due.Value != "" {
			good = false
		}
	case workbench.Goal:
		op.Criteria = nova.Some(formText(r, "criteria"))
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

// aboutWith shows the profile as it is now; refusal is why it was not changed.
func (p listPages) aboutWith(r *http.Request, l web.Layout, refusal error) (response, error) {
	_, profile, err := p.lists.Lists(r.Context())
	if err != nil {
		return response{}, err
	}
	return show(web.AboutPage(l, web.About{Text: profile.About, Version: profile.Version, Fault: refusalText(l.T, refusal)}))
}

func (p listPages) setAbout(r *http.Request) (response, error) {
	about := formText(r, "about")
	err := error(workbench.InvalidRequest)
	if fits(about, 0, life.MaxProfile) {
		err = p.mutate(r, life.SetProfile{About: about, Expected: formVersion(r)})
	}
	if isRefusal(err) {
		return correct(web.ListsPlace, func(r *http.Request, l web.Layout) (response, error) {
			return p.aboutWith(r, l, err)
		}), nil
	}
	return redirect("lists/about?done=saved"), err
}

// mutate does op under a request id of its own: a form is sent once.
func (p listPages) mutate(r *http.Request, op life.Op) error {
	_, err := p.lists.MutateLife(r.Context(), rand.Text(), op)
	return err
}

// formVersion is that of the entry that the form was made from. Anything that is no
// number matches no version.
func formVersion(r *http.Request) uint64 {
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
