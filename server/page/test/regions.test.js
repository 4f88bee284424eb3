import assert from "node:assert/strict";
import {test} from "node:test";
import {area, middle, regions} from "../src/regions.js";

const best = (table, costs, p) => {
  const expected = table.map((row) => row.reduce((sum, x, o) => sum + x * p[o], 0));
  return expected.indexOf(costs ? Math.min(...expected) : Math.max(...expected));
};

test("equal mistakes divide the triangle in three", () => {
  const found = regions([[0, 1, 1], [1, 0, 1], [1, 1, 0]], true);
  for (const polygon of found) assert.ok(Math.abs(area(polygon) - 1 / 3) < 1e-12);
  assert.equal(best([[0, 1, 1], [1, 0, 1], [1, 1, 0]], true, middle(found[1])), 1);
});

test("regions cover the triangle, and each is where its action is best", () => {
  const table = [[0, 5, 50], [1, 0, 10], [4, 2, 0], [2, 2, 2]];
  for (const costs of [true, false]) {
    const found = regions(table, costs);
    assert.ok(Math.abs(found.reduce((sum, polygon) => sum + area(polygon), 0) - 1) < 1e-12);
    found.forEach((polygon, a) => polygon.length && assert.equal(best(table, costs, middle(polygon)), a));
  }
});

test("an action that is never best, and the second of two that are the same, have none", () => {
  const found = regions([[0, 1, 1], [1, 0, 0], [0, 1, 1], [2, 2, 2]], true);
  assert.deepEqual(found.map((polygon) => area(polygon) > 0), [true, true, false, false]);
});
