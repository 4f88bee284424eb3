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
		{Name: "record", Help: "folder to record decisions and outcomes in, for monitor; decisions are written to disk within " + record.Interval.String() + " (default: nothing is recorded)", Value: service.TextOf(&r.dir, "FOLDER")},
		{Name: "record-full", Help: "if decisions are made faster than they can be written: drop records (counted in the metrics) or block requests", Value: service.ChoiceOf(&r.full, "drop", "block")},
		{Name: "record-without", Help: "columns not to record, such as age,postcode", Value: service.ListOf(&r.without, "A,B,C")},
		{Name: "record-keep", Help: "number of days to keep records, such as 90 (default: no limit)", Value: service.WholeOf(&r.days, 1)},
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
