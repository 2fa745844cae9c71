package web

import "fmt"

// Words are all texts of the pages in one language. A text with a verb such as
// %s is completed by the template that shows it.
type Words struct {
	Lang string // of the html element

	Product, Skip, Navigation                                    string
	Overview, Pair, Devices, Extensions, Refused, Sessions       string
	SignOut, Back, Cancel, Copy, Copied, NeedsAttention          string
	JustNow, MinuteAgo, MinutesAgo, HourAgo, HoursAgo            string
	DayAgo, DaysAgo, InFuture                                    string
	Seconds, Minutes, Hours, Days                                string
	Lost, Broken, NotFound, NotFoundLead, FixedBy, ServerProblem string

	SignInTitle, SignInLead, SignInOpen, SignInOr, SignInCodeLead              string
	SignInField, SignInButton, SignInLeft, SignInWorking, SignInNoScript       string
	SignInBadCode, SignInBadLink, SignInEnded, SignInCommand, SignInPrint      string
	StepsTitle, StepExtension, StepExtensionDone, StepPhone, StepPhoneDone     string
	StepExtensionLead, StepPhoneLead, StepDone, StepOpen                       string
	Waiting, WaitingLead, WaitingCompare, Allow, Remove, Forget, SeeAll        string
	Services, Search, Model, Memory, PublicAddress                             string
	SearchOff, SearchBuiltIn, SearchNone, ModelOff, ModelBuiltIn, ModelAdvice  string
	ModelNoChat, ModelNoChatAdvice, ModelRefused, PassedOver, MorePassedOver   string
	DiskFull, UnstoredOne, UnstoredMany, MakeRoom                              string
	SearchAdvice, IndexPages, IndexPage, IndexOff                              string
	Answers, DoesNotAnswer, SwitchedOff, BuiltInState, Troubled, Set           string
	Failed, FailedOnce, FoundModel, UseModel, NoAddress, SetAddress            string
	Dictation, DictationOff, DictationAdvice, DictationNoModel                 string
	Voice, VoiceNone, VoiceToText, VoiceToDictation, NotThere                  string
	Live, LiveExtensions, LivePhone, NoPhone, PhonesPaused                     string
	Work, FirstResult, FullAnswer, HalfWithin, NearlyAllWithin, ChartLabel     string
	NoWork, NoWorkLead, Counts, RecentRefusals, Nobody                         string
	Program, Version, Uptime, Database, DataFolder                             string
	PairTitle, PairLead, ShowCode, Where, UseOffered, OfferedLead, TypeAddress string
	AddressField, AddressHint, UseTyped, AddressNeeded, Publish, PublishLead   string
	ChangeAddress, ForgetAddress, PhonesFull, PairGuide                        string
	SettingFixed, AddressPart, AddressWhole                                    string
	PauseTitle, PauseLead, PausedWarning                                       string

	CodeTitle, CodeAlt, CodeGoesTo, CodeCheck, CodeStep1, CodeStep2, CodeStep3 string
	CodeWaiting, CodeRedeemed, CodeReplaced, CodeCanceled, CodeGone            string
	CodeRedeemedLead, CodeConnected, CodeReplacedLead, CodeCanceledLead        string
	CodeGoneLead, CodeText, CodeTextLead, CodeCancel, CodeNew, CodeDevices     string
	CodeLegacy, CodeLegacyLead, CodeLegacyUse, CodeLegacyOn, CodeLegacyOff     string
	RedeemWait, RedeemNow, KeepFirst, KeepOther, KeepFixed, KeepNow            string

	DevicesLead, NoDevices, NoDevicesLead, PairedSince, ConnectedNow                  string
	LastSeen, NeverConnected, NeverConnectedLead, Revoke, RevokeTitle                 string
	RevokeLead, RevokeButton, Hosts, HostsLead, HostFixed, HostRemove, Named          string
	HostInvited, BusyNow, BusyThen, BusyKept, LetIn, Rename, RenameTitle, RenameField string
	RenameHint, NameEmpty, NameTooLong, NameMarks, TurnedAway                         string

	ExtensionsLead, NoExtensions, NoExtensionsLead, Digits, NoDigits string
	FirstSeen, OtherExtension                                        string

	RefusedLead, NoRefused, NoRefusedLead, Times, Once, Since, AnyTool string
	SessionsLead, ThisBrowser, SignedIn, Until, EndSession             string

	ExtensionKinds map[string]string // by the scheme of the origin
	StateNames     map[ExtensionState]string
	StateLeads     map[ExtensionState]string // what a state means; none for one that is usual

	Redeems map[RedeemCause]string // why a phone was refused, and what to do

	Conversations, Lists, ConversationsLead                                                    string
	SearchLabel, SearchButton, SearchHint, SearchFor                                           string
	SearchNothing, SearchNothingLead, SearchMost, SearchEnd                                    string
	NewChat, NewChatTitle, NewChatHint, NoOthers, NoOthersLead                                 string
	Span, Newer, OlderList, UnreadOne, UnreadMany, Touched                                     string
	InputNone, InputTextOnly, RecordTitle, RecordLead                                          string
	DropTopics, DropTopicsTitle, DropTopicsLead, DropTopicsButton                              string
	You, Write, WriteHint, Send, ConversationEmpty, ConversationEmptyLead, ConversationNoInput string
	RemindersEmpty, RemindersEmptyLead                                                         string
	OlderMessages, NewestMessages, QuotedLead                                                  string
	Clear, ClearTitle, ClearLead, ClearButton                                                  string
	Delete, DeleteTitle, DeleteLead, DeleteButton, Answering, NotSent, AskAgain, WhyNoAnswer   string
	KeptTitle, KeptConversations, KeptTopics, KeptMessages, KeptText                           string

	Privacy PrivacyWords

	Kinds         map[ConversationKind]string
	MessageStates map[MessageState]string

	Add, Done, Reopen, Edit, Save, Archive, Complete, Restore           string
	MakeTodo, MakeGoal, Due, Late, ForGoal, Progress                    string
	EditTitle, FieldTitle, FieldDue, FieldNote, FieldStatus             string
	FieldCriteria, FieldGoal, NoGoal, CancelTodo, AboutField, AboutHint string
	ListsNavigation, ClosedMore, Conflict                               string
	ListNames, ListLeads, AddLabels, EmptyLists, EmptyLeads             map[List]string
	ClosedLists                                                         map[List]string
	Statuses                                                            map[string]string // of entries, by their names in the protocol
	Refusals                                                            map[string]string // why something was not done, by its name in the protocol

	Causes  map[string]string // short title of a refusal by its cause
	Advice  map[string]string // what to do about it, where this page is the place for it
	Notices map[string]string // what an action did, by its name
	Parts   map[string]string // parts of an address, by their names in the domain
}

