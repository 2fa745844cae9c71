package chats

import (
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/params"
)

// The parameters of conversations.create, select, read, clear and voice.
type (
	Create struct{ Title string } // "" when not given
	Select struct{ ID string }
	Read   struct{ ID, Through string } // Through is a message
	Clear  struct {
		ID       string
		Expected nova.Optional[uint64] // generation
	}
	Voice struct {
		ID      string
		Enabled bool
	}
)

func readCreate(f *jsonform.Form) (p Create) {
	params.OptionalText(f, "title", &p.Title, conversations.MaxTitle)
	return p
}

func readSelect(f *jsonform.Form) (p Select) {
	params.Text(f, "id", &p.ID, params.MaxID)
	return p
}

func readRead(f *jsonform.Form) (p Read) {
	params.Text(f, "id", &p.ID, params.MaxID)
	params.Text(f, "through_message_id", &p.Through, params.MaxID)
	return p
}

func readClear(f *jsonform.Form) (p Clear) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.OptionalUint("expected_generation", jsonform.Omitted, &p.Expected, 0, jsonform.MaxSafe)
	return p
}

func readVoice(f *jsonform.Form) (p Voice) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.Bool("enabled", &p.Enabled)
	return p
}
