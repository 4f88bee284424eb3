//go:build linux

package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lossep/lossep/safetensors"
)

// What the command promises as a process: how much memory it takes whatever it is given,
// and that the first signal ends it.

// most is the memory that a process may take for what is no model and no table: that of
// the program itself, and garbage.
const most = 200 << 20

// craft writes a model file with a right checksum after an edit.
func craft(t *testing.T, path string, edit func(f *safetensors.File)) {
	t.Helper()
	var model bytes.Buffer
	if err := fitLoans(t, 2).Write(&model); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(&model, safetensors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	delete(f.Metadata, "sha256")
	edit(f)
	if err := safetensors.WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
}

// describe edits the description of a model.
func describe(f *safetensors.File, pairs ...string) {
	f.Metadata["model"] = strings.NewReplacer(pairs...).Replace(f.Metadata["model"])
}

// skipUnderRaceDetector skips tests of memory: the detector takes several times what the
// program does, and a process counts the memory of the one that started it.
func skipUnderRaceDetector(t *testing.T) {
	if underRaceDetector {
		t.Skip("the race detector's memory is not what is bounded")
	}
}

func TestMemoryOnHostileFiles(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Chdir(t.TempDir())
	save(t, fitLoans(t, 2), "fine.lossep")
	write(t, "loans.csv", loans)
	craft(t, "rows.lossep", func(f *safetensors.File) {
		const n = 200_000 // a matrix of them takes 320 GB
		describe(f, `"rows":8`, fmt.Sprintf(`"rows":%d`, n), `"outcome_rows":[4,`, fmt.Sprintf(`"outcome_rows":[%d,`, n-4))
		for i := range f.Tensors {
			x := &f.Tensors[i]
			x.Shape[0] = n
			x.Floats = append(x.Floats, make([]float64, n*len(x.Floats)/8-len(x.Floats))...)
			x.Ints = append(x.Ints, bytes64(n-len(x.Ints), len(x.Ints) > 0)...)
		}
	})
	craft(t, "kernel.lossep", func(f *safetensors.File) {
		describe(f, `"kernel":"`, `"kernel":"`+strings.Repeat("linear * (constant + ", 300_000))
	})
	craft(t, "text.lossep", func(f *safetensors.File) {
		describe(f, `"text":"`, `"text":"`+strings.Repeat("x", 12<<20))
	})
	sparse(t, "sparse.lossep", 1<<40)
	craft(t, "long.lossep", func(f *safetensors.File) {})
	sparse(t, "long.lossep", 1<<40) // a model, and a terabyte after it
	write(t, "bomb.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\n"+strings.Join(func() (lines []string) {
		for c := 'b'; c < 'k'; c++ {
			lines = append(lines, fmt.Sprintf("%c: &%c [%s]", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ",")))
		}
		return lines
	}(), "\n")+"\n")
	write(t, "deep.yaml", strings.Repeat("[", 100_000))

	for _, args := range []string{
		"show rows.lossep", "show kernel.lossep", "show text.lossep", "show sparse.lossep", "show long.lossep", "show /dev/zero",
		"decide rows.lossep loans.csv", "predict kernel.lossep loans.csv", "serve rows.lossep", "serve sparse.lossep", "serve fine.lossep --tokens /dev/zero",
		"fit loans.csv --target class --positive bad --utility /dev/zero",
		"fit loans.csv --target class --positive bad --utility bomb.yaml",
		"fit loans.csv --target class --positive bad --utility deep.yaml",
		"decide fine.lossep loans.csv --utility bomb.yaml",
	} {
		t.Run(args, func(t *testing.T) {
			out, code, rss := spend(t, nil, strings.Fields(args)...)
			if code != 2 || rss > most {
				t.Errorf("exit code %d, %d MB\n%.500s", code, rss>>20, out)
			}
		})
	}
}

// bytes64 are labels, if any are wanted.
func bytes64(n int, wanted bool) []int64 {
	if !wanted {
		return nil
	}
	return make([]int64, n)
}

// sparse makes a file longer without writing to it.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		t.Skip(err)
	}
}

// spend runs the command to its end, and tells the most memory it had.
func spend(t *testing.T, in io.Reader, args ...string) (out string, code int, rss int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	c := exec.CommandContext(ctx, "lossep", args...)
	var said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = in, &said, &said
	// A process begins with the largest size that the one that starts it has had: this one
	// gives back what it can, and Linux forgets how large it was.
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // how it ended is in its ProcessState
	return said.String(), c.ProcessState.ExitCode(), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// gzipped is a table of so many bytes that are lines like this one, compressed.
func gzipped(line string, size int) io.Reader {
	r, w := io.Pipe()
	go func() {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err == nil {
			_, err = io.WriteString(z, "income,job,class\n")
		}
		block := []byte(strings.Repeat(line, 1<<20/len(line)))
		for n := 0; n < size && err == nil; n += len(block) {
			_, err = z.Write(block)
		}
		w.CloseWithError(errors.Join(err, z.Close()))
	}()
	return r
}

// Tables that are small until they are read, and rows and cells that never end.
func TestMemoryOnHostileTables(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Chdir(t.TempDir())
	save(t, fitLoans(t, 2), "fine.lossep")
	const fit = "fit - --target class --positive bad --cost fn=5,fp=1"
	for _, c := range []struct {
		name, args, line string
		code             int
	}{
		{"many rows", fit, "12,clerk,bad\n", 2},
		{"many rows allowed", fit + " --max-rows 1000000000", "12,clerk,bad\n", 2},
		{"many rows to audit", strings.Replace(fit, "fit", "audit", 1), "12,clerk,bad\n", 2},
		{"a row without an end", fit, "12,", 2},
		{"a cell without an end", fit, "x", 2},
		{"a quoted cell without an end", fit, "\"x\n", 2},
		{"a row without an end to predict", "predict fine.lossep - -o out.csv", "12,", 2},
		{"a cell without an end to decide", "decide fine.lossep - -o out.csv", "x", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code, rss := spend(t, gzipped(c.line, 2<<30), append(strings.Fields(c.args), "--max-memory", "500MB")...)
			if code != c.code || rss > 600<<20 || !strings.Contains(out, "--max") && !strings.Contains(out, "line") {
				t.Errorf("exit code %d, %d MB\n%.500s", code, rss>>20, out)
			}
		})
	}
}

