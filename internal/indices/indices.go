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

// Take are the elements of a list with some numbers; nil stays nil.
func Take[T any](all []T, numbers []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(numbers))
	for k, i := range numbers {
		some[k] = all[i]
	}
	return some
}
