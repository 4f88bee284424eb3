package recipe

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lossep/lossep/table"
)

// Dates is how the dates of a column become numbers: the days since the first of the
// training rows, and what comes round.
type Dates struct {
	Order  table.DateOrder `json:"order"`
	Origin float64         `json:"origin"`           // first date, in seconds since 1970
	Cycles []Cycle         `json:"cycles,omitempty"` // each makes a sine and a cosine
	Zones  Zones           `json:"zones,omitempty"`  // what times of day had in training; empty if they differ, or it is not known
}

// Zones is whether times of day have a zone.
type Zones string

// The choices.
const (
	WithZones    Zones = "with"
	WithoutZones Zones = "without"
)

// zonesOf is what the times of some texts have, empty if they differ or there are none.
func zonesOf(texts iter.Seq[[]byte], order table.DateOrder) (z Zones) {
	for text := range texts {
		clock, zone := table.Zone(text, order)
		switch now := map[bool]Zones{true: WithZones, false: WithoutZones}[zone]; {
		case !clock || z == now:
		case z == "":
			z = now
		default:
			return ""
		}
	}
	return z
}

// otherZone tells whether a time has a zone where those of training had none, or the reverse.
func (d *Dates) otherZone(text []byte) bool {
	if d.Zones == "" {
		return false
	}
	clock, zone := table.Zone(text, d.Order)
	return clock && zone != (d.Zones == WithZones)
}

// Cycle is a period that comes round within a column of dates.
type Cycle string

// The cycles.
const (
	HourCycle Cycle = "hour of the day"
	WeekCycle Cycle = "day of the week"
	YearCycle Cycle = "day of the year"
)

// phase is where in the cycle a moment is, from 0 to 1.
func (c Cycle) phase(seconds float64) float64 {
	const day = 86400
	switch c {
	case HourCycle:
		return frac(seconds / day)
	case WeekCycle:
		return frac(math.Floor(seconds/day) / 7)
	}
	t := time.Unix(int64(math.Floor(seconds)), 0).UTC()
	return float64(t.YearDay()-1) / 366
}

func frac(x float64) float64 { return x - math.Floor(x) }

// days is the number of days since the origin.
func (d *Dates) days(seconds float64) float64 { return (seconds - d.Origin) / 86400 }

// String says it in words.
func (d *Dates) String() string {
	text := "days since " + dateText(d.Origin)
	if d.Order == table.ClockTime {
		text = "time of day"
	}
	for _, c := range d.Cycles {
		text += ", " + string(c)
	}
	return text
}

// Example is a text that reads as the first of the training dates.
func (d *Dates) Example() string {
	if d.Order == table.ClockTime {
		return "12:00"
	}
	return dateText(d.Origin)
}

// dateText is a moment as ISO 8601 writes it.
func dateText(seconds float64) string {
	whole := math.Floor(seconds)
	t := time.Unix(int64(whole), 0).UTC()
	switch {
	case seconds != whole:
		return t.Format("2006-01-02 15:04:05") + strings.TrimLeft(fmt.Sprintf("%.6f", seconds-whole), "0")
	case t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0:
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04:05")
}

// problem says what is wrong with dates that were read from a file.
func (d *Dates) problem() string {
	if !slices.Contains([]table.DateOrder{table.YearFirst, table.DayFirst, table.MonthFirst, table.ClockTime}, d.Order) {
		return "unknown order of dates " + table.Quote(string(d.Order))
	}
	if math.Abs(d.Origin) > 1e12 || math.IsNaN(d.Origin) {
		return fmt.Sprintf("dates from %v seconds on", d.Origin)
	}
	if d.Zones != "" && d.Zones != WithZones && d.Zones != WithoutZones {
		return "unknown zones " + table.Quote(string(d.Zones))
	}
	seen := make(map[Cycle]bool)
	for _, c := range d.Cycles {
		if c != HourCycle && c != WeekCycle && c != YearCycle || seen[c] {
			return "unknown cycle " + table.Quote(string(c)) + ", or one twice"
		}
		seen[c] = true
	}
	return ""
}
