package arch

// outstanding are the behaviours that have no test yet.
func outstanding() []string {
	return behaviours()
}
