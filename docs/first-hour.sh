#!/bin/sh
# The first hour with lossep, on two public tables: what decisions cost, whom to refuse and why, what
# it would be worth to know more, and a server in front of it. Shows every command and what it says.
#
#   docs/first-hour.sh [FOLDER]      LOSSEP names the program, if it is not lossep in the path
set -eu
tables=$(cd "$(dirname "$0")/../example" && pwd)
program=${LOSSEP:-lossep}
cd "${1:-$(mktemp -d)}"
exec 2>&1

step() { printf '\n# %s\n' "$1"; }
show() { printf '$ %s\n' "$*"; "$@"; }
lossep() {
  printf '$ lossep %s\n' "$*"
  "$program" "$@"
}

step 'What do decisions cost? A page for a board'
lossep audit --example --methods ep --references 0 --currency EUR --cases-per-year 12000 --out cancer

step 'A table as it comes: a title, semicolons, decimal commas, gaps, a line of totals'
# 400 loans, of which 320 are past cases; amounts in thousands, and empty cells.
awk -F, -v OFS=';' 'NR > 1 { $6 = $6 / 1000; sub(/\./, ",", $6); if (NR % 9 == 0) $9 = ""; if (NR % 13 == 0) $7 = "?" } { $1 = $1; print }' \
  "$tables/credit.csv" >loans.csv
{
  echo 'Loans by branch;;;;;;;;;;'
  sed -n '1,321p' loans.csv
  echo 'Total;;;;;1036,4;;;;;'
} >past.csv
sed -n '1p;322,$p' loans.csv | cut -d';' -f1-10 | awk -F';' -v OFS=';' 'NR == 5 { $6 = "" } { print }' >new.csv
show head -n 9 past.csv

step 'Three actions, with costs that depend on the case'
cat >costs.yaml <<'END'
outcomes: [good, bad]
costs: # in thousands; 3 where the amount is missing
  accept: {good: 0, bad: "0.6 * default(amount, 3)"}
  review: {good: 0.06, bad: "0.06 + 0.1 * default(amount, 3)"}
  refuse: {good: "0.08 * default(amount, 3)", bad: 0}
END
show cat costs.yaml
lossep fit past.csv --target class --positive bad --id id --utility costs.yaml || true # says what to skip
lossep fit past.csv --target class --positive bad --id id --utility costs.yaml --skip-lines 1,last

step 'Ten refusals with their reasons, in a spreadsheet'
lossep decide past.lossep new.csv --sort advantage_refuse --top 10 --why 3 -o refusals.xlsx

step 'Decisions in other formats'
for ending in csv parquet xlsx; do # and what is decided on these files is the same
  lossep decide past.lossep new.csv --keep -o "decided.$ending" 2>/dev/null
  "$program" decide past.lossep "decided.$ending" -o "again-$ending.csv" 2>/dev/null
  cmp again-csv.csv "again-$ending.csv"
done
lossep decide past.lossep new.csv --top 1 --why 2 -o first.jsonl 2>/dev/null
show cat first.jsonl

step 'What would it be worth to know more?'
lossep value past.lossep new.csv --ask savings=0.01 --top 3

step 'A server in front of it'
echo '$ lossep serve past.lossep'
"$program" serve past.lossep --addr 127.0.0.1:0 >address 2>log &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
while ! grep -q http address; do kill -0 "$server"; sleep 0.1; done
cat >case.json <<'END'
{"rows": [{"account": "overdrawn", "months": 36, "history": "delays", "purpose": "new car", "amount": 8.2,
  "savings": "below 100", "employed": "below 1", "age": 23, "housing": "rent"}], "why": 2}
END
show cat case.json
echo '$ curl --json @case.json http://127.0.0.1:8080/v1/models/past/decide'
curl -sS --json @case.json "$(sed 's/.* on //' address)/v1/models/past/decide"
