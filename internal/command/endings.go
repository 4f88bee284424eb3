package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lossep/lossep/table/parquet"
)

// Names of files say what is in them to every other program: rows are written as the ending of
// the name says, and what a name says is something else is neither read nor written as rows.

// parquetFormat is rows as Parquet, which is chosen by the name of the file to write.
const parquetFormat format = "parquet"

// rowFormats are how rows can be written, by the ending of the file's name.
var rowFormats = []struct {
	ending string
	format format
}{
	{".csv", "text"}, {parquet.Extension, parquetFormat}, {".json", "json"}, {".jsonl", "json"}, {".ndjson", "json"},
}

// foreign are files of other programs, by their endings.
var foreign = map[string]string{
	".xlsx": "an Excel workbook", ".xlsm": "an Excel workbook", ".xlsb": "an Excel workbook", ".xls": "an Excel workbook",
	".ods": "a spreadsheet", ".numbers": "a spreadsheet",
	".feather": "a Feather file", ".arrow": "an Arrow file", ".ipc": "an Arrow file", ".orc": "an ORC file", ".avro": "an Avro file",
	".json": "JSON", ".jsonl": "JSON lines", ".ndjson": "JSON lines", ".xml": "XML", ".html": "a web page", ".yaml": "YAML", ".yml": "YAML",
	".sas7bdat": "a SAS file", ".xpt": "a SAS file", ".sav": "an SPSS file", ".dta": "a Stata file",
	".rds": "an R data file", ".rda": "an R data file", ".rdata": "an R data file", ".mat": "a MATLAB file",
	".pkl": "a Python pickle", ".pickle": "a Python pickle", ".npy": "a NumPy file", ".npz": "a NumPy file",
	".h5": "an HDF5 file", ".hdf5": "an HDF5 file", ".db": "a database", ".sqlite": "a database", ".duckdb": "a database",
	".zip": "an archive", ".7z": "an archive", ".tar": "an archive", ".zst": "zstd-compressed", ".xz": "xz-compressed",
	".pdf": "a document", ".docx": "a document", ".lossep": "a model",
}

// ending is that of a file's name, in small letters; empty if it has none.
func ending(path string) string {
	name := filepath.Base(path)
	end := filepath.Ext(name)
	if end == name || end == "." {
		return ""
	}
	return strings.ToLower(end)
}

// checkTableName refuses a table whose name says that it is something else.
func checkTableName(path string) error {
	what, is := foreign[ending(path)]
	if !is {
		return nil
	}
	return usagef("%s: by its name this is %s, which is not read; give the table as .csv (also .csv.gz) or %s, or another name if it is that", path, what, parquet.Extension)
}

// checkModelName refuses to write a model under a name that says it is a table.
func checkModelName(path string) error {
	end := ending(path)
	_, other := foreign[end]
	if end == ".lossep" || !other && !slices.Contains([]string{".csv", ".tsv", parquet.Extension}, end) {
		return nil
	}
	return usagef("-o %s: the file will be a model and not %s; give a name such as %s.lossep", path, end, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// rowFormat is how rows are written to a file, given what is asked for, if anything is.
func rowFormat(f format, asked bool, output string) (format, error) {
	end := ending(output)
	if end == "" {
		return f, nil
	}
	var known []string
	for _, r := range rowFormats {
		if r.ending != end {
			known = append(known, r.ending)
			continue
		}
		if asked && (f == "json") != (r.format == "json") {
			return f, usagef("--format %s: a file whose name ends in %s gets rows as %s; leave one of them out", f, end, map[format]string{"text": "CSV", "json": "JSON lines", parquetFormat: "Parquet"}[r.format])
		}
		return r.format, nil
	}
	return f, usagef("-o %s: rows cannot be written as %s; give a name that ends in %s or %s", output, end, strings.Join(known[:len(known)-1], ", "), known[len(known)-1])
}

// checkTextName refuses what is to be a text that people write and by its name is none.
func checkTextName(path string) error {
	end := ending(path)
	what, other := foreign[end]
	if !other || slices.Contains([]string{".yaml", ".yml", ".json"}, end) {
		return nil
	}
	return fmt.Errorf("%s: by its name this is %s and no text; give a text file", path, what)
}
