import assert from "node:assert/strict";
import {test} from "node:test";
import {isolines} from "../src/isolines.js";

const axis = Array.from({length: 21}, (_, i) => -2 + i / 5);
const surface = (f) => axis.flatMap((y) => axis.map((x) => f(x, y)));

test("a plane is crossed in one straight open line", () => {
  const lines = isolines(axis, axis, surface((x, y) => x + 2 * y), 0.3);
  assert.equal(lines.length, 1);
  for (const [x, y] of lines[0]) assert.ok(Math.abs(x + 2 * y - 0.3) < 1e-12);
  for (const [x, y] of [lines[0][0], lines[0].at(-1)]) assert.ok(Math.max(Math.abs(x), Math.abs(y)) === 2, "it ends at the edges");
});

test("a bowl is crossed in one closed line", () => {
  const lines = isolines(axis, axis, surface((x, y) => x * x + y * y), 1.5);
  assert.equal(lines.length, 1);
  assert.deepEqual(lines[0][0], lines[0].at(-1));
  // Linear interpolation of a parabola between points 0.2 apart errs by at most 0.2²/4.
  for (const [x, y] of lines[0]) assert.ok(Math.abs(x * x + y * y - 1.5) < 0.01 + 1e-12);
});

test("a saddle keeps its branches apart, and a level never reached has no line", () => {
  assert.equal(isolines(axis, axis, surface((x, y) => x * y), 0.1).length, 2);
  assert.equal(isolines(axis, axis, surface((x, y) => x * y), 9).length, 0);
  assert.equal(isolines([0, 1], [0, 1], [1, 0, 0, 1], 0.5).length, 2);
});
