package modelfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/regular"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/safetensors"
)

// Reader gives what a file holds piece by piece, each of the size that whoever reads knows from
// those before, and checked by itself.
type Reader struct {
	file    *safetensors.File
	tensors int // that were read
}

// Read reads a model file from r, to its end, and has use make a model of it. In memory it takes
// at most so many bytes, beside what use takes. What is wrong with a file is an *Error, and so is
// what use finds wrong.
func Read(r io.Reader, bytes int64, use func(*Reader) error) error {
	f, err := safetensors.Read(r, safetensors.Options{RequireChecksum: true, MaxBytes: bytes})
	return refused("", err, f, use)
}

// ReadFile is Read for a regular file.
func ReadFile(path string, bytes int64, use func(*Reader) error) error {
	f, err := safetensors.ReadFile(path, safetensors.Options{RequireChecksum: true, MaxBytes: bytes})
	return refused(path, err, f, use)
}

// Is tells whether a regular file is by its first bytes a model, of any version and whether or
// not the rest can be read.
func Is(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1<<10) // the format stands before what may be long
	n, _ := io.ReadFull(f, head)
	at := strings.Index(string(head[:n]), `{"__metadata__":{`)
	return at == 8 && strings.Contains(string(head[:n]), `"format":"`+format+`"`)
}

func refused(path string, err error, f *safetensors.File, use func(*Reader) error) error {
	if err == nil {
		// Numbers that nobody has thought of may lead anywhere, and are the file's fault.
		err = tasks.Try(func() error { return read(f, use) })
	}
	var wrong *safetensors.Error
	var missing *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return &Error{path, problem(wrong), err}
	case errors.As(err, &missing):
		return err // it names the path itself
	}
	return &Error{path, err.Error(), err}
}

// problem says what is wrong with a file for somebody who does not know its layout.
func problem(e *safetensors.Error) string {
	switch e.Kind {
	case safetensors.Truncated:
		return "it is truncated, or no model file: " + e.Msg
	case safetensors.Checksum:
		return "its contents are not what was written (wrong checksum); copy it again or fit again"
	case safetensors.NoChecksum:
		return "it has no checksum, so it was not written by lossep"
	case safetensors.TooLarge:
		return e.Msg + "; allow more memory if it is to be read"
	case safetensors.HeaderSize:
		return "this is not a model file, or a damaged one"
	case safetensors.HeaderSyntax:
		return "this is not a model file, or a damaged one: " + e.Msg
	}
	return strings.TrimPrefix(e.Error(), "safetensors: ")
}

// read has use read a file, of which nothing may be left.
func read(f *safetensors.File, use func(*Reader) error) error {
	if got := f.Metadata["format"]; got != format {
		return fmt.Errorf("this is a safetensors file of another kind: its format is %q and not %q", got, format)
	}
	if v := f.Metadata["version"]; v != Version {
		return fmt.Errorf("its version is %q, and this program reads version %q; fit the model again from its table of past cases, or use the program that wrote it", v, Version)
	}
	return use(&Reader{file: f})
}

// Numbers tells whether the outcome is a number.
func (r *Reader) Numbers() bool { return r.file.Metadata["outcome"] == outcomeNumber }

// NumberRows are so many training rows whose outcomes are numbers, with so many columns that costs were made of.
func (r *Reader) NumberRows(c *recipe.Coding, n int, weighted bool, costs int) (*Rows, error) {
	var rows Rows
	var err error
	if rows.Inputs, err = r.inputs("inputs", n, c); err != nil {
		return nil, err
	}
	if rows.Values, err = r.floats("values", math.MaxFloat64, n); err != nil {
		return nil, err
	}
	return &rows, r.beside(&rows, n, weighted, costs)
}

// beside reads weights of rows, and columns that costs were made of.
func (r *Reader) beside(rows *Rows, n int, weighted bool, costs int) (err error) {
	if weighted {
		if rows.Weights, err = r.floats("weights", math.MaxFloat64, n); err != nil {
			return err
		}
		if err = checkWeights(rows.Weights); err != nil {
			return err
		}
	}
	if costs > 0 {
		values, err := r.floats("costs", math.Inf(1), n, costs)
		if err != nil {
			return err
		}
		rows.Costs = mat.NewDense(n, costs, values)
	}
	return nil
}

// NumberSites are the sites of EP of a part for so many rows whose outcomes are numbers. Their precisions are
// in proportion to the largest that a term has.
func (r *Reader) NumberSites(part, n int, largest float64, weights []float64) ([]gauss.Scalar, error) {
	name := beginning(part) + siteName(false)
	sites, err := r.sites(name, n)
	if err != nil {
		return nil, err
	}
	return sites, checkSites(name, sites, max(1, largest)*largestPrecision, weights)
}

// Done refuses a file that has more than was read, by a method.
func (r *Reader) Done(method string) error {
	if len(r.file.Tensors) != r.tensors {
		return fmt.Errorf("it has %d tensors and not the %d of the method %s", len(r.file.Tensors), r.tensors, method)
	}
	return nil
}

