package lossep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/safetensors"
)

// The model file, described in docs/model-file.md.
const (
	fileFormat  = "lossep model"
	fileVersion = "4"
)

// Save writes the model to a file, all or nothing: on failure what was at the path
// stays as it was.
func (m *Model) Save(path string) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	return safetensors.WriteFile(path, f)
}

// Write writes the model file to w.
func (m *Model) Write(w io.Writer) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	return safetensors.Write(w, f)
}

// file is the model as tensors and metadata.
func (m *Model) file() (*safetensors.File, error) {
	text, err := json.Marshal(header{
		m.recipe, m.utility, m.kernel.String(), m.likelihood, m.method, m.summary, m.provenance,
	})
	if err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{"format": fileFormat, "version": fileVersion, "model": string(text)}}
	if m.inducing != nil {
		z := m.inducing.process.Points()
		points, d := z.Dims()
		f.AddFloats("points", mat.DenseCopyOf(z).RawMatrix().Data, points, d)
		m.addPosterior(f, "posterior.ep", m.inducing.ep)
		if m.method != EP {
			m.addPosterior(f, "posterior", m.inducing.own)
		}
		addEffects(f, m.inducing.process.Effects())
		if m.x == nil {
			return f, nil
		}
	}
	n, d := m.x.Dims()
	f.AddFloats("inputs", mat.DenseCopyOf(m.x).RawMatrix().Data, n, d)
	labels := make([]int64, n)
	for i, y := range m.labels {
		labels[i] = int64(y)
	}
	f.AddInts("labels", labels, n)
	if m.weights != nil {
		f.AddFloats("weights", m.weights, n)
	}
	if m.mixture != nil {
		m.addMixture(f)
	} else {
		m.addSites(f, "")
	}
	return f, nil
}

// addSites adds what EP and the method found about the rows, under names that begin so.
func (m *Model) addSites(f *safetensors.File, begin string) {
	addSites(f, begin+"ep", m.ep)
	if m.inducing == nil && m.method != EP && m.method != Corrected {
		addSites(f, begin+"sites", m.sites)
	}
	if m.calibration != nil {
		addNatural(f, begin+"calibration", m.calibration)
	}
}

// addPosterior adds what is known of what is seen from inducing points: of more than two outcomes
// for each, under names that end with its number, from 0.
func (m *Model) addPosterior(f *safetensors.File, name string, q gauss.Gaussians) {
	for c, one := range q {
		addNatural(f, m.posteriorName(name, c), one.Natural())
	}
}

func (m *Model) posteriorName(name string, c int) string {
	if !several(m.recipe) {
		return name
	}
	return fmt.Sprintf("%s.%d", name, c)
}

func addNatural(f *safetensors.File, name string, q *gauss.Natural) {
	f.AddFloats(name+".h", q.H, q.Dim())
	// The lower triangle is filled in, for readers that take the matrix as it is.
	f.AddFloats(name+".precision", mat.DenseCopyOf(q.P).RawMatrix().Data, q.Dim(), q.Dim())
}

func addSites(f *safetensors.File, name string, sites []gauss.Scalar) {
	nu, tau := make([]float64, len(sites)), make([]float64, len(sites))
	for i, s := range sites {
		nu[i], tau[i] = s.Nu, s.Tau
	}
	f.AddFloats(name+".nu", nu, len(sites))
	f.AddFloats(name+".tau", tau, len(sites))
}

// Load reads a model from a regular file, in at most DefaultMaxMemory. It never fits
// anything; what is not a complete and consistent model file, of numbers that a fit could
// have found, is a *FileError.
func Load(path string) (*Model, error) { return LoadWithin(path, DefaultMaxMemory) }

// LoadWithin is Load in at most so many bytes of memory.
func LoadWithin(path string, bytes int64) (*Model, error) {
	f, err := safetensors.ReadFile(path, safetensors.Options{RequireChecksum: true, MaxBytes: bytes})
	return loaded(path, f, err, bytes)
}

// Read reads a model file from r, to its end; see Load.
func Read(r io.Reader) (*Model, error) { return ReadWithin(r, DefaultMaxMemory) }

// ReadWithin is Read in at most so many bytes of memory.
func ReadWithin(r io.Reader, bytes int64) (*Model, error) {
	f, err := safetensors.Read(r, safetensors.Options{RequireChecksum: true, MaxBytes: bytes})
	return loaded("", f, err, bytes)
}

func loaded(path string, f *safetensors.File, err error, bytes int64) (*Model, error) {
	var m *Model
	if err == nil {
		// Numbers that nobody has thought of may lead anywhere, and are the file's fault.
		err = tasks.Try(func() (err error) {
			m, err = fromFile(f, bytes)
			return err
		})
	}
	if err == nil {
		return m, nil
	}
	var format *safetensors.Error
	var missing *fs.PathError
	switch {
	case errors.As(err, &format):
		return nil, &FileError{path, fileProblem(format), err}
	case errors.As(err, &missing):
		return nil, err // it names the path itself
	}
	return nil, &FileError{path, err.Error(), err}
}

