import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeLink, decodeNumbers, decodeTable, decodeText, encodeLink, encodeNumbers, encodeTable, encodeText} from "../src/link.js";

test("links are readable and read back", () => {
  const values = {data: encodeNumbers([-1.1, 5.7]), utility: encodeTable([[1, 0.01], [0.9, 1]]), kernel: "rbf(variance=2) + constant & more?"};
  const link = encodeLink("reactor", {...values, empty: "", none: undefined, no: false});
  assert.ok(link.startsWith("#reactor?data=-1.1,5.7&utility=1,0.01;0.9,1&kernel=rbf(variance=2)+%2B+constant"));
  assert.deepEqual(decodeLink(link), {panel: "reactor", values});
  assert.equal(encodeLink("model", {}), "#model");
  assert.deepEqual(decodeLink(""), {panel: "", values: {}});
});

test("numbers and tables", () => {
  assert.deepEqual(decodeNumbers("1,-2e3"), [1, -2000]);
  assert.deepEqual(decodeNumbers(""), []);
  for (const bad of [undefined, "1,,2", "1,x", "1,Infinity"]) assert.equal(decodeNumbers(bad), undefined);
  assert.deepEqual(decodeTable("1,2;3,4", 2), [[1, 2], [3, 4]]);
  for (const bad of [undefined, "1,2;3", "1,2,3", "a,b"]) assert.equal(decodeTable(bad, 2), undefined);
});

test("any text survives", () => {
  for (const text of ["", "a,b\n1,2", "größer ≥ 3 🙂", "?>~"]) {
    assert.match(encodeText(text), /^[\w-]*$/);
    assert.equal(decodeText(encodeText(text)), text);
  }
  assert.equal(decodeText("%%%"), undefined);
});

test("values may be called what all objects have", () => {
  const {panel, values} = decodeLink("#__proto__?__proto__=1&constructor=2");
  assert.equal(panel, "__proto__");
  assert.deepEqual(Object.entries(values), [["__proto__", "1"], ["constructor", "2"]]);
  assert.equal(Object.getPrototypeOf(values), Object.prototype);
});
