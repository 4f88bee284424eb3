package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table/parquet"
	"github.com/lossep/lossep/xlsx"
)

// Names of files say what is in them to every other program: rows are written as the ending of
// the name says, and what a name says is something else is neither read nor written as rows.

// foreign are files of other programs, by their endings.
var foreign = map[string]string{
	".xlsb": "an Excel workbook", ".xls": "an Excel workbook",
	".ods": "a spreadsheet", ".numbers": "a spreadsheet",
	".feather": "a Feather file", ".arrow": "an Arrow file", ".ipc": "an Arrow file", ".orc": "an ORC file", ".avro": "an Avro file",
	".json": "JSON", ".xml": "XML", ".html": "a web page", ".yaml": "YAML", ".yml": "YAML",
	".sas7bdat": "a SAS file", ".xpt": "a SAS file", ".sav": "an SPSS file", ".dta": "a Stata file",
	".rds": "an R data file", ".rda": "an R data file", ".rdata": "an R data file", ".mat": "a MATLAB file",
	".pkl": "a Python pickle", ".pickle": "a Python pickle", ".npy": "a NumPy file", ".npz": "a NumPy file",
	".h5": "an HDF5 file", ".hdf5": "an HDF5 file", ".db": "a database", ".sqlite": "a database", ".duckdb": "a database",
	".zip": "an archive", ".7z": "an archive", ".tar": "an archive", ".zst": "zstd-compressed", ".xz": "xz-compressed",
	".pdf": "a document", ".docx": "a document", ".lossep": "a model",
}

// tables are files of rows that are no text to write by hand.
var tables = map[string]string{
	xlsx.Extension: "an Excel workbook", ".xlsm": "an Excel workbook", parquet.Extension: "Parquet", ".jsonl": "JSON lines", ".ndjson": "JSON lines",
}

// checkTableName refuses a table whose name says that it is something else.
func checkTableName(path string) error {
	what, is := foreign[service.Ending(path)]
	if !is {
		return nil
	}
	return usagef("%s: by its name this is %s, which is not read; give the table as .csv (also .csv.gz), %s, %s or .jsonl, or another name if it is that", path, what, parquet.Extension, xlsx.Extension)
}

// checkModelName refuses to write a model under a name that says it is a table.
func checkModelName(path string) error {
	end := service.Ending(path)
	if end == ".lossep" || foreign[end]+tables[end] == "" && end != ".csv" && end != ".tsv" {
		return nil
	}
	return usagef("-o %s: the file will be a model and not %s; give a name such as %s.lossep", path, end, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// modelOutput is the file that a fit writes its model to, which can be written: the one asked for,
// or else one named like the table in the current folder, empty if there is to be none.
func modelOutput(asked string, noSave bool, args, files []string) (string, error) {
	flag, path := "-o", asked
	switch {
	case noSave && asked != "":
		return "", usagef("--no-save: -o %s names a file for the model; leave one of them out", asked)
	case noSave:
		return "", nil
	case asked == "":
		flag, path, files = "the model would be written to", defaultModel(args), nil // no name of theirs ends like it
		if _, err := os.Lstat(path); err == nil && !modelfile.Is(path) {
			return "", usagef("%s %s: this file is there already and is not a model; give -o FILE, or --no-save to not keep the model", flag, path)
		}
	}
	err := checkOutput(flag, path, append(slices.Clone(args), files...)...)
	if err == nil {
		return path, checkModelName(path)
	}
	if asked != "" {
		return "", err
	}
	if info, bad := os.Stat(strings.Join(args, "")); bad == nil && info.IsDir() {
		if _, bad := parquetFiles(args[0]); bad != nil {
			return "", bad // a folder that is no table is not one to keep models out of
		}
	}
	return "", fmt.Errorf("%w, as -o FILE, or give --no-save to not keep the model", err)
}

// defaultModel is the name of the model of a table, or of the example.
func defaultModel(args []string) string {
	if len(args) == 0 {
		return "example.lossep"
	}
	name := strings.TrimRight(args[0], `/\`)
	if whole, err := filepath.Abs(name); err == nil && (name == "." || name == "..") {
		name = whole
	}
	name = name[strings.LastIndexAny(name, `/\:`)+1:]
	for _, end := range []string{".gz", service.Ending(strings.TrimSuffix(name, ".gz"))} {
		if len(name) > len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			name = name[:len(name)-len(end)]
		}
	}
	if strings.Trim(name, ".-") == "" {
		name = "model" // of standard input, or of a name that is none
	}
	return name + ".lossep"
}

// checkTextName refuses what is to be a text that people write and by its name is none.
func checkTextName(path string) error {
	end := service.Ending(path)
	what := cmp.Or(foreign[end], tables[end])
	if what == "" || slices.Contains([]string{".yaml", ".yml", ".json"}, end) {
		return nil
	}
	return fmt.Errorf("%s: by its name this is %s and no text; give a text file", path, what)
}