// fileProblem says what is wrong with a file for somebody who does not know its
// layout.
func fileProblem(e *safetensors.Error) string {
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
		return "this is no model file, or a damaged one"
	case safetensors.HeaderSyntax:
		return "this is no model file, or a damaged one: " + e.Msg
	}
	return strings.TrimPrefix(e.Error(), "safetensors: ")
}

// fromFile makes the model and checks everything on the way.
func fromFile(f *safetensors.File, bytes int64) (*Model, error) {
	if got := f.Metadata["format"]; got != fileFormat {
		return nil, fmt.Errorf("this is a safetensors file of another kind: its format is %q and not %q", got, fileFormat)
	}
	if version := f.Metadata["version"]; version != fileVersion {
		return nil, fmt.Errorf("its version is %q, and this program reads version %q; fit the model again from its table of past cases, or use the program that wrote it", version, fileVersion)
	}
	h, err := parseHeader(f.Metadata["model"])
	if err != nil {
		return nil, err
	}
	m := &Model{
		recipe: h.Recipe, utility: h.Utility, likelihood: h.Likelihood, method: h.Method,
		summary: h.Summary, provenance: h.Provenance,
	}
	m.coding = h.Recipe.Coding()
	n, d := h.Recipe.Rows, m.coding.Len()
	need := loadBytes(n*viewsOf(m.recipe), d)
	switch s := h.Summary.Inducing; {
	case s != nil:
		need = s.loadBytes(n, d, functionsOf(m.recipe)) + h.Summary.effectsBytes()
	case h.Summary.mixes():
		need = mixtureBytes(m.recipe, h.Summary.parts(), n, d)
	}
	if need > float64(bytes) {
		return nil, m.tooLarge(need, bytes)
	}
	if m.kernel, err = parseKernel(h.Kernel, m.recipe, m.coding); err != nil {
		return nil, err
	}
	if m.kernel.Each() != nil && h.Summary.Inducing != nil {
		return nil, errors.New("it has a kernel for each outcome, which is not to be had from inducing points")
	}
	tensors := 0
	if h.Summary.Inducing != nil {
		if tensors, err = m.readInducing(f); err != nil {
			return nil, err
		}
	}
	if m.inducing == nil || keepsRows(n, d, functionsOf(m.recipe)) {
		rows, err := m.readRows(f, bytes)
		if err != nil {
			return nil, err
		}
		tensors += rows
	}
	if len(f.Tensors) != tensors {
		return nil, fmt.Errorf("it has %d tensors and not the %d of the method %s", len(f.Tensors), tensors, m.method)
	}
	if m.mixture != nil {
		return m, nil
	}
	assemble := func() error { return m.assemble(context.Background(), nil, nil) }
	if m.inducing != nil {
		assemble = m.assembleInduced
	}
	if err := assemble(); err != nil {
		return nil, fmt.Errorf("its numbers make no posterior: %w", err)
	}
	return m, nil
}

func (m *Model) tooLarge(need float64, bytes int64) error {
	return fmt.Errorf("it has %d training rows, and a model of them takes about %.2g GB of memory, more than %.2g GB; allow more if it is to be read", m.recipe.Rows, need/1e9, float64(bytes)/1e9)
}

// readInducing reads the inducing points and the posteriors on what is seen from them, and
// returns how many tensors that were.
func (m *Model) readInducing(f *safetensors.File) (tensors int, err error) {
	size, d := m.summary.Inducing.Points, m.coding.Len()
	points, err := f.Floats("points", size, d)
	if err != nil {
		return 0, err
	}
	if err := m.checkInputs("points", points.Floats); err != nil {
		return 0, err
	}
	m.inducing = new(inducing)
	if m.inducing.process, err = gp.NewInducing(m.kernel, mat.NewDense(size, d, points.Floats)); err != nil {
		return 0, err
	}
	if m.inducing.ep, err = m.readPosterior(f, "posterior.ep", size); err != nil {
		return 0, err
	}
	m.inducing.own = m.inducing.ep
	set, tensors, err := m.readEffects(f)
	if err != nil {
		return 0, err
	}
	m.inducing.process = m.inducing.process.With(set)
	if tensors += 1 + 2*len(m.inducing.ep); m.method == EP {
		return tensors, nil
	}
	m.inducing.own, err = m.readPosterior(f, "posterior", size)
	return tensors + 2*len(m.inducing.own), err
}

