package table

// Finding is something about a table that a person should know, or be asked.
type Finding struct {
	Check    string   `json:"check"`            // the name of the check that found it
	Severity Severity `json:"severity"`         // how much it matters
	Column   string   `json:"column,omitempty"` // that it is about, if it is one
	Rows     int      `json:"rows,omitempty"`   // that it is about, if they are counted
	Text     string   `json:"message"`          // what is so, and what to do about it, in a sentence
	Ways     []Way    `json:"-"`                // options that settle it, each with what it says
}

// Severity is how much a finding matters.
type Severity string

// The severities. What is ambiguous ends learning, by an Error.
const (
	Note      Severity = "note"      // how something was read
	Warning   Severity = "warning"   // what may be wrong
	Ambiguous Severity = "ambiguous" // what cannot be decided without an option
)

// Findings are several of them.
type Findings []Finding

// Texts are the sentences.
func (f Findings) Texts() (texts []string) {
	for i := range f {
		texts = append(texts, f[i].Said(Way.String))
	}
	return texts
}

// Said is the sentence with the options that settle it as render writes them.
func (f *Finding) Said(render func(Way) string) string {
	text := f.Text
	for k, w := range f.Ways {
		if k == 0 {
			text += "; "
		} else {
			text += ", "
		}
		text += w.Meaning + ": " + render(w)
	}
	return text
}
