// Package schema carries the database's migration scripts. They are numbered
// from 0001 without a gap, and a script that was ever released never changes:
// its checksum stands in every database that ran it.
package schema

import "embed"

// Migrations holds migrations/NNNN_name.sql.
//
//go:embed migrations/*.sql
var Migrations embed.FS