func (m *Model) readPosterior(f *safetensors.File, name string, size int) (gauss.Gaussians, error) {
	all := gauss.NewGaussians(functionsOf(m.recipe), size)
	for c, q := range all {
		name := m.posteriorName(name, c)
		n, err := readNatural(f, name, size)
		if err != nil {
			return nil, err
		}
		if err := q.Exchange(n); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// readRows reads what is kept of the training rows in at most so many bytes of memory, and
// returns how many tensors that were.
func (m *Model) readRows(f *safetensors.File, bytes int64) (tensors int, err error) {
	n, d := m.recipe.Rows, m.coding.Len()
	inputs, err := f.Floats("inputs", n, d)
	if err != nil {
		return 0, err
	}
	if err := m.checkInputs("inputs", inputs.Floats); err != nil {
		return 0, err
	}
	m.x = mat.NewDense(n, d, inputs.Floats)
	if m.labels, err = readLabels(f, &m.recipe.Target, n); err != nil {
		return 0, err
	}
	tensors = 2
	if m.recipe.Weighted() {
		t, err := f.Floats("weights", n)
		if err != nil {
			return 0, err
		}
		if err := checkWeights(t.Floats, n); err != nil {
			return 0, err
		}
		m.weights = t.Floats
		tensors++
	}
	var sites int
	if m.summary.mixes() {
		sites, err = m.readMixture(f, bytes)
	} else {
		sites, err = m.readSites(f, "")
	}
	return tensors + sites, err
}

// readSites reads what EP and the method found about the rows, under names that begin so.
func (m *Model) readSites(f *safetensors.File, begin string) (tensors int, err error) {
	n := m.recipe.Rows
	size := n * viewsOf(m.recipe)
	if m.inducing != nil {
		size = n * functionsOf(m.recipe)
	}
	if m.ep, err = readSites(f, begin+"ep", size, m.weights); err != nil {
		return 0, err
	}
	tensors = 2
	if m.inducing != nil {
		return tensors, nil
	}
	m.sites = m.ep
	if m.method != EP && m.method != Corrected {
		if m.sites, err = readSites(f, begin+"sites", size, m.weights); err != nil {
			return 0, err
		}
		tensors += 2
	}
	// A calibrated VI that had nothing to calibrate has no such site.
	if _, err := f.Floats(begin+"calibration.h", -1); err == nil && m.method == LossVI {
		if m.calibration, err = readNatural(f, begin+"calibration", n); err != nil {
			return 0, err
		}
		tensors += 2
	}
	return tensors, nil
}

// checkInputs refuses numbers with which no kernel can be computed, and codes that stand
// for no category.
func (m *Model) checkInputs(name string, values []float64) error {
	if err := checkNumbers(name, values, Farthest); err != nil {
		return err
	}
	d, numbers := m.coding.Len(), m.coding.Numbers()
	for i, v := range values {
		if k := i%d - numbers; k >= 0 && !(v == math.Trunc(v) && v >= -1 && v < float64(m.coding.Size(k))) {
			return fmt.Errorf("number %d of %s is %v and no code of a category", i+1, name, v)
		}
	}
	return nil
}

// sameButForCase are two names in one object of a JSON text that differ in nothing but the
// case of letters, if there are such.
func sameButForCase(text string) []string {
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	var open []map[string]string // by the name as the decoder takes it; nil for a list
	for {
		_, length := decoder.StackIndex(decoder.StackDepth())
		token, err := decoder.ReadToken()
		if err != nil {
			return nil
		}
		switch kind := token.Kind(); {
		case kind == '{':
			open = append(open, make(map[string]string))
		case kind == '[':
			open = append(open, nil)
		case kind == '}' || kind == ']':
			open = open[:len(open)-1]
		case kind == '"' && len(open) > 0 && open[len(open)-1] != nil && length%2 == 0: // a name
			name := token.String()
			names, folded := open[len(open)-1], strings.Map(sameLetter, name)
			if other, is := names[folded]; is {
				return []string{other, name}
			}
			names[folded] = name
		}
	}
}

// sameLetter is the smallest of the letters that the decoder of encoding/json takes for the same:
// k, K and the sign of Kelvin.
func sameLetter(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// parseHeader reads the JSON and checks what it says by itself.
func parseHeader(text string) (*header, error) {
	// Names that occur twice, at any depth, are refused, and so is what follows.
	if !jsontext.Value(text).IsValid() {
		return nil, errors.New("its description is no JSON text, or has a name twice in an object")
	}
	// The decoder takes Kernel for kernel.
	if names := sameButForCase(text); names != nil {
		return nil, fmt.Errorf("its description has both %q and %q in an object; one of them is not lossep's", names[0], names[1])
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	var h header
	if err := decoder.Decode(&h); err != nil {
		return nil, fmt.Errorf("its description cannot be read: %w", plainJSON(err))
	}
	if h.Recipe == nil || h.Utility == nil {
		return nil, errors.New("its description lacks the recipe or the utility")
	}
	if target := h.Recipe.Target.Outcomes; !slices.Equal(h.Utility.Outcomes(), target) {
		return nil, fmt.Errorf("its utility has the outcomes %q, its target %q", h.Utility.Outcomes(), target)
	}
	if several(h.Recipe) && (!slices.Contains(severalMethods, h.Method) || h.Likelihood.Name != "probit") {
		return nil, fmt.Errorf("its method %s with likelihood %s is not for %d outcomes", h.Method, h.Likelihood, len(h.Recipe.Target.Outcomes))
	}
	if h.Recipe.Rows != h.Provenance.Rows || h.Recipe.NumFeatures() != h.Provenance.Features {
		return nil, fmt.Errorf("its recipe makes %d×%d numbers, its provenance says %d×%d",
			h.Recipe.Rows, h.Recipe.NumFeatures(), h.Provenance.Rows, h.Provenance.Features)
	}
	if err := h.Method.check(); err != nil {
		return nil, err
	}
	if err := h.Likelihood.check(); err != nil {
		return nil, err
	}
	return &h, h.checkSummary()
}

func readLabels(f *safetensors.File, t *data.Target, n int) ([]int, error) {
	tensor, err := f.Ints("labels", n)
	if err != nil {
		return nil, err
	}
	labels, counts := make([]int, n), make([]int, len(t.Outcomes))
	for i, y := range tensor.Ints {
		if y < 0 || y >= int64(len(counts)) {
			return nil, fmt.Errorf("label %d is %d, and there are %d outcomes, from 0", i+1, y, len(counts))
		}
		labels[i] = int(y)
		counts[y]++
	}
	if !slices.Equal(counts, t.Rows) {
		return nil, fmt.Errorf("%v of its labels have each of the outcomes, its recipe says %v", counts, t.Rows)
	}
	return labels, nil
}

func readSites(f *safetensors.File, name string, n int, weights []float64) ([]gauss.Scalar, error) {
	var parts [2][]float64
	for k, part := range []string{name + ".nu", name + ".tau"} {
		t, err := f.Floats(part, n)
		if err != nil {
			return nil, err
		}
		if err := checkNumbers(part, t.Floats, math.MaxFloat64); err != nil {
			return nil, err
		}
		parts[k] = t.Floats
	}
	sites := make([]gauss.Scalar, n)
	for i := range sites {
		sites[i] = gauss.Scalar{Nu: parts[0][i], Tau: parts[1][i]}
	}
	return sites, checkSites(name, sites, weights)
}

func readNatural(f *safetensors.File, name string, n int) (*gauss.Natural, error) {
	h, err := f.Floats(name+".h", n)
	if err != nil {
		return nil, err
	}
	p, err := f.Floats(name+".precision", n, n)
	if err != nil {
		return nil, err
	}
	if err := checkCalibration(h, p); err != nil {
		return nil, err
	}
	return &gauss.Natural{H: h.Floats, P: mat.NewSymDense(n, p.Floats)}, nil
}

// The file of a mixture has the sites of every part under names that begin with its
// number, from 0, and the rest once.
func partName(k int) string { return fmt.Sprintf("%d.", k) }

func (m *Model) addMixture(f *safetensors.File) {
	for k, part := range m.mixture.parts {
		part.addSites(f, partName(k))
	}
}

// readMixture reads the parts of a mixture, and returns how many tensors those were.
func (m *Model) readMixture(f *safetensors.File, bytes int64) (tensors int, err error) {
	var weights []float64
	var parts []*Model
	for _, c := range m.summary.Candidates {
		if c.Weight == 0 {
			continue
		}
		if need := nextBytes(parts, m.recipe, m.coding.Len()); need > float64(bytes) {
			return 0, m.tooLarge(need, bytes)
		}
		part := *m
		part.summary.Candidates, part.summary.Sharpness, part.summary.LogEvidence, part.summary.Search = nil, 0, c.LogEvidence, c.Search
		if part.kernel, err = parseKernel(c.Kernel, m.recipe, m.coding); err != nil {
			return 0, err
		}
		sites, err := part.readSites(f, partName(len(parts)))
		if err != nil {
			return 0, err
		}
		tensors += sites
		if err := part.assemble(context.Background(), nil, nil); err != nil {
			return 0, fmt.Errorf("its numbers make no posterior: %w", err)
		}
		weights, parts = append(weights, c.Weight), append(parts, &part)
	}
	whole := mixed(weights, parts, m.summary.Candidates, m.summary.Sharpness)
	whole.summary = m.summary
	*m = *whole
	return tensors, nil
}
