// Package ports declares what the core calls out to: search services, models,
// the page index, the registry of extensions, and the sinks that carry answers
// back. Adapters implement them; cmd/plexus wires them.
//
// House rules: at most four methods a port, values of the domain and context
// only in signatures, and the comment is the contract. portstest turns the
// contracts into suites that every implementation runs.
package ports