// Fault says what is wrong with a typed address: the part, and why.
func (w Words) Fault(part, reason string) string {
	if name, ok := w.Parts[part]; ok {
		return fmt.Sprintf(w.AddressPart, name, reason)
	}
	return fmt.Sprintf(w.AddressWhole, reason)
}

// English gives the texts in English.
func English() Words {
	w := Words{Lang: "en"}
	w.layout()
	w.signIn()
	w.overview()
	w.pairing()
	w.devicesAndExtensions()
	w.tables()
	w.conversations()
	w.lists()
	w.privacy()
	return w
}

func (w *Words) layout() {
	w.Product, w.Skip, w.Navigation = "Plexus", "Skip to the content", "Pages"
	w.Overview, w.Pair, w.Devices = "Overview", "Pair a phone", "Devices"
	w.Extensions, w.Refused, w.Sessions = "Extensions", "Refused", "Sessions"
	w.SignOut, w.Back, w.Cancel, w.Copy, w.Copied = "Sign out", "Back", "Cancel", "Copy", "Copied"
	w.NeedsAttention = "%d waiting"
	w.JustNow, w.MinuteAgo, w.MinutesAgo = "just now", "1 minute ago", "%d minutes ago"
	w.HourAgo, w.HoursAgo, w.DayAgo, w.DaysAgo = "1 hour ago", "%d hours ago", "yesterday", "%d days ago"
	w.InFuture = "later"
	w.Seconds, w.Minutes, w.Hours, w.Days = "%d s", "%d min", "%d h %d min", "%d d %d h"
	w.Lost = "Plexus does not answer. What you see may be out of date; this page will catch up by itself."
	w.Broken = "Something went wrong. The log of Plexus says what."
	w.NotFound, w.NotFoundLead = "There is nothing here", "What you were looking for is gone, or never was at this address."
	w.FixedBy = "Set by %s, so it is changed there."
	w.ServerProblem = "That did not work"
}

