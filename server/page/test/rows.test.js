import assert from "node:assert/strict";
import {test} from "node:test";
import {cellOf, readRows, RowsError, writeCSV} from "../src/rows.js";

const numeric = new Set(["age", "income"]);

test("commas, semicolons and tabs", () => {
  const want = [{age: 41, job: "clerk"}, {age: 5.5, job: "a, b"}];
  assert.deepEqual(readRows('age,job\n41,clerk\n5.5,"a, b"\n', numeric).rows, want);
  assert.deepEqual(readRows('\uFEFFage;job\r\n41;clerk\r\n\r\n5.5;"a, b"', numeric).rows, want);
  assert.deepEqual(readRows('age\tjob\n41\tclerk\n5.5\t"a, b"', numeric).rows, want);
});

test("decimal commas are read where they cannot separate, and told", () => {
  const {rows, notes} = readRows("age;job\n1,5;2,5", numeric);
  assert.deepEqual(rows, [{age: 1.5, job: "2,5"}]);
  assert.equal(notes.length, 1);
});

test("quotes", () => {
  assert.deepEqual(readRows('age,"the ""job"""\n1,"two\nlines"', numeric).rows, [{age: 1, 'the "job"': "two\nlines"}]);
  assert.throws(() => readRows('age,job\n1,"open', numeric), RowsError);
});

test("what is no number is left to the server", () => {
  assert.deepEqual(readRows("age,income\n,NA\n0x10,1e999", numeric).rows, [{age: "", income: "NA"}, {age: "0x10", income: "1e999"}]);
  assert.deepEqual(readRows("zip\n01234").rows, [{zip: "01234"}]);
});

test("JSON as a list, as a request, as one object and by lines", () => {
  const rows = [{age: 1}, {age: 2}];
  assert.deepEqual(readRows('[{"age": 1}, {"age": 2}]').rows, rows);
  assert.deepEqual(readRows('{"rows": [{"age": 1}, {"age": 2}]}').rows, rows);
  assert.deepEqual(readRows('{"age": 1}\n{"age": 2}\n').rows, rows);
  assert.deepEqual(readRows('{"age": 1}').columns, ["age"]);
  for (const bad of ["[1, 2]", "[{]", "[]", '{"rows": [null]}']) assert.throws(() => readRows(bad), RowsError);
});

test("texts that are no rows", () => {
  for (const [bad, says] of [["", /no rows/], ["age,job", /only one line/], ["age,age\n1,2", /twice/], ["age,job\n1", /Row 1 has 1 cells/]]) {
    assert.throws(() => readRows(bad, numeric), says);
  }
});

test("what is written reads back as it was", () => {
  const text = writeCSV(["age", "job"], [[0.1 + 0.2, 'say "hi", twice'], [1e-300, null], [-5, "x\ny"]]);
  assert.deepEqual(readRows(text, numeric).rows, [
    {age: 0.30000000000000004, job: 'say "hi", twice'}, {age: 1e-300, job: ""}, {age: -5, job: "x\ny"},
  ]);
});

test("columns may be called what all objects have", () => {
  const {columns, rows} = readRows("constructor,__proto__,toString\n1,2,x\n");
  assert.deepEqual(columns, ["constructor", "__proto__", "toString"]);
  assert.deepEqual(columns.map((name) => cellOf(rows[0], name)), ["1", "2", "x"]);
  const other = readRows('[{"a": 1}, {"constructor": 2, "__proto__": 3}]');
  assert.deepEqual(other.columns.map((name) => cellOf(other.rows[0], name)), [1, undefined, undefined]);
  assert.equal(JSON.stringify(other.rows[1]), '{"constructor":2,"__proto__":3}');
});
