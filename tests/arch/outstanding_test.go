package arch

import "strings"

// outstanding are the behaviours that have no test yet.
func outstanding() []string {
	return strings.Fields(`
		Q4 B47 H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11 H12 H13 H14 H15 H16 H17 H18 H19 H20 F5 X1 X2
	`)
}
