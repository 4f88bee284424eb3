// Package modelfile reads, writes and validates model files, which docs/research/model-file.md describes.
// It knows what a file holds and not what is made of it.
package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/safetensors"
)

const (
	format = "lossep model"
	// Version is that of the description in docs/research/model-file.md.
	Version = "5"
	// outcomeNumber is what files of outcomes that are numbers have beside their format.
	outcomeNumber = "number"
)

// ErrNumbers says that a file is not of categories.
var ErrNumbers = errors.New("its outcome is a number, and this is for models of categories")

// Error says why a model file is refused.
type Error struct {
	Path string // empty for a stream
	Msg  string
	Err  error // underlying error, if there is one
}

func (e *Error) Error() string {
	text := "model file: " + e.Msg
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	return text
}

// Unwrap gives the underlying error, such as a *safetensors.Error.
func (e *Error) Unwrap() error { return e.Err }

// Rows are training rows.
type Rows struct {
	Inputs  *mat.Dense
	Labels  []int     // numbers of outcomes, from 0; nil for outcomes that are numbers
	Values  []float64 // outcomes that are numbers
	Weights []float64 // nil if each counts once
	// Costs are columns that costs were made of and that make no features, +Inf where a cell was
	// missing; nil if there are none.
	Costs *mat.Dense
}

// Content is what a model file holds.
type Content struct {
	Header any   // what is not a tensor; it becomes JSON
	Rows   *Rows // nil if they are not kept
	// Numbers says that the outcome is a number: the header is another one.
	Numbers bool
	// EP is the state of expectation propagation, and Own that of the method if it has one of its own.
	EP, Own posterior.State
}

// Write writes a model file to w.
func Write(w io.Writer, c *Content) error {
	f, err := c.file()
	if err != nil {
		return err
	}
	return safetensors.Write(w, f)
}

// WriteFile writes a model file, all or nothing: on failure what was at the path stays as it was.
func WriteFile(path string, c *Content) error {
	f, err := c.file()
	if err != nil {
		return err
	}
	return safetensors.WriteFile(path, f)
}

// file is the content as tensors and metadata.
func (c *Content) file() (*safetensors.File, error) {
	text, err := json.Marshal(c.Header)
	if err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{"format": format, "version": Version, "model": string(text)}}
	if c.Numbers {
		f.Metadata["outcome"] = outcomeNumber
	}
	if c.EP.Points != nil {
		addMatrix(f, "points", c.EP.Points)
	}
	if r := c.Rows; r != nil {
		addMatrix(f, "inputs", r.Inputs)
		if r.Values != nil {
			f.AddFloats("values", r.Values, len(r.Values))
		} else {
			labels := make([]int64, len(r.Labels))
			for i, y := range r.Labels {
				labels[i] = int64(y)
			}
			f.AddInts("labels", labels, len(labels))
		}
		if r.Weights != nil {
			f.AddFloats("weights", r.Weights, len(r.Weights))
		}
		if r.Costs != nil {
			addMatrix(f, "costs", r.Costs)
		}
	}
	addEffects(f, c.EP.Effects)
	addState(f, "", "ep", c.EP)
	addState(f, "", "sites", c.Own)
	if e := c.Own.Effects.Joint(); e != nil {
		addMoments(f, ownName+effectsName(0), e)
	}
	return f, nil
}

// gaussianNames are those of Gaussians on what is seen from inducing points, by that of the sites.
var gaussianNames = map[string]string{"ep": "posterior.ep", "sites": "posterior"}

// addState adds what there is of a state, under names that begin so: the sites of every part of a
// mixture under names that begin with its number.
func addState(f *safetensors.File, begin, name string, s posterior.State) {
	for c, q := range s.Functions {
		addNatural(f, functionName(gaussianNames[name], c, len(s.Functions)), q.Natural())
	}
	if s.Sites != nil {
		nu, tau := make([]float64, len(s.Sites)), make([]float64, len(s.Sites))
		for i, site := range s.Sites {
			nu[i], tau[i] = site.Nu, site.Tau
		}
		f.AddFloats(begin+name+".nu", nu, len(nu))
		f.AddFloats(begin+name+".tau", tau, len(tau))
	}
	if s.Calibration != nil {
		addNatural(f, begin+"calibration", s.Calibration)
	}
	for k, part := range s.Parts {
		addState(f, partName(k), name, part)
	}
}

// functionName is the name of the Gaussian of one of the functions, which has its number, from 0,
// where there are several.
func functionName(name string, c, functions int) string {
	if functions == 1 {
		return name
	}
	return fmt.Sprintf("%s.%d", name, c)
}

// partName is what the names of a part of a mixture begin with.
func partName(k int) string { return fmt.Sprintf("%d.", k) }

func addMatrix(f *safetensors.File, name string, x *mat.Dense) {
	raw := x.RawMatrix()
	if raw.Stride != raw.Cols {
		raw = mat.DenseCopyOf(x).RawMatrix()
	}
	f.AddFloats(name, raw.Data[:raw.Rows*raw.Cols], raw.Rows, raw.Cols)
}

func addNatural(f *safetensors.File, name string, q *gauss.Natural) {
	f.AddFloats(name+".h", q.H, q.Dim())
	// The lower triangle is filled in, for readers that take the matrix as it is.
	f.AddFloats(name+".precision", mat.DenseCopyOf(q.P).RawMatrix().Data, q.Dim(), q.Dim())
}