func (w *Words) signIn() {
	w.SignInTitle = "This page is for the owner of this machine"
	w.SignInLead = "There is no password. You sign in from a terminal, because whoever can run Plexus there owns it."
	w.SignInOpen, w.SignInCommand = "Open this page signed in:", "plexus open"
	w.SignInOr, w.SignInPrint = "Or get a code for the field below:", "plexus open --print-code"
	w.SignInCodeLead = "Ten letters and digits. It works once, for one minute."
	w.SignInField, w.SignInButton = "Code from the terminal", "Sign in"
	w.SignInLeft = "You are signed out."
	w.SignInWorking = "Signing in…"
	w.SignInNoScript = "Without JavaScript, use a code: the link of plexus open needs it."
	w.SignInBadCode = "This code is not right, or its minute is over. Get a new one if the next try fails too: after five wrong tries a code is void."
	w.SignInBadLink = "This link has been used, or its minute is over. Run plexus open again."
	w.SignInEnded = "This session has ended. Sign in again to go on."
}

func (w *Words) overview() {
	w.StepsTitle, w.StepDone, w.StepOpen = "Two steps to get going", "Done", "To do"
	w.StepExtension, w.StepExtensionDone = "Let your browser in", "Your browser is in"
	w.StepExtensionLead = "Install the Plexus extension and open its side panel. It knocks here, and you allow it."
	w.StepPhone, w.StepPhoneDone = "Pair your phone", "Your phone has connected"
	w.StepPhoneLead = "Show a code here and scan it with the app. This step is done when the phone has connected."
	w.Waiting, w.SeeAll = "At the door", "See all"
	w.DiskFull, w.UnstoredOne, w.UnstoredMany = "The disk is full", "1 text or change could not be stored.", "%d texts or changes could not be stored."
	w.MakeRoom = "Make room on the disk of the data directory; then it works again by itself."
	w.WaitingLead = "An extension wants to ask questions and read the answers."
	w.WaitingCompare = "Allow it only if its panel shows these four digits."
	w.Allow, w.Remove, w.Forget = "Allow", "Remove", "Forget"
	w.Services, w.Search, w.Model, w.Memory, w.PublicAddress = "What answers", "Search", "Model", "Pages", "Address for phones"
	w.SearchOff, w.SearchNone = "Switched off", "None"
	w.SearchBuiltIn = "The pages you have asked about"
	w.SearchAdvice = "Set a search service in the configuration to search the web."
	w.ModelOff, w.ModelBuiltIn = "Switched off: answers stay empty", "None: answers quote the page and the results"
	w.ModelNoChat = "None that chats: answers quote the page and the results"
	w.ModelNoChatAdvice = "Get one that chats, such as llama3.2. It is found within a minute."
	w.ModelRefused = "This model does not chat, so it is not used."
	w.PassedOver, w.MorePassedOver = "%s (%s) does not chat: %s", "And %d more"
	w.ModelAdvice = "Start Ollama, LM Studio or llama.cpp, and it is offered here."
	w.IndexPages, w.IndexPage, w.IndexOff = "%d pages remembered, %s of text", "1 page remembered, %s of text", "Pages are not remembered"
	w.Answers, w.DoesNotAnswer, w.SwitchedOff, w.BuiltInState = "Answers", "Does not answer", "Off", "Built in"
	w.Troubled, w.Set = "Problem", "Set"
	w.Failed, w.FailedOnce = "Failed %d times since the start, last", "Failed once since the start,"
	w.FoundModel, w.UseModel = "%s runs on this machine (%s)", "Use it"
	w.NoAddress, w.SetAddress = "Phones do not know where to find this machine", "Set up"
	w.Dictation, w.DictationOff = "Dictation", "Off: nothing turns speech into text"
	w.DictationAdvice = "Phone apps show their text box only when dictation works. To switch it on, put into the configuration:"
	w.DictationNoModel = "Phones are offered neither text nor dictation, because there is no model."
	w.Voice, w.NotThere = "Voice", "Not there"
	w.VoiceNone = "Plexus does not speak, and does not listen along. It turns down what an app asks in its voice mode."
	w.VoiceToText = "Switch the app to text: there you can write and dictate."
	w.VoiceToDictation = "Apps can be switched to text only when dictation works."
	w.Live, w.LiveExtensions, w.LivePhone = "Connected now", "Extensions and tools", "Phone"
	w.NoPhone, w.PhonesPaused = "No phone is connected", "No phone for now: all are turned away"
	w.Work, w.FirstResult, w.FullAnswer = "How fast it answers", "First results", "Whole answers"
	w.HalfWithin, w.NearlyAllWithin = "half within", "99 % within"
	w.ChartLabel = "The last %d answers, the slowest took %s"
	w.NoWork, w.NoWorkLead = "No question yet", "Ask one in the browser's side panel, and its time shows here."
	w.Counts = "%d answered, %d stopped, %d refused since the start"
	w.RecentRefusals, w.Nobody = "Turned away lately", "Nobody was turned away."
	w.Program, w.Version, w.Uptime = "This program", "Version", "Running for"
	w.Database, w.DataFolder = "Database", "Data folder"
}

