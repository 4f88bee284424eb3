package nuts

import "fmt"

// Options of a run. The zero value is a sound default: four chains of 1000
// warm-up and 1000 kept transitions.
type Options struct {
	Chains int    // number of chains; 0 means 4
	Warmup int    // adaptive transitions per chain, not kept; 0 means 1000, at least 20
	Draws  int    // transitions kept per chain; 0 means 1000, at least 4
	Seed   uint64 // chain k draws from its own stream, fixed by (Seed, k)

	TargetAccept float64 // mean acceptance statistic aimed at, in (0, 1); 0 means 0.8
	MaxDepth     int     // a trajectory has at most 2^MaxDepth − 1 new points; 0 means 10

	// Init holds one starting point per chain, best overdispersed relative to
	// the density. When nil each chain starts at InitScale × N(0, I).
	Init      [][]float64
	InitScale float64 // 0 means 1
}

// OptionError reports an option outside its range.
type OptionError struct {
	Option string // name of the field of [Options]
	Reason string // what it must be
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("nuts: option %s %s", e.Option, e.Reason)
}

const (
	defaultChains       = 4
	defaultWarmup       = 1000
	defaultDraws        = 1000
	defaultTargetAccept = 0.8
	defaultMaxDepth     = 10
	defaultInitScale    = 1

	minWarmup   = 20 // below this there is no room for any window
	minDraws    = 4  // split chains need two draws per half
	maxMaxDepth = 24 // 2^24 gradients per transition are already out of reach
)

// withDefaults fills in zero fields and checks the others for a density of the
// given dimension.
func (o Options) withDefaults(dim int) (Options, error) {
	setDefault(&o.Chains, defaultChains)
	setDefault(&o.Warmup, defaultWarmup)
	setDefault(&o.Draws, defaultDraws)
	setDefault(&o.TargetAccept, defaultTargetAccept)
	setDefault(&o.MaxDepth, defaultMaxDepth)
	setDefault(&o.InitScale, defaultInitScale)

	switch {
	case o.Chains < 1:
		return o, &OptionError{"Chains", "must be at least 1"}
	case o.Warmup < minWarmup:
		return o, &OptionError{"Warmup", fmt.Sprintf("must be at least %d", minWarmup)}
	case o.Draws < minDraws:
		return o, &OptionError{"Draws", fmt.Sprintf("must be at least %d", minDraws)}
	case !(o.TargetAccept > 0 && o.TargetAccept < 1):
		return o, &OptionError{"TargetAccept", "must lie between 0 and 1"}
	case o.MaxDepth < 1 || o.MaxDepth > maxMaxDepth:
		return o, &OptionError{"MaxDepth", fmt.Sprintf("must lie between 1 and %d", maxMaxDepth)}
	case !(o.InitScale > 0) || o.InitScale > 1e300:
		return o, &OptionError{"InitScale", "must be positive and finite"}
	case o.Init != nil && len(o.Init) != o.Chains:
		return o, &OptionError{"Init", fmt.Sprintf("must hold one point per chain (%d), has %d", o.Chains, len(o.Init))}
	}
	for chain, x := range o.Init {
		if len(x) != dim {
			return o, &OptionError{"Init", fmt.Sprintf("point %d must have %d coordinates, has %d", chain, dim, len(x))}
		}
	}
	return o, nil
}

func setDefault[T int | float64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
