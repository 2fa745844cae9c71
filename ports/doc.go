// Package ports declares what the core calls out to: search services, models,
// the page index, the registry of extensions, and the sinks that carry answers
// back. Adapters implement them; cmd/plexus wires them.
//
// House rules: a port has the methods that its role needs, signatures hold values
// of the domain and contexts alone, and the comment is the contract. portstest
// turns the contracts into suites that every implementation runs.
package ports
