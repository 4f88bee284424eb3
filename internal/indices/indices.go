// Package indices numbers the elements of lists.
package indices

// Of are the numbers below n, in order.
func Of(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