func (w *Words) pairing() {
	w.PairTitle = "Pair a phone"
	w.PairLead = "A code is shown that lets one phone in. The phone then reaches this machine at the address below."
	w.ShowCode, w.Where = "Show the code", "The phone will connect to"
	w.UseOffered, w.OfferedLead = "Use %s", "This machine's name in your Tailscale network."
	w.TypeAddress, w.AddressField, w.AddressHint = "Another address", "Address", "For example wss://box.tailnet.ts.net or wss://home.example.org:8443"
	w.UseTyped = "Use this address"
	w.AddressNeeded = "No address is set yet. A code would send the phone nowhere, so choose one first."
	w.Publish, w.PublishLead = "Make it reachable", "Once, in a terminal on this machine:"
	w.ChangeAddress, w.ForgetAddress = "Change the address", "Forget this address"
	w.PhonesFull = "All places for devices are taken. Revoke one first."
	w.PairGuide = "Plexus itself listens on this machine only. Something in front of it, such as Tailscale Serve, brings phones in with TLS."
	w.SettingFixed = "This is set outside this page, so it is changed there."
	w.AddressPart, w.AddressWhole = "Wrong %s: %s", "Wrong address: %s"
	w.PauseTitle = "No phone for now"
	w.PauseLead = "Phones are turned away until you switch this off. They stay paired."
	w.PausedWarning = "Phones are turned away right now. Switch “No phone for now” off before you scan."

	w.CodeTitle, w.CodeAlt = "Scan this with your phone", "QR code that pairs a phone with this machine"
	w.CodeGoesTo, w.CodeCheck = "The phone will connect to", "The app shows the same name. If it does not, stop."
	w.CodeStep1, w.CodeStep2, w.CodeStep3 = "Open the app and choose to pair.", "Scan the code.", "Check the name and confirm."
	w.CodeWaiting = "Waiting for a phone. The code works once."
	w.CodeRedeemed, w.CodeRedeemedLead = "Paired with %s", "Now it has to connect once. Keep the app open."
	w.CodeConnected = "It has connected. You are done."
	w.CodeReplaced, w.CodeReplacedLead = "This code was replaced", "A newer code was made, in another tab or in a terminal. Only the newest works."
	w.CodeCanceled, w.CodeCanceledLead = "This code was taken back", "Nobody can use it any more."
	w.CodeGone, w.CodeGoneLead = "This code is gone", "Plexus has started again since, and codes do not outlive it. Nobody can use it any more."
	w.CodeText, w.CodeTextLead = "No camera?", "Copy this text into the app. Do not send it through a chat: whoever reads it first is paired."
	w.CodeCancel, w.CodeNew, w.CodeDevices = "Take the code back", "Show a new code", "See devices"
	w.CodeLegacy = "My app refuses the code"
	w.CodeLegacyLead = "Some versions of the app insist on an expiry date. The same code can be shown with one; it is drawn anew every minute."
	w.CodeLegacyUse, w.CodeLegacyOff = "Show it with an expiry date", "Show it without"
	w.CodeLegacyOn = "Shown with an expiry date two minutes from now, drawn anew every minute."
	w.KeepNow, w.KeepFirst = "Keep it now", "Plexus remembers this address once a phone has paired by it."
	w.KeepOther = "It is %s so far. It changes to the one of this code once a phone has paired by it."
	w.KeepFixed = "It is %s, set by %s, and stays that. A phone that pairs by this code gets in as well."
	w.RedeemWait, w.RedeemNow = "Phones may try again in %s, at %s.", "Phones may try again now."
	w.Redeems = map[RedeemCause]string{
		RedeemWrongCode:   "A phone tried a code that is not this one. If it is yours, let it scan this one.",
		RedeemBadName:     "A phone tried this code under a name that cannot be used. Give it a short plain name in the app, and scan again: the code is still good.",
		RedeemListFull:    "A phone tried this code when all places for devices were taken. Revoke one, and scan again: the code is still good.",
		RedeemTooMany:     "A phone was turned away because there were too many tries within a minute. The code is still good.",
		RedeemGivenUp:     "A phone began to pair and went away before it was answered. Scan again: the code is still good.",
		RedeemStoreFailed: "A phone tried to pair and could not be stored. The log of Plexus says why; the code is still good.",
	}
}

