package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/safetensors"
)

// operation is what is done to the rows of a shard.
type operation string

// The operations, named as the functions of packages pass and gp that do them.
const (
	gather operation = "gather"
	over   operation = "pass"
	look   operation = "look"
	slopes operation = "slopes"
	learn  operation = "effects" // tasks of effects
	rest   operation = "rest"    // moments of the process, for effects
	// Of rows that share effects, which are no part of the process.
	gatherGroups operation = "gather-groups"
	overGroups   operation = "pass-groups"
	lookGroups   operation = "look-groups"
)

// job is what a pass begins with.
type job struct {
	Program   string       `json:"program"` // of the driver
	Operation operation    `json:"operation"`
	Options   pass.Options `json:"options"`
	Kernel    string       `json:"kernel"`
	Sites     string       `json:"sites"` // the pass that wrote them; empty for empty sites
	See       bool         `json:"see"`   // marginals are wanted
	Tuned     []float64    `json:"tuned"` // logarithms of the hyperparameters of the terms, if they have any
	// Of effects: those of the process or of tasks, or what rows share, and what earlier passes have kept for them.
	Effects *packed `json:"effects,omitempty"`
	Rest    written `json:"rest"`
	Terms   written `json:"terms"`

	z     *mat.Dense     // nil for tasks of effects
	q     gauss.Naturals // nil to gather, and for tasks of effects
	set   effects.Set
	tasks []effects.Task

	process *gp.Inducing // of a worker, without effects; nil for tasks of effects
}

// programVersion tells one version of the program from another, as far as those who built it
// have left that to be reported.
var programVersion = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
})

// sameProgram reports a worker that is of another version than the driver: machines may have
// been forgotten when the program was renewed, and results would not have the same bits.
func sameProgram(driver, worker string) error {
	if driver == "" || worker == "" || driver == worker {
		return nil
	}
	host, _ := os.Hostname() // the versions alone may do
	return fmt.Errorf("%s has lossep-beam %s, and the driver is %s; give all machines the same", host, worker, driver)
}

// encode is the job as a file, and its checksum.
func (j *job) encode() (content []byte, key string, err error) {
	f := &safetensors.File{}
	if len(j.set) > 0 || len(j.tasks) > 0 {
		var numbers []float64
		var ints []int64
		j.Effects, numbers, ints = pack(j.set, j.tasks)
		addNumbers(f, numbers, ints)
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, "", err
	}
	f.Metadata = map[string]string{"job": string(text)}
	if j.z != nil {
		m, d := j.z.Dims()
		f.AddFloats("points", mat.DenseCopyOf(j.z).RawMatrix().Data, m, d)
	}
	if j.q != nil {
		addNaturals(f, "q", j.q)
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:]), nil
}

// readJob reads a job and its checksum.
func readJob(ctx context.Context, s store, name string) (*job, string, error) {
	content, err := s.read(ctx, name, "job")
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(content)
	f, err := safetensors.Read(bytes.NewReader(content), safetensors.Options{RequireChecksum: true})
	if err != nil {
		return nil, "", named(s.path(name, "job"), err)
	}
	j := new(job)
	if err := json.Unmarshal([]byte(f.Metadata["job"]), j); err != nil {
		return nil, "", named(s.path(name, "job"), err)
	}
	if err := sameProgram(j.Program, programVersion()); err != nil {
		return nil, "", err
	}
	if j.Effects != nil {
		numbers, ints, err := numbersOf(f)
		if err != nil {
			return nil, "", err
		}
		if j.set, j.tasks, err = j.Effects.unpack(numbers, ints); err != nil {
			return nil, "", named(s.path(name, "job"), err)
		}
	}
	if j.Operation != learn {
		if err := j.readProcess(f); err != nil {
			return nil, "", err
		}
	}
	return j, hex.EncodeToString(sum[:]), nil
}

// readProcess reads the points, and what is known of the values there.
func (j *job) readProcess(f *safetensors.File) error {
	points, err := f.Floats("points", -1, -1)
	if err != nil {
		return err
	}
	j.z = mat.NewDense(points.Shape[0], points.Shape[1], points.Floats)
	if j.Operation != gather && j.Operation != gatherGroups {
		j.q, err = naturals(f, "q")
	}
	return err
}

// addNaturals adds a Gaussian for each function; of its precision, which is symmetric, the upper triangle.
func addNaturals(f *safetensors.File, name string, all gauss.Naturals) {
	m := all.Dim()
	var h, packed []float64
	for _, q := range all {
		h = append(h, q.H...)
		p := q.P.RawSymmetric()
		for i := range m {
			packed = append(packed, p.Data[i*p.Stride+i:i*p.Stride+m]...)
		}
	}
	f.AddFloats(name+".h", h, len(all), m)
	f.AddFloats(name+".precision", packed, len(all), m*(m+1)/2)
}

