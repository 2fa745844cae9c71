package stories

import (
	"fmt"
	"time"

	"plexus/web"
)

func (b *book) privacy() {
	l := b.layout(web.PrivacyPlace)
	t := l.T
	v := web.Privacy{
		Recording: web.Switch{On: true}, Service: "searxng at search.example.org", Index: web.Index{Enabled: true, Pages: 1204, Bytes: 5 << 20},
		Sites:     []string{"*.intranet.example", "bank.*", "clinic.example.org"},
		Retention: web.Retention{PageDays: 180, Pages: 20_000, PageBytes: 512 << 20, TopicDays: 365, Topics: 5000},
		Storage: web.Storage{DatabaseBytes: 19 << 20, DataDir: "~/.local/share/plexus", Kinds: []web.StoredKind{
			{Name: t.Privacy.KindPages, Count: 1204, Bytes: 5 << 20, Place: web.PrivacyPlace + "/pages"},
			{Name: t.Privacy.RetainTopics, Count: 311, Place: web.ConversationsPlace},
			{Name: t.Privacy.KindChats, Count: 9, Place: web.ConversationsPlace},
			{Name: t.KeptMessages, Count: 2077, Bytes: 3 << 20, Place: web.ConversationsPlace},
			{Name: t.Privacy.KindLists, Count: 41, Place: web.ListsPlace},
			{Name: t.Privacy.KindPhones, Count: 2, Place: web.DevicesPlace},
			{Name: t.Privacy.KindExtensions, Count: 1, Place: web.ExtensionsPlace},
			{Name: t.Privacy.KindSessions, Count: 2, Place: web.SessionsPlace},
		}},
	}
	b.add("privacy", web.PrivacyPage(l, v))
	none := web.Privacy{
		Recording: web.Switch{FixedBy: "conversations.record_browser in config.toml"}, Retention: v.Retention,
		Storage: web.Storage{DatabaseBytes: 120 << 10, DataDir: "/data", Kinds: v.Storage.Kinds[:0]},
	}
	b.add("privacy-new", web.PrivacyPage(l, none))
	v.Typed, v.Fault = "bank.example:443", "Leave the port away and write bank.example: a site is left out with all its ports."
	v.Searching = web.Switch{On: true, FixedBy: "search.conversations in config.toml"}
	v.Sites = append(v.Sites, longName()+".example")
	b.add("privacy-fault", web.PrivacyPage(l, v))

	list := web.RememberedPages{Size: 50, Total: 20_000, From: 50, Pages: []web.RememberedPage{
		{URL: bridgeAddress, Address: bridgeAddress, Title: "Sydney Harbour Bridge", Site: "en.example.org", Bytes: 3900, LastSeen: b.before(20 * time.Minute)},
		{URL: "https://example.org/", Address: "https://example.org/", Site: "example.org", LastSeen: b.before(3 * day)},
		{URL: "https://example.org/x", Address: "https://example.org/" + longName() + longName(), Title: "<img src=x onerror=alert(1)> " + longName(), Site: longName() + ".example", Bytes: 64 << 10, LastSeen: b.before(100 * day)},
	}}
	b.add("remembered", web.RememberedPagesPage(l, list))
	b.add("remembered-empty", web.RememberedPagesPage(l, web.RememberedPages{Size: 50}))
	list.Asked, list.From, list.Total, list.Pages = "bridge <b>", 0, 1, list.Pages[:1]
	b.add("remembered-found", web.RememberedPagesPage(l, list))
	b.add("remembered-nothing", web.RememberedPagesPage(l, web.RememberedPages{Size: 50, Asked: longName()}))
	b.add("remembered-forget", web.ConfirmPage(l, web.Confirm{
		Title: fmt.Sprintf(t.Privacy.ForgetSiteTitle, "en.example.org"), Lead: t.Privacy.ForgetLead, Button: t.Privacy.ForgetButton, Action: "privacy/forget",
		Back: web.PrivacyPlace + "/pages", Option: web.Option{Name: "topics", Label: t.Privacy.ForgetTopics}, Fields: []web.Field{{Name: "site", Value: "en.example.org"}},
	}))
}