func (w *Words) devicesAndExtensions() {
	w.DevicesLead = "Phones that may connect. One can be connected at a time."
	w.NoDevices, w.NoDevicesLead = "No phone is paired", "Pair one, and it shows here with the time it was last seen."
	w.PairedSince, w.ConnectedNow, w.LastSeen = "Paired", "Connected now", "Last seen"
	w.NeverConnected = "Never connected"
	w.NeverConnectedLead = "It took the code but never used what it got. If that phone does not connect, revoke it and pair again."
	w.BusyNow, w.BusyThen, w.TurnedAway = "Another phone is connected", "Another phone was connected", "Turned away"
	w.BusyKept = "The place is kept for another phone, which you let in"
	w.LetIn, w.Rename, w.RenameTitle, w.RenameField = "Let this one in", "Rename…", "Rename a phone", "Name"
	w.RenameHint = "The name is for you; the phone does not learn it. Of two phones with one name the later one gets a number."
	w.NameEmpty = "A name needs at least one character that can be seen."
	w.NameTooLong = "That is too long. A name can have 80 characters."
	w.NameMarks = "That holds control characters, or marks that change the direction of writing. Leave them out."
	w.Revoke, w.RevokeTitle = "Revoke…", "Revoke %s?"
	w.RevokeLead = "It is disconnected at once and cannot come back. To let it in again you pair it anew."
	w.RevokeButton = "Revoke"
	w.Hosts, w.HostFixed, w.HostRemove = "Names that phones may use", "The public address", "Remove"
	w.HostInvited = "While the code is open"
	w.HostsLead = "A phone is let in only under one of these names. If you remove one, phones that were paired by it no longer get through."
	w.Named = "%s: %s"

	w.ExtensionsLead = "Browser extensions that may ask questions. Each is known by its origin and by a key of its own."
	w.NoExtensions = "No extension has knocked yet"
	w.NoExtensionsLead = "Install the Plexus extension and open its side panel; it shows up here by itself."
	w.Digits, w.NoDigits = "Four digits", "no key"
	w.StateNames = map[ExtensionState]string{
		ExtensionWaiting: "Waiting", ExtensionAllowed: "Allowed", ExtensionByToken: "Allowed by token", ExtensionBlocked: "Removed",
	}
	w.StateLeads = map[ExtensionState]string{
		ExtensionWaiting: "Allow it only if its panel shows the same four digits.",
		ExtensionByToken: "It came with the host token instead of a key of its own.",
		ExtensionBlocked: "It stays out. Allow lets it in again; Forget makes it knock like a new one.",
	}
	w.FirstSeen = "First seen"
	w.ExtensionKinds = map[string]string{
		"chrome-extension": "Chromium extension", "moz-extension": "Firefox extension", "safari-web-extension": "Safari extension",
	}
	w.OtherExtension = "Extension"

	w.RefusedLead = "Who tried to connect and was turned away, why, and what to do. The last 100."
	w.NoRefused, w.NoRefusedLead = "Nobody was turned away", "If something cannot connect, the reason will be here."
	w.Times, w.Once, w.Since, w.AnyTool = "%d times", "once", "first", "A program on this machine"
	w.SessionsLead = "Browsers that are signed in to this page."
	w.ThisBrowser, w.SignedIn, w.Until, w.EndSession = "This browser", "Signed in", "until", "End"
}

