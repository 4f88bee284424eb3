package command

import (
	"log/slog"
	"time"

	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/service"
)

// recording has the options of serve about recording decisions.
type recording struct {
	dir, full string
	without   []string
	days      int
}

func (r *recording) options() service.Options {
	r.full = "drop"
	return service.Options{
		{Name: "record", Help: "a folder to record decisions and outcomes in, for monitor to read; decisions are on the disk after " + record.Interval.String() + " (default: nothing is recorded)", Value: service.TextOf(&r.dir, "FOLDER")},
		{Name: "record-full", Help: "what to do where decisions come faster than they are written: drop, which is counted in the metrics, or block", Value: service.ChoiceOf(&r.full, "drop", "block")},
		{Name: "record-without", Help: "columns that are not recorded, such as age,postcode", Value: service.ListOf(&r.without, "A,B,C")},
		{Name: "record-keep", Help: "for how many days decisions and outcomes are kept, such as 90 (default: for ever)", Value: service.WholeOf(&r.days, 1)},
	}
}

// open begins to record, if that is asked for.
func (r *recording) open(log *slog.Logger) (*record.Recorder, error) {
	if r.dir == "" {
		if r.full != "drop" || r.without != nil || r.days > 0 {
			return nil, usagef("--record is missing: the folder that the other options of recording are for")
		}
		return nil, nil
	}
	c := record.Config{
		Dir: r.dir, Block: r.full == "block", Without: r.without, Keep: time.Duration(r.days) * 24 * time.Hour,
		Failed: func(err error) { log.Error("not recorded", slog.Any("error", err)) },
	}
	recorder, err := record.Open(c)
	if err != nil {
		return nil, usagef("--record: %w", err)
	}
	return recorder, nil
}
