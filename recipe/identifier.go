package recipe

import (
	"strings"
	"unicode"
)

// namedLikeIdentifier recognises id, row_id, PatientID, index, case no. and their like.
func namedLikeIdentifier(name string) bool {
	if NamedLikeKey(name) {
		return true
	}
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[len(words)-1]) {
	case "index", "idx", "row", "rowno", "rownum", "rownumber", "rowname", "rownames", "nr", "no", "num", "number", "lfdnr",
		"seq", "seqno", "seqnum", "sequence", "serial", "serialno", "sno", "srno", "slno", "obs", "obsno", "observation",
		"record", "recno", "recnum", "case", "caseno", "casenum":
		return true
	}
	// What pandas and readr call a column without a name.
	return len(words) == 2 && words[0] == "Unnamed" || strings.HasPrefix(name, "...") && len(words) == 1
}

// NamedLikeKey recognises names of what may come again in other rows too: id, PatientID,
// customer_id, patient and their like.
func NamedLikeKey(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	switch strings.ToLower(last) {
	case "id", "uid", "pid", "rowid", "caseid", "recordid", "uuid", "guid":
		return true
	case "patient", "subject", "participant", "customer", "client", "household":
		return len(words) == 1
	}
	// Camel case: PatientID, customerId; not "Madrid" or "PAID".
	for _, suffix := range []string{"ID", "Id"} {
		if stem, ok := strings.CutSuffix(last, suffix); ok && stem != "" {
			if r := []rune(stem); unicode.IsLower(r[len(r)-1]) {
				return true
			}
		}
	}
	return false
}

// nameWords are the words of a name.
func nameWords(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
