//go:build !race

package personal_test

const racing = false