func naturals(f *safetensors.File, name string) (gauss.Naturals, error) {
	h, err := f.Floats(name+".h", -1, -1)
	if err != nil {
		return nil, err
	}
	functions, m := h.Shape[0], h.Shape[1]
	packed, err := f.Floats(name+".precision", functions, m*(m+1)/2)
	if err != nil {
		return nil, err
	}
	all, from := gauss.NewNaturals(functions, m), packed.Floats
	for c, q := range all {
		copy(q.H, h.Floats[c*m:])
		p := q.P.RawSymmetric()
		if p.Uplo != blas.Upper {
			panic("cluster: a precision of which the lower triangle is kept")
		}
		for i := range m {
			from = from[copy(p.Data[i*p.Stride+i:i*p.Stride+m], from):]
		}
	}
	return all, nil
}

// found is what a shard, or all of them, come to.
type found struct {
	*pass.Sums                 // nil for tasks of effects
	gradient   []float64       // of slopes
	effects    []effects.Found // of tasks
}

// add takes another shard in.
func (r *found) add(o *found) {
	if r.Sums != nil {
		r.Sums.Add(o.Sums)
	}
	floats.Add(r.gradient, o.gradient)
	for k := range r.effects {
		r.effects[k].Add(&o.effects[k])
	}
}

// file is what was found as tensors, for the job with this checksum.
func (r *found) file(key string) (*safetensors.File, error) {
	f := &safetensors.File{Metadata: map[string]string{"job": key}}
	if r.Sums == nil {
		text, err := json.Marshal(addEffects(f, r.effects))
		f.Metadata["effects"] = string(text)
		return f, err
	}
	addNaturals(f, "change", r.Change)
	f.AddFloats("value", []float64{r.Value, r.Residual}, 2)
	f.AddInts("skipped", []int64{int64(r.Skipped)}, 1)
	f.AddFloats("gradient", r.gradient, len(r.gradient))
	if r.Arrow != nil {
		addGroups(f, r.Arrow)
	}
	return f, nil
}

// readFound reads what was found for a job with this checksum; nil if it is for another.
func readFound(f *safetensors.File, key string) (*found, error) {
	if f.Metadata["job"] != key {
		return nil, nil
	}
	if text, ok := f.Metadata["effects"]; ok {
		var of []lengths
		if err := json.Unmarshal([]byte(text), &of); err != nil {
			return nil, err
		}
		all, err := readEffects(f, of)
		return &found{effects: all}, err
	}
	change, err := naturals(f, "change")
	if err != nil {
		return nil, err
	}
	r := &found{Sums: &pass.Sums{Change: change}}
	value, err := f.Floats("value", 2)
	if err != nil {
		return nil, err
	}
	skipped, err := f.Ints("skipped", 1)
	if err != nil {
		return nil, err
	}
	gradient, err := f.Floats("gradient", -1)
	if err != nil {
		return nil, err
	}
	r.Value, r.Residual, r.Skipped, r.gradient = value.Floats[0], value.Floats[1], int(skipped.Ints[0]), gradient.Floats
	r.Arrow, err = readGroups(f, change)
	return r, err
}

// pairs is a file of two numbers for each row and function: sites, or means and variances.
func pairs(names [2]string, first, second []float64) *safetensors.File {
	f := &safetensors.File{}
	f.AddFloats(names[0], first, len(first))
	f.AddFloats(names[1], second, len(second))
	return f
}

var siteNames, marginalNames = [2]string{"nu", "tau"}, [2]string{"mean", "variance"}

func readPairs(f *safetensors.File, n int, names [2]string) (first, second []float64, err error) {
	a, err := f.Floats(names[0], n)
	if err != nil {
		return nil, nil, err
	}
	b, err := f.Floats(names[1], n)
	if err != nil {
		return nil, nil, err
	}
	return a.Floats, b.Floats, nil
}

// writeSites and readSites keep the sites of a shard.
func writeSites(ctx context.Context, s store, sites []gauss.Scalar, folder string, shard int) error {
	nu, tau := make([]float64, len(sites)), make([]float64, len(sites))
	for i, s := range sites {
		nu[i], tau[i] = s.Nu, s.Tau
	}
	return s.writeTensors(ctx, pairs(siteNames, nu, tau), folder, shardName(shard, "sites"))
}

func readSites(ctx context.Context, s store, n int, folder string, shard int) ([]gauss.Scalar, error) {
	sites := make([]gauss.Scalar, n)
	if folder == "" {
		return sites, nil
	}
	f, err := s.readTensors(ctx, folder, shardName(shard, "sites"))
	if err != nil {
		return nil, err
	}
	nu, tau, err := readPairs(f, n, siteNames)
	if err != nil {
		return nil, named(s.path(folder, shardName(shard, "sites")), err)
	}
	for i := range sites {
		sites[i] = gauss.Scalar{Nu: nu[i], Tau: tau[i]}
	}
	return sites, nil
}

// shardName is a file of a shard in the folder of a pass.
func shardName(shard int, what string) string { return fmt.Sprintf("%06d.%s", shard, what) }
