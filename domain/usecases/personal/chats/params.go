package chats

import (
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/params"
)

// The parameters of conversations.create, select, read, clear and voice.
type (
	Create      struct{ Title string } // "" when not given
	Select      struct{ ID string }
	Acknowledge struct{ ID, Through string } // Through is a message
	Clear       struct {
		ID       string
		Expected nova.Optional[uint64] // generation
	}
	Voice struct {
		ID      string
		Enabled bool
	}
)

func (p *Create) Read(f *jsonform.Form) {
	params.OptionalText(f, "title", &p.Title, conversations.MaxTitle)
}

func (p *Select) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
}

func (p *Acknowledge) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	params.Text(f, "through_message_id", &p.Through, params.MaxID)
}

func (p *Clear) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.OptionalUint("expected_generation", jsonform.Omitted, &p.Expected, 0, jsonform.MaxSafe)
}

func (p *Voice) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	f.Bool("enabled", &p.Enabled)
}