// floats are the numbers of a tensor.
func (r *Reader) floats(name string, most float64, shape ...int) ([]float64, error) {
	t, err := r.file.Floats(name, shape...)
	if err != nil {
		return nil, err
	}
	r.tensors++
	return t.Floats, checkNumbers(name, t.Floats, most)
}

// Rows are the training rows, with so many of each outcome, and so many columns that costs were made
// of.
func (r *Reader) Rows(c *recipe.Coding, outcomes []int, weighted bool, costs int) (*Rows, error) {
	n := 0
	for _, k := range outcomes {
		n += k
	}
	var rows Rows
	var err error
	if rows.Inputs, err = r.inputs("inputs", n, c); err != nil {
		return nil, err
	}
	labels, err := r.file.Ints("labels", n)
	if err != nil {
		return nil, err
	}
	r.tensors++
	if rows.Labels, err = labelsOf(labels.Ints, outcomes); err != nil {
		return nil, err
	}
	return &rows, r.beside(&rows, n, weighted, costs)
}

// labelsOf are labels of which there are so many of each outcome.
func labelsOf(numbers []int64, outcomes []int) ([]int, error) {
	labels, counts := make([]int, len(numbers)), make([]int, len(outcomes))
	for i, y := range numbers {
		if y < 0 || y >= int64(len(counts)) {
			return nil, fmt.Errorf("label %d is %d, and there are %d outcomes, from 0", i+1, y, len(counts))
		}
		labels[i] = int(y)
		counts[y]++
	}
	if !slices.Equal(counts, outcomes) {
		return nil, fmt.Errorf("%v of its labels have each of the outcomes, its recipe says %v", counts, outcomes)
	}
	return labels, nil
}

// Points are so many inducing points.
func (r *Reader) Points(points int, c *recipe.Coding) (*mat.Dense, error) {
	return r.inputs("points", points, c)
}

// inputs are encoded rows. It refuses numbers with which no kernel can be computed, and codes that
// stand for no category.
func (r *Reader) inputs(name string, n int, c *recipe.Coding) (*mat.Dense, error) {
	d, numbers := c.Len(), c.Numbers()
	values, err := r.floats(name, Farthest, n, d)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if k := i%d - numbers; k >= 0 && !(v == math.Trunc(v) && v >= -1 && v < float64(c.Size(k))) {
			return nil, fmt.Errorf("number %d of %s is %v and no code of a category", i+1, name, v)
		}
	}
	return mat.NewDense(n, d, values), nil
}

// siteName is that of the sites of EP, or of the method.
func siteName(own bool) string {
	if own {
		return "sites"
	}
	return "ep"
}

// Functions are the Gaussians of EP, or of the method itself, on what is seen from so many
// inducing points, one for each function.
func (r *Reader) Functions(own bool, functions, points int) (gauss.Gaussians, error) {
	all := gauss.NewGaussians(functions, points)
	for c, q := range all {
		name := functionName(gaussianNames[siteName(own)], c, functions)
		n, err := r.natural(name, points)
		if err != nil {
			return nil, err
		}
		if err := q.Exchange(n); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// Whole is the number of a part where nothing is mixed.
const Whole = -1

// beginning is what the names of a part begin with.
func beginning(part int) string {
	if part == Whole {
		return ""
	}
	return partName(part)
}

// Sites are so many of EP, or of the method itself, for a part of a mixture, or for the Whole. The
// weights of the rows, each of which has as many sites, may be nil.
func (r *Reader) Sites(part int, own bool, n int, weights []float64) ([]gauss.Scalar, error) {
	name := beginning(part) + siteName(own)
	sites, err := r.sites(name, n)
	if err != nil {
		return nil, err
	}
	return sites, checkSites(name, sites, largestPrecision, weights)
}

func (r *Reader) sites(name string, n int) ([]gauss.Scalar, error) {
	nu, err := r.floats(name+".nu", math.MaxFloat64, n)
	if err != nil {
		return nil, err
	}
	tau, err := r.floats(name+".tau", math.MaxFloat64, n)
	if err != nil {
		return nil, err
	}
	sites := make([]gauss.Scalar, n)
	for i := range sites {
		sites[i] = gauss.Scalar{Nu: nu[i], Tau: tau[i]}
	}
	return sites, nil
}

// Calibration is what a Gaussian on n values has beside its sites; nil if it has nothing.
func (r *Reader) Calibration(part, n int) (*gauss.Natural, error) {
	name := beginning(part) + "calibration"
	if _, err := r.file.Floats(name+".h", -1); err != nil {
		return nil, nil
	}
	return r.natural(name, n)
}

func (r *Reader) natural(name string, n int) (*gauss.Natural, error) {
	h, err := r.floats(name+".h", Farthest, n)
	if err != nil {
		return nil, err
	}
	p, err := r.floats(name+".precision", Farthest, n, n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		for j := range i {
			if p[i*n+j] != p[j*n+i] {
				return nil, fmt.Errorf("%s.precision is not symmetric at row %d, column %d", name, i+1, j+1)
			}
		}
	}
	return &gauss.Natural{H: h, P: mat.NewSymDense(n, p)}, nil
}
