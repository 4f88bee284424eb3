// Package effects fits effects of categories, bins and their crossings to many rows.
//
// A family sorts rows into groups: by the categories of a column, by a numeric column cut into
// quantile bins, or by a crossing of up to three of these. The value at a row is
//
//	s_n = offset_n + Σ_j w_{j,g_j(n)},  w_{j,g} ~ N(0, σ_j²) independent,
//
// where the offset, which may be uncertain, is what a smooth part says. The posterior is a
// product over all effects, q = Π N(w; m, V), which maximises the variational bound
//
//	Σ_n E log t_n(s_n) − Σ KL(N(m, V) ‖ N(0, σ²))
//
// with a factor t_n for each row. Given the second order of the terms, g_n = E(log t_n)′ and
// τ_n = −E(log t_n)″, a family has its best effects when all groups are updated at once,
//
//	P = 1/σ² + Σ τ,  m ← m + (Σ g − m/σ²)/P,  V = 1/P,
//
// sums over the rows of a group. One family after another (backfitting) finds the means of the
// joint posterior exactly; only variances are those of a product.
//
// Terms may depend on the values of C functions, such as those of outcomes, each of which has effects of
// its own with the variances in common. Only differences of the functions count, so that the effects of a
// group have C − 1 degrees of freedom. Were curvatures τ the same for all functions, then the precision of
// the differences would be that of independent effects with P = 1/σ² + Στ·C/(C − 1), whose divergence
// from the prior, but for the means, counts by (C − 1)/C. That is the posterior here, with means that add
// up to zero over the functions. Two functions are exactly the one of their difference over √2.
//
// A pass over N rows and J families takes N·J additions to sums of groups. How rows are cut
// into shards depends on the numbers of rows and groups alone, and shards are added up in their
// order, so that a result has the same bits on any number of cores.
package effects
