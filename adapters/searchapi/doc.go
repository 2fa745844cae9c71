// Package searchapi asks hosted search services over HTTP. Anvesha, SearXNG and
// Brave are the three it speaks to; each is a Service with a connection pool,
// a cache, and the pause that a Retry-After asks for.
//
// What leaves the machine is the cleaned query, a limit and, where one is set,
// the key in a header. What comes back is checked as text from outside: bounded
// in size and time, of the right types, with web addresses only. No error or
// log line holds a key, a query or an address with its query.
package searchapi
