package web

// PrivacyWords are the texts of the page Privacy & storage.
type PrivacyWords struct {
	Nav, Title, Lead                                                               string
	SearchTitle, SearchLead, SearchNone                                            string
	Pages, PagesLead, PagesSee, PagesNone, PagesNoneLead, PagesNothing             string
	PagesSearch, PagesHint, PagesFound, PagesAll, PageUntitled, PageSeen           string
	ForgetPage, ForgetPageTitle, ForgetSiteTitle, ForgetSite, ForgetAll            string
	ForgetAllTitle, ForgetLead, ForgetAllLead, ForgetTopics, ForgetButton          string
	Sites, SitesLead, SitesNone, SiteField, SiteHint, SiteAdd, SiteForget, SiteEnd string
	SitesFull                                                                      string
	Retention, RetainPages, RetainTopics, RetainPagesText, RetainTopicsText        string
	RetainLead, Storage, StorageText, StorageLead                                  string
	KindPages, KindLists, KindPhones, KindExtensions, KindSessions, KindChats      string
	TopicPages, TopicPage                                                          string
	AskWeb                                                                         string
}

func (w *Words) privacy() {
	p := &w.Privacy
	p.Nav, p.Title = "Privacy", "Privacy & storage"
	p.Lead = "What Plexus remembers, for how long, and what leaves this machine. Everything here is in one file on this machine."
	p.SearchTitle = "Search the web for what is said in conversations"
	p.SearchLead = "On: the words of every message, from the phone or this page, go to %s. Off: a message is looked up in the remembered pages only, unless you choose Search the web or write /search before it. Questions from the browser are not touched by this."
	p.SearchNone = "There is no search service, so nothing that is said in conversations leaves this machine for a search."
	p.Pages = "Remembered pages"
	p.PagesLead = "Pages that were asked about, so that later questions find them. Newest first."
	p.PagesSee = "Show the pages"
	p.PagesNone, p.PagesNoneLead = "No page is remembered", "Ask about a page in the browser's side panel, and it shows here."
	p.PagesNothing = "No remembered page fits"
	p.PagesSearch, p.PagesHint = "Search the remembered pages", "Words, title or address"
	p.PagesFound, p.PagesAll = "Pages with “%s”", "Show all pages"
	p.PageUntitled, p.PageSeen = "Page without a title", "Asked about"
	p.ForgetPage, p.ForgetPageTitle = "Forget…", "Forget this page?"
	p.ForgetSite, p.ForgetSiteTitle = "Forget site…", "Forget everything of %s?"
	p.ForgetAll, p.ForgetAllTitle = "Forget all pages…", "Forget all remembered pages?"
	p.ForgetLead = "It is erased from this machine, and an answer about it that is still being made is not kept. This cannot be undone. A backup that was made before still has it."
	p.ForgetAllLead = "All of them are erased from this machine, and answers that are still being made are not kept. This cannot be undone. A backup that was made before still has them."
	p.ForgetTopics, p.ForgetButton = "Delete the topics about it as well, here and on the phone", "Forget"
	p.Sites = "Excluded sites"
	p.SitesLead = "Of these sites nothing is kept, whatever is asked about them: no topic and no page. Answers work as before."
	p.SitesNone = "No site is excluded."
	p.SiteField, p.SiteHint = "Site", "example.org means it and everything below it, *.example.org only what is below, bank.* every ending."
	p.SiteAdd, p.SiteForget, p.SiteEnd = "Exclude", "Forget what is remembered of it already, pages and topics", "Remove"
	p.SitesFull = "No further site can be excluded. Remove one first."
	p.Retention, p.RetainPages, p.RetainTopics = "How long it is kept", "Pages", "Topics"
	p.RetainPagesText = "%d days of running after you last asked about one; at most %d pages and %s of text, the oldest go first"
	p.RetainTopicsText = "%d days of running after it was last touched; at most %d, the oldest go first"
	p.RetainLead = "Chats, lists and devices stay until you delete them. Only days on which Plexus ran count, so a wrong clock deletes nothing. For topics this is set in the configuration: conversations.topic_days and conversations.topics."
	p.Storage, p.StorageText = "What is stored", "%d, %s of text"
	p.StorageLead = "In the file as a whole there is more than its texts: the words by which they are found, and room that was given back."
	p.KindPages, p.KindLists, p.KindPhones = "Remembered pages", "To-dos, ideas and goals", "Phones"
	p.KindExtensions, p.KindSessions, p.KindChats = "Extensions", "Browsers signed in", "Chats and reminders"
	p.TopicPages = "Forget all remembered pages as well"
	p.TopicPage = "Forget the page as well"
	p.AskWeb = "Search the web"
}
