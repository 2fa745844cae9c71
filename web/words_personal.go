package web

func (w *Words) conversations() {
	w.Conversations, w.Lists = "Conversations", "Lists"
	w.ConversationsLead = "Everything that was said here, on your phone and in the browser. It stays on this machine."
	w.SearchLabel, w.SearchButton, w.SearchHint = "Search all messages", "Search", "Search all messages"
	w.SearchNothing, w.SearchNothingLead = "No message has all these words", "Try fewer words, or other ones."
	w.SearchFor, w.SearchMost, w.SearchEnd = "Messages with “%s”", "There may be more. Add a word to narrow it down.", "Show all conversations"
	w.NewChat, w.NewChatTitle, w.NewChatHint = "New chat", "Title of the new chat", "Title, if you like"
	w.NoOthers, w.NoOthersLead = "No other conversation yet", "Ask something in the browser's side panel and it becomes a topic, or start a chat."
	w.Span, w.Newer, w.OlderList = "%d–%d of %d", "Newer", "Older"
	w.Kinds = map[ConversationKind]string{MainChat: "Main chat", Reminders: "Reminders", Chat: "Chat", Topic: "Topic"}
	w.UnreadOne, w.UnreadMany = "1 unread", "%d unread"
	w.Touched = "Last touched"
	w.InputNone = "There is no model, so nothing can be answered here, and phones show no text box. Start Ollama, LM Studio or llama.cpp, or set a model in the configuration."
	w.InputTextOnly = "Phones show no text box: the app shows one only where dictation works too. Set a recognizer in the configuration. Writing here works."
	w.RecordTitle, w.RecordLead = "Remember what is asked in the browser", "A question about a page becomes a topic, which the phone can go on with, and later questions find the page. Off, neither is kept. Private windows are never remembered."
	w.DropTopics, w.DropTopicsTitle, w.DropTopicsButton = "Delete all topics…", "Delete all topics?", "Delete all topics"
	w.DropTopicsLead = "Every topic and what was said in it is gone, here and on the phone. Chats stay. This cannot be undone."

	w.You, w.Write, w.WriteHint, w.Send = "You", "Your message", "Write a message", "Send"
	w.ConversationEmpty, w.ConversationEmptyLead = "Nothing has been said here", "Write the first message below."
	w.RemindersEmpty, w.RemindersEmptyLead = "No reminder yet", "What Plexus says of its own accord is kept here."
	w.ConversationNoInput = "As soon as there is a model you can write here."
	w.OlderMessages, w.NewestMessages = "Older messages", "Back to the newest"
	w.QuotedLead = "The text of the page is quoted to the model as untrusted."
	w.Clear, w.ClearTitle, w.ClearButton = "Clear…", "Clear “%s”?", "Clear"
	w.ClearLead = "Every message in it is gone, here and on the phone, and an answer under way is stopped. The conversation itself stays."
	w.Delete, w.DeleteTitle, w.DeleteButton = "Delete…", "Delete “%s”?", "Delete"
	w.DeleteLead = "The conversation and every message in it are gone, here and on the phone. This cannot be undone."
	w.MessageStates = map[MessageState]string{
		MessageWaiting: "Waiting for the answer", MessageFailed: "No answer", MessageInterrupted: "Interrupted", MessageCutOff: "Not the whole answer",
	}
	w.AskAgain, w.WhyNoAnswer = "Ask again", "What went wrong"
	w.Answering, w.NotSent = "Plexus is answering", "That was not sent. Try again."

	w.KeptTitle, w.KeptConversations, w.KeptTopics, w.KeptMessages = "What is kept", "Conversations", "Topics among them", "Messages"
	w.KeptText = "%d, %s of text"
}

func (w *Words) lists() {
	w.ListsNavigation = "Lists"
	w.ListNames = map[List]string{Todos: "To-dos", Ideas: "Ideas", Goals: "Goals", AboutMe: "About you"}
	w.ListLeads = map[List]string{
		Todos: "What you want to get done. The phone shows the same list.",
		Ideas: "What you do not want to forget. An idea can become a to-do or a goal.",
		Goals: "What your to-dos are for.", AboutMe: "What you tell Plexus of yourself. The phone shows the same words.",
	}
	w.AddLabels = map[List]string{Todos: "New to-do", Ideas: "New idea", Goals: "New goal"}
	w.EmptyLists = map[List]string{Todos: "Nothing to do", Ideas: "No idea yet", Goals: "No goal yet"}
	w.EmptyLeads = map[List]string{
		Todos: "Write down the first one above, or tell your phone.", Ideas: "Write down the first one above.",
		Goals: "Write down the first one above; to-dos that belong to it show how far you are.",
	}
	w.ClosedLists = map[List]string{Todos: "Done and cancelled", Ideas: "Archived", Goals: "Completed and archived"}
	w.ClosedMore = "%d older ones are not shown."
	w.Add, w.Done, w.Reopen, w.Edit, w.Save = "Add", "Done", "Reopen", "Edit", "Save"
	w.Archive, w.Complete, w.Restore = "Archive", "Complete", "Restore"
	w.MakeTodo, w.MakeGoal = "Make it a to-do", "Make it a goal"
	w.Due, w.Late, w.ForGoal, w.Progress = "Due", "Late", "For", "%d of %d done"
	w.EditTitle, w.FieldTitle, w.FieldDue, w.FieldNote, w.FieldStatus, w.FieldCriteria = "Edit", "Title", "Due", "Note", "State", "It is reached when"
	w.FieldGoal, w.NoGoal = "Goal", "None"
	w.CancelTodo = "Cancel this to-do"
	w.Statuses = map[string]string{
		"open": "Open", "doing": "Doing", "waiting": "Waiting", "done": "Done", "cancelled": "Cancelled",
		"active": "Active", "paused": "Paused", "completed": "Completed", "archived": "Archived",
	}
	w.AboutField = "About you"
	w.AboutHint = "Up to 5,000 characters."
	w.Conflict = "This was changed meanwhile, on the phone or in another tab. What you see is how it is now; your change was not made."
	w.Refusals = map[string]string{
		"version_conflict":                 w.Conflict,
		"conversation_not_found":           "This conversation is gone.",
		"conversation_runtime_unavailable": "There is no model that could answer, so this was not sent.",
		"conversation_runtime_closed":      "Plexus is stopping, so this was not sent.",
		"conversation_clearing":            "This conversation is being cleared. Try again in a moment.",
		"conversation_busy":                "This conversation is busy. Try again in a moment.",
		"conversation_limit":               "There are 128 chats already. Delete one first.",
		"voice_active":                     "Somebody is speaking in this conversation. End that first.",
		"unavailable":                      "Too much is under way. Try again in a moment.",
		"invalid_request":                  "That cannot be taken as it is: something is empty or too long.",
		"item_not_found":                   "This entry is gone.",
		"idea_not_found":                   "This idea is gone.",
		"idea_archived":                    "This idea is archived. Restore it first.",
		"goal_not_found":                   "That goal is gone or archived.",
		"personal_store_capacity":          "This list is full. Cancel or archive some entries first.",
		"personal_store_not_ready":         "It could not be stored. The log of Plexus says why.",
	}
}
