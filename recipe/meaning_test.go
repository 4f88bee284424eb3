package recipe

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lossep/lossep/table"
)

// A moment is the same number, to the last bit, in whatever zone it is written, and with
// however many zeros after its fraction.
func TestMomentsInAnyZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := time.Unix(rapid.Int64Range(-5e9, 5e9).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC()
		want, ok := table.ParseDate([]byte(moment.Format("2006-01-02 15:04:05.999999999")), table.YearFirst)
		if exact := float64(moment.Unix()) + float64(moment.Nanosecond())/1e9; !ok || want != exact {
			t.Fatalf("%v is read as %v, want %v", moment, want, exact)
		}
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "minutes"))
		for _, form := range []string{"2006-01-02 15:04:05.999999999-07:00", "2006-01-02T15:04:05.000000000Z07:00", "2006-01-02 15:04:05.999999999 -0700"} {
			text := moment.In(zone).Format(form)
			if got, ok := table.ParseDate([]byte(text), table.YearFirst); !ok || got != want {
				t.Fatalf("%s is read as %v, want %v", text, got, want)
			}
		}
	})
}

// A 32-bit number is the decimal that stands for it in text.
func TestSingle(t *testing.T) {
	for _, x := range []float32{0, float32(math.Copysign(0, -1)), 0.1, -0.3, 16777216, 16777217, 1e15, 3.4e38, 1e-45, 123456.79, float32(math.Inf(-1))} {
		want, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
		if got := table.Single(x); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%v is %v, want %v", x, got, want)
		}
	}
}

// A text means the same in a file, in memory and in a request, however its lines end.
func TestTextsOfSeveralLines(t *testing.T) {
	file, err := table.Read(t.Context(), strings.NewReader("place,y\n\"a\r\nb\",yes\nc,no\n\"a\nb\",yes\nc,no\n"), "rows", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	learned, err := Learn(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := table.NewTable("rows", []table.Values{{Name: "place", Codes: []int32{0, 1, 2}, Texts: []string{" a\r\nb ", "c", "a\nb"}}})
	if err != nil {
		t.Fatal(err)
	}
	x, report, err := learned.Recipe.Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err("rows", false); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"a\r\nb", "c", "a\nb"} {
		row := make([]float64, learned.Recipe.Dim())
		if unseen, err := learned.Recipe.Encode(map[string]any{"place": text}, row); err != nil || unseen != nil {
			t.Fatal(unseen, err)
		}
		for k, z := range row {
			if x.At(i, k) != z || x.At(i, k) != learned.X.At(i, k) {
				t.Errorf("row %d is %v in memory, %v in a request and %v in the file", i, x.At(i, k), z, learned.X.At(i, k))
			}
		}
	}
}
