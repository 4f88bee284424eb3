"""Makes a folder of Parquet files from the 3,000,000 US flights of vega-datasets
(docs/compare/inducing.sh gets the file): whether a flight was 15 minutes late, and what was
known of it before.

    python docs/compare/flights.py DIR/flights-3m.parquet flights/ [rows]
"""

import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FILE, GROUP = 250_000, 50_000  # rows

source, folder = sys.argv[1], Path(sys.argv[2])
table = pd.read_parquet(source).rename(columns=str.lower)[: int(sys.argv[3]) if len(sys.argv) > 3 else None]
when = pd.to_datetime(table["date"])
table = pd.DataFrame({
    "flight": range(1, len(table) + 1),
    "late": (table["delay"] >= 15).astype(int),
    "distance": table["distance"].astype(float),
    "hour": when.dt.hour + when.dt.minute / 60,
    "weekday": when.dt.day_of_week.map(dict(enumerate("Mon Tue Wed Thu Fri Sat Sun".split()))),
    "day": when.dt.day_of_year.astype(float),
    "origin": table["origin"].astype(str),
    "destination": table["destination"].astype(str),
})
folder.mkdir(parents=True, exist_ok=True)
for k, first in enumerate(range(0, len(table), FILE)):
    part = pa.Table.from_pandas(table[first : first + FILE], preserve_index=False)
    pq.write_table(part, folder / f"{k:02d}.parquet", row_group_size=GROUP)
print(f"{len(table):,} rows, {100 * table['late'].mean():.1f} % late, in {folder}")