func (w *Words) tables() {
	w.Causes = map[string]string{
		"wrong_host": "Wrong host name", "proxied": "Came through a proxy", "foreign_user": "Another user of this machine",
		"web_origin": "A web page", "no_token": "No host token", "no_master": "No master token", "no_key": "No key", "wrong_offer": "Key of the wrong form",
		"key_waiting": "Waiting to be allowed", "key_blocked": "Removed by you", "store_failed": "The list could not be read",
		"too_many": "Too many connections", "phone_busy": "Another phone is connected",
	}
	w.Advice = map[string]string{
		"proxied":     "The request came through a proxy; this page and the door for extensions are for this machine alone.",
		"key_waiting": "An extension waits for you: under Extensions, compare its four digits and allow it.",
		"key_blocked": "You have removed this extension; under Extensions, Allow lets it in again.",
		"phone_busy":  "One phone can be connected at a time. Close the app on the other one; or, under Devices, let this one in, which ends the other connection.",
		"web_origin":  "A web page tried to reach Plexus; web pages are never let in.",
	}
	w.Parts = map[string]string{
		"length": "length", "scheme": "scheme", "user": "user name", "host": "host name", "port": "port", "path": "path",
		"query": "query", "fragment": "fragment",
	}
	w.Notices = map[string]string{
		"allowed": "Allowed. It connects at its next try, within seconds.", "removed": "Removed, and disconnected.",
		"forgotten": "Forgotten.", "revoked": "Revoked, and disconnected.", "renamed": "Renamed.",
		"let-in": "The other phone is disconnected. This one gets in when it tries again within two minutes.", "host-removed": "The name is removed.",
		"cancelled": "The code is taken back.", "paused": "Phones are turned away.", "resumed": "Phones may connect again.",
		"model": "The model is in use from the next question on.", "address": "The address is remembered.",
		"address-forgotten": "The address is forgotten.", "session-ended": "That browser is signed out.",
		"cleared": "Cleared.", "deleted": "Deleted.", "topics-deleted": "All topics are deleted.",
		"recording": "Questions from the browser are remembered from now on.", "not-recording": "Questions from the browser are not remembered any more. Neither are pages. What there is stays until you delete it.",
		"searching": "What is said in conversations is searched for from now on.", "not-searching": "What is said in conversations is looked up on this machine only.",
		"excluded": "From now on nothing is kept of that site.", "excluded-forgotten": "From now on nothing is kept of that site, and what was remembered of it is erased.",
		"included": "That site is remembered again from now on.", "pages-forgotten": "It is erased.",
		"topics-pages-deleted": "All topics are deleted, and all remembered pages are erased.",
		"added":                "Added.", "saved": "Saved.", "item-done": "Done.", "reopened": "Open again.", "item-cancelled": "Cancelled.",
		"archived": "Archived.", "completed": "Completed.", "restored": "Restored.", "made-todo": "It is a to-do now, too.", "made-goal": "It is a goal now, too.",
	}
}
