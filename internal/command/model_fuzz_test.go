package command

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep/safetensors"
)

// fuzzModels are model files of several methods, as bytes.
var fuzzModels = sync.OnceValue(func() (files [][]byte) {
	dir, err := os.MkdirTemp("", "lossep-fuzz")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	table, model := filepath.Join(dir, "table.csv"), filepath.Join(dir, "model.lossep")
	rows := "amount,job,class\n1,clerk,0\n2,smith,1\n5,clerk,1\n3,smith,0\n2,clerk,1\n7,baker,0\n"
	if err := os.WriteFile(table, []byte(rows), 0o600); err != nil {
		panic(err)
	}
	several := filepath.Join(dir, "several.csv")
	if err := os.WriteFile(several, []byte(rows+"4,clerk,2\n6,smith,2\n"), 0o600); err != nil {
		panic(err)
	}
	for k, flags := range append(fuzzFits[:6:6], []string{"--kernel", "rbf(ard) + linear", "--fixed", "--target", "class"}) {
		input := table
		if k == 6 {
			input = several
		}
		if code, text := try(append([]string{"fit", input, "-o", model}, flags...)); code != 0 {
			panic(text)
		}
		b, err := os.ReadFile(model)
		if err != nil {
			panic(err)
		}
		files = append(files, b)
	}
	return files
})

// FuzzModelFileToPredictions takes model files with right checksums and anything else
// through the command: shown, and asked for predictions and decisions. One of several is
// changed by exchanging a text of its description for another, and a number of a tensor
// for another; or the bytes are taken as they are. What is not refused gives finite
// numbers, and nothing that comes out moves the terminal.
func FuzzModelFileToPredictions(f *testing.F) {
	f.Add([]byte{}, byte(0), "", "", byte(0), uint16(0), 0.0)
	f.Add([]byte{}, byte(1), `"constant_action":0`, `"constant_action":99`, byte(0), uint16(0), 0.0)
	f.Add([]byte{}, byte(1), "", "", byte(2), uint16(1), 1e16)
	f.Add([]byte{}, byte(2), "linear(variance=1)", "linear(variance=1e100)", byte(3), uint16(2), -1e300)
	f.Add([]byte{}, byte(3), "amount", "am\\u001b[2Jount", byte(1), uint16(3), 1e49)
	f.Add([]byte{}, byte(0), `"scale":`, `"scale":1e-320,"x":`, byte(1), uint16(0), 5e-324)
	f.Add([]byte{}, byte(0), "matern32", "linear*linear*linear*linear*matern32", byte(0), uint16(0), 0.0)
	f.Add([]byte{}, byte(4), `"points":3`, `"points":2000000`, byte(0), uint16(0), 0.0)
	f.Add([]byte{}, byte(4), `"prevalence":0.01`, `"prevalence":1e-320`, byte(2), uint16(1), 1e49)
	f.Add([]byte{}, byte(5), "", "", byte(3), uint16(0), math.Inf(1))
	f.Add([]byte{}, byte(5), "linear", "white", byte(7), uint16(1), -1e-300)
	f.Add([]byte{}, byte(6), `"outcomes":["0","1","2"]`, `"outcomes":["0","1"]`, byte(1), uint16(0), 7.0)
	f.Add([]byte{}, byte(6), "", "", byte(2), uint16(0), -1.0)
	f.Add([]byte{}, byte(6), "", "", byte(3), uint16(1), 1e300)
	f.Add(fuzzModels()[0], byte(0), "", "", byte(0), uint16(0), 0.0)
	f.Fuzz(func(t *testing.T, raw []byte, base byte, old, new string, tensor byte, index uint16, value float64) {
		if len(raw) > 1<<16 || len(new) > 2000 {
			t.Skip("small ones are quick")
		}
		b := raw
		if len(b) == 0 {
			b = fuzzModels()[int(base)%len(fuzzModels())]
		}
		dir := t.TempDir()
		model, table := filepath.Join(dir, "model.lossep"), filepath.Join(dir, "new.csv")
		if err := os.WriteFile(model, changed(b, old, new, tensor, index, value), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(table, []byte("amount,job\n3,clerk\n-1,smith\n1e30,baker\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		shown := endsWell(t, []string{"show", model})
		for _, args := range [][]string{{"predict", model, table}, {"decide", model, table}, {"decide", model, table, "--format", "json"}} {
			if endsWell(t, args) && !shown {
				t.Errorf("%v takes a model that cannot be shown", args)
			}
		}
	})
}

// changed is a model file with an exchanged text and an exchanged number, and with the
// checksum that belongs to them. What is no such file stays as it is.
func changed(b []byte, old, new string, tensor byte, index uint16, value float64) []byte {
	f, err := safetensors.Read(bytes.NewReader(bytes.Replace(b, []byte(`"sha256"`), []byte(`"sha25x"`), 1)), safetensors.Options{})
	if err != nil {
		return b
	}
	delete(f.Metadata, "sha25x")
	if old != "" {
		f.Metadata["model"] = strings.Replace(f.Metadata["model"], old, new, 1)
	}
	if len(f.Tensors) > 0 && tensor > 0 {
		if t := &f.Tensors[int(tensor)%len(f.Tensors)]; len(t.Floats) > 0 {
			t.Floats[int(index)%len(t.Floats)] = value
		} else if len(t.Ints) > 0 {
			t.Ints[int(index)%len(t.Ints)] = int64(value)
		}
	}
	var mended bytes.Buffer
	if err := safetensors.Write(&mended, f); err != nil {
		return b
	}
	return mended.Bytes()
}
