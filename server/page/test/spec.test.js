import assert from "node:assert/strict";
import {test} from "node:test";
import {entriesOf, sameEntries, specText} from "../src/spec.js";

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
