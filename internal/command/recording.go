package command

import (
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lossep/lossep/internal/record"
)

// recording has the options of serve about recording decisions.
type recording struct{ dir, full, without, keep string }

func addRecording(flags *pflag.FlagSet) *recording {
	r := new(recording)
	flags.StringVar(&r.dir, "record", "", "a folder to record decisions and outcomes in, for monitor to read; decisions are on the disk after "+record.Interval.String()+" (default: nothing is recorded)")
	flags.StringVar(&r.full, "record-full", "drop", "what to do where decisions come faster than they are written: drop, which is counted in the metrics, or block")
	flags.StringVar(&r.without, "record-without", "", "columns that are not recorded, such as age,postcode")
	flags.StringVar(&r.keep, "record-keep", "", "for how many days decisions and outcomes are kept, such as 90 (default: for ever)")
	return r
}

// open begins to record, if that is asked for.
func (r *recording) open(log *slog.Logger) (*record.Recorder, error) {
	if r.dir == "" {
		if r.full != "drop" || r.without != "" || r.keep != "" {
			return nil, usagef("--record is missing: the folder that the other options of recording are for")
		}
		return nil, nil
	}
	c := record.Config{Dir: r.dir, Block: r.full == "block", Failed: func(err error) { log.Error("not recorded", slog.Any("error", err)) }}
	if r.full != "drop" && r.full != "block" {
		return nil, usagef("--record-full: invalid value %q; choose drop or block", r.full)
	}
	if r.without != "" {
		c.Without = strings.Split(r.without, ",")
	}
	if r.keep != "" {
		days, err := strconv.Atoi(r.keep)
		if err != nil || days < 1 {
			return nil, usagef("--record-keep: %q is no number of days from 1 on", r.keep)
		}
		c.Keep = time.Duration(days) * 24 * time.Hour
	}
	recorder, err := record.Open(c)
	if err != nil {
		return nil, usagef("--record: %w", err)
	}
	return recorder, nil
}
