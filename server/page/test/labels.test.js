import assert from "node:assert/strict";
import {test} from "node:test";
import {stacked} from "../src/labels.js";

test("points that would hide each other are on different levels, as low as can be", () => {
  assert.deepEqual(stacked([]), []);
  assert.deepEqual(stacked([0, 20, 40]), [0, 0, 0]);
  assert.deepEqual(stacked([5, 5, 5]), [0, 1, 2]);
  assert.deepEqual(stacked([0, 10, 20]), [0, 1, 0]);
  assert.deepEqual(stacked([0, 20, 10]), [0, 0, 1]);
  const many = [3, 9, 14, 1, 22, 17, 8, 12, 30, 11];
  const levels = stacked(many);
  many.forEach((x, i) => many.forEach((other, j) => i !== j && Math.abs(x - other) < 12 && assert.notEqual(levels[i], levels[j])));
});
