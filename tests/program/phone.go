package program

import (
	"fmt"
	"net/netip"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/domain/pairing"
)

// Phone gives the options of a phone that has the master token of the host on the
// data directory data. The host takes phones at client, "127.0.0.1:port"; they know
// it as address, "wss://name".
func Phone(data, client, address string) (o novaclient.Options, err error) {
	token, err := hostfiles.LoadMasterToken(data)
	if err != nil {
		return o, fmt.Errorf("a phone with the master token: %w", err)
	}
	o.Token.Text = token.Text
	if o.Server, err = pairing.ParseServer(address); err != nil {
		return o, fmt.Errorf("the name for phones: %w", err)
	}
	if o.Dial, err = netip.ParseAddrPort(client); err != nil {
		return o, fmt.Errorf("the address for phones: %w", err)
	}
	return o, nil
}
