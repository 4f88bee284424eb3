package lossep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

const (
	// codeRows is how many rows of each outcome decide whether columns are codes.
	codeRows = 200
	// codeMargin is by how many nats the evidence has to be higher for a column to be one of
	// codes: what chance often makes of two encodings that tell the same.
	codeMargin = 1
	// codeKernel is the kernel of these fits, where not one is given.
	codeKernel = "matern32 + constant"
)

// Codes are the numeric columns of a table that have few different whole numbers: they may
// be quantities, or codes for categories.
type Codes struct {
	Columns                 []string
	quantities, categorical *recipe.Recipe
}

// FindCodes finds them. It changes nothing if there are none.
func FindCodes(t *table.Table, o Options) (*Codes, error) {
	p, err := Prepare(t, o)
	if err != nil || len(p.Codes) == 0 {
		return &Codes{}, err
	}
	all, err := Prepare(t, withCodes(o, p.Codes))
	if err != nil {
		return nil, err
	}
	return &Codes{p.Codes, p.Recipe, all.Recipe}, nil
}

// Recipe is that of the table with some of the columns as categories.
func (c *Codes) Recipe(categorical []string) *recipe.Recipe {
	return c.quantities.Taking(c.categorical, categorical)
}

// Decide tells which columns are codes by the evidence of expectation propagation on a
// sample of the rows of t, which may be a part of the table: one column after another
// becomes categorical and stays so if that raises the log evidence by more than a nat; and
// all of them become so if that is better still. With k columns it takes up to k + 2 fits
// of at most 400 rows.
func (c *Codes) Decide(ctx context.Context, t *table.Table, o Options) (chosen []string, words string, err error) {
	if len(c.Columns) == 0 {
		return nil, "", nil
	}
	rows := &Problem{Recipe: c.quantities}
	if rows.X, rows.Labels, rows.Weights, err = encode(c.quantities, t); err != nil {
		return nil, "", err
	}
	o.Method, o.Inducing, o.Power, o.Checkpoints, o.Restarts, o.MaxRows = EP, NoInducing, 0, nil, 0, 0
	if o.Kernel, _, err = splitEffects(o.Kernel); err != nil {
		return nil, "", err
	}
	if o.Kernel == "" || o.Kernel == AutoKernel {
		o.Kernel = codeKernel
	}
	some := t.Subset(rows.someOfEach(codeRows, o.Seed))
	evidence := func(categorical []string) (float64, error) {
		var err error
		if o.Recipe, err = c.Recipe(categorical).Refit(some); err != nil {
			return 0, err
		}
		p, err := Prepare(some, o)
		if err != nil {
			return 0, err
		}
		l, err := p.Learn(ctx)
		if err != nil {
			return 0, err
		}
		return l.process.logEvidence(), nil
	}
	quantities, err := evidence(nil)
	if err != nil {
		return nil, "", err
	}
	best := quantities
	try := func(columns []string) error {
		e, err := evidence(columns)
		if err == nil && e > best+codeMargin {
			best, chosen = e, columns
		}
		return err
	}
	for _, column := range c.Columns {
		if err := try(append(slices.Clone(chosen), column)); err != nil {
			return nil, "", err
		}
	}
	if len(chosen) < len(c.Columns) && len(c.Columns) > 1 {
		if err := try(c.Columns); err != nil {
			return nil, "", err
		}
	}
	return chosen, c.words(chosen, some.Len(), quantities, best), nil
}

// words say what was decided.
func (c *Codes) words(chosen []string, rows int, quantities, best float64) string {
	rest := slices.DeleteFunc(slices.Clone(c.Columns), func(name string) bool { return slices.Contains(chosen, name) })
	if len(chosen) == 0 {
		return fmt.Sprintf("few different whole numbers, treated as numeric by the evidence on %d rows: %s", rows, strings.Join(rest, ", "))
	}
	line := fmt.Sprintf("few different whole numbers, treated as categorical by the evidence on %d rows (log evidence %.1f, %.1f as numeric): %s",
		rows, best, quantities, strings.Join(chosen, ", "))
	if len(rest) > 0 {
		line += "; numeric: " + strings.Join(rest, ", ")
	}
	return line
}

// PrepareSettled is Prepare after the codes among the columns are decided about, if the
// Options ask for that.
func PrepareSettled(ctx context.Context, t *table.Table, o Options) (*Problem, error) {
	if !o.DecideCodes {
		return Prepare(t, o)
	}
	t = t.Counting(o.WeightsColumn())
	c, err := FindCodes(t, o)
	if err != nil {
		return nil, err
	}
	chosen, words, err := c.Decide(ctx, t, o)
	if err != nil {
		return nil, err
	}
	p, err := Prepare(t, withCodes(o, chosen))
	if err == nil && words != "" {
		p.Notes, p.Codes = append(p.Notes, words), nil
	}
	return p, err
}

// withCodes are the Options with more categorical columns.
func withCodes(o Options, columns []string) Options {
	o.Data.Categorical = append(slices.Clone(o.Data.Categorical), columns...)
	return o
}

// someOfEach is up to most rows of each outcome, chosen by the seed, as they stand.
func (p *Problem) someOfEach(most int, seed uint64) []int {
	order, counts := p.Order(), make(map[int]int)
	var rows []int
	for _, place := range rand.New(rand.NewPCG(seed, 5)).Perm(len(order)) {
		i := order[place]
		if counts[p.Labels[i]]++; counts[p.Labels[i]] <= most {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}
