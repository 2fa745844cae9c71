// Package absent is what this host does not have yet: no memory, discovery, source
// or news service, no cards and no executor. Each is an area whose members look
// missing, not simulated (nova-personal §13), and whose commands are known and
// refused. An area leaves this package when its capability comes.
package absent

import (
	"strings"

	"plexus/domain/usecases/personal/hub"
)

const emptyList = `[]`

// unsupported lists commands of the owner's page that this host cannot do, by the
// names behind the prefix.
func unsupported(prefix, names string) []hub.Command {
	var commands []hub.Command
	for name := range strings.FieldsSeq(names) {
		commands = append(commands, hub.Command{Method: prefix + "." + name})
	}
	return commands
}

// everywhere is a member that the owner's page and phones see alike.
func everywhere(name, text string) hub.Member {
	return hub.Member{Name: name, Desktop: hub.Constant(text), Phone: hub.Constant(text)}
}

// Sources is where the host would learn from.
func Sources() hub.Area {
	return hub.Area{
		Commands: unsupported("sources", "add pause resume disconnect delete sync consent authorize_computer"),
		Members:  []hub.Member{{Name: "sources", Desktop: hub.Constant(emptyList)}},
	}
}

// News is what would be read for the owner.
func News() hub.Area {
	return hub.Area{
		Commands: unsupported("news", "state refresh action configure convert"),
		Members: []hub.Member{{
			Name: "news",
			Desktop: hub.Constant(`{"enabled":false,"refreshing":false,"explore":false,"mode":"timeline","rank_error":null,"pending":0,"total":0,` +
				`"interests":[],"interests_seeded":false,"profile_version":0,"items":[],"saved":[],"sources":[]}`),
			Phone: hub.Constant(`{"enabled":false,"refreshing":false,"items":[],"saved":[]}`),
		}},
	}
}

// Understanding is what the host would find out about its owner.
func Understanding() hub.Area {
	return hub.Area{
		Commands: unsupported("understanding", "start action"),
		Members:  []hub.Member{{Name: "understanding", Desktop: hub.Constant(`{"status":"idle"}`)}},
	}
}

// Connectors are the accounts that would be connected.
func Connectors() hub.Area {
	return hub.Area{
		Commands: append(unsupported("connector", "mail_status mail_access mail_connect local_status local_access local_connect "+
			"status link complete configure consent scopes sync pause resume disconnect delete"),
			unsupported("feishu", "status app.start app.status app.cancel app.bind login complete chats configure consent "+
				"sync pause resume disconnect delete bot.configure")...),
		Members: []hub.Member{{Name: "feishu", Desktop: hub.Constant(`null`)}, {Name: "connectors", Desktop: hub.Constant(`null`)}},
	}
}