// A fit or an audit that would take more memory than is allowed is refused, and one that
// is allowed keeps to it.
func TestMemoryOfFits(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("income,job,class\n")
	for i := range 1500 {
		fmt.Fprintf(&rows, "%d,%s,%s\n", i*7919%1009, []string{"clerk", "smith"}[i%2], []string{"good", "bad"}[i*i%7/4])
	}
	write(t, "rows.csv", rows.String())
	fit := "fit rows.csv --target class --positive bad --cost fn=5,fp=1 --kernel rbf(variance=2) --fixed --max-memory "
	if out, code, rss := spend(t, nil, strings.Fields(fit+"100MB")...); code != 2 || rss > most || !strings.Contains(out, "--max-memory") {
		t.Errorf("exit code %d, %d MB\n%s", code, rss>>20, out)
	}
	// Three times what the numbers of the model take, and the program itself.
	if out, code, rss := spend(t, nil, strings.Fields(fit+"300MB -o model.lossep")...); code != 0 || rss > 400<<20 {
		t.Errorf("exit code %d, %d MB\n%s", code, rss>>20, out)
	}
	if out, code, rss := spend(t, nil, strings.Fields("show model.lossep --max-memory 64MB")...); code != 2 || rss > most || !strings.Contains(out, "memory") {
		t.Errorf("exit code %d, %d MB\n%s", code, rss>>20, out)
	}
	audit := "audit rows.csv --target class --positive bad --cost fn=5,fp=1 --max-memory 300MB"
	if out, code, rss := spend(t, nil, strings.Fields(audit)...); code != 2 || rss > most || !strings.Contains(out, "loss-vi takes") {
		t.Errorf("exit code %d, %d MB\n%s", code, rss>>20, out)
	}
}

// The first signal ends every verb at every point, with nothing half-written and the exit code of
// the signal; a server ends in order.
func TestFirstSignalEnds(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	save(t, fitLoans(t, 2), "model.lossep")
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Skip(err)
	}
	var many strings.Builder
	many.WriteString("income,job,class\n")
	for i := range 900 {
		fmt.Fprintf(&many, "%d,%s,%s\n", i*7919%1009, []string{"clerk", "smith"}[i%2], []string{"good", "bad"}[i*i%7/4])
	}
	write(t, "many.csv", many.String())
	before := entries(t, ".")
	for _, args := range []string{
		"fit - --cost fn=5,fp=1 -o out", "predict model.lossep - -o out", "audit - --cost fn=5,fp=1 --out folder", "fit pipe --cost fn=5,fp=1 -o out", "fit many.csv --target class --positive bad --cost fn=5,fp=1 --restarts 1000 -o out",
		"decide model.lossep pipe -o out", "decide model.lossep - --utility pipe -o out",
		"audit pipe --cost fn=5,fp=1 --out folder", "audit many.csv --target class --positive bad --cost fn=5,fp=1 --repeats 50 --out audited",
		"paper --out paper", "serve model.lossep --addr 127.0.0.1:0",
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(args+" "+signal.String(), func(t *testing.T) {
				c := exec.Command("lossep", strings.Fields(args)...)
				in, err := c.StdinPipe() // on which nothing comes
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				var said bytes.Buffer
				c.Stdout, c.Stderr = &said, &said
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond) // to come to where it waits or works
				begin := time.Now()
				if err := c.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				kill := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
				_ = c.Wait() // how it ended is in its ProcessState
				kill.Stop()
				status := c.ProcessState.Sys().(syscall.WaitStatus)
				if status.Signaled() && status.Signal() == syscall.SIGKILL {
					t.Errorf("it goes on %v after %v\n%s", time.Since(begin), signal, said.String())
				}
				want := 128 + int(signal)
				if strings.HasPrefix(args, "serve") {
					want = 0
				}
				if code := status.ExitStatus(); !status.Signaled() && code != want {
					t.Errorf("exit code %d, not %d\n%s", code, want, said.String())
				}
				for _, name := range entries(t, ".") {
					if name != "folder" && name != "audited" && name != "paper" && !strings.Contains(strings.Join(before, " "), name) {
						t.Errorf("%s is left", name)
						_ = os.Remove(filepath.Join(dir, name))
					}
				}
			})
		}
	}
}
