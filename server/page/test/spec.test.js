import assert from "node:assert/strict";
import {test} from "node:test";
import {entriesOf, multipleOf, sameEntries, specText, withMultiple} from "../src/spec.js";

const spec = {outcomes: ["good", "bad"], costs: {accept: {good: 0, bad: "0.6 * amount"}, refuse: {bad: 0, good: 1}}, ceiling: 10};

test("a table of entries and back", () => {
  const entries = entriesOf(spec, ["accept", "refuse"], ["good", "bad"]);
  assert.deepEqual(entries, [[0, "0.6 * amount"], [1, 0]]);
  assert.deepEqual(JSON.parse(specText(spec, ["accept", "refuse"], ["good", "bad"], entries)), {...spec});
  assert.ok(sameEntries(entries, [[0, "0.6 * amount"], [1, 0]]));
});

test("actions keep their order whatever they are called, and a ceiling gives way", () => {
  const text = specText({costs: {}, ceiling: 10}, ["2", "1"], ["0", "1"], [[0, 20], [1, 0]]);
  assert.equal(text, '{"outcomes":["0","1"],"costs":{"2":{"0":0,"1":20},"1":{"0":1,"1":0}},"ceiling":20}');
});

test("what a column is multiplied by, and another number in its place", () => {
  for (const [entry, by, changed] of [
    [5, 5, 2], ["0.6 * amount", 0.6, "2 * amount"], ["-1e-3*x.1", -0.001, "2 * x.1"], ["amount", 1, "2 * amount"], ["3 * `credit amount`", 3, "2 * `credit amount`"],
  ]) {
    assert.equal(multipleOf(entry), by);
    assert.equal(withMultiple(entry, 2), changed);
  }
  for (const entry of ["0.6 * amount + 10", "min(amount, 5)", "amount * duration", "2"]) assert.equal(multipleOf(entry), undefined);
});
