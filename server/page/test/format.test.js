import assert from "node:assert/strict";
import {test} from "node:test";
import {commonDecimals, count, fixed, list, number, percent, plural, rounded, snapped, toWithin} from "../src/format.js";

test("numbers keep their significant digits", () => {
  for (const [value, text] of [
    [0, "0"], [-0, "0"], [1, "1"], [-2.316, "−2.32"], [0.01234, "0.0123"], [0.9996, "1"], [1234.4, "1,234"], [1234567, "1,234,567"],
    [99.96, "100"], [1.2e-7, "1.2×10⁻⁷"], [-1e-20, "−1×10⁻²⁰"], [3.45e12, "3.45×10¹²"],
    [null, "–"], [undefined, "–"], [NaN, "–"], [Infinity, "∞"], [-Infinity, "−∞"],
  ]) assert.equal(number(value), text);
  assert.equal(number(0.123456789, 6), "0.123457");
});

test("columns of values line up", () => {
  for (const [values, decimals] of [[[], 4], [[0, -0.02], 4], [[99, 0.1], 4], [[100], 3], [[-3734.9, 11.2], 2], [[2e9], 0], [[NaN, 5], 4]]) assert.equal(commonDecimals(values), decimals);
  for (const [value, text] of [[0, "0.0000"], [0.99996, "1.0000"], [-1234.5, "−1,234.5000"], [1.5e-7, "1.5×10⁻⁷"], [2e9, "2×10⁹"], [null, "–"]]) assert.equal(fixed(value), text);
});

test("what is known to a precision has no more decimals", () => {
  for (const [value, precision, text] of [[10.459375, 0.00625, "10.46"], [-0.001, 0.00625, "0"], [1234.56, 0.8, "1,235"], [1.41, 0.1, "1.4"], [1234.56, 50, "1,235"]]) assert.equal(toWithin(value, precision), text);
});

test("only certainty is shown as certainty", () => {
  for (const [value, text] of [[0, "0%"], [1, "100%"], [1e-9, "<0.1%"], [0.9999999, ">99.9%"], [0.1512, "15.1%"], [0.999, "99.9%"], [null, "–"]]) {
    assert.equal(percent(value), text);
  }
});

test("counts and lists", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(plural(1, "row"), "1 row");
  assert.equal(plural(1200, "row"), "1,200 rows");
  assert.equal(list([]), "");
  assert.equal(list(["EP"]), "EP");
  assert.equal(list(["EP", "VI", "Loss-VI"]), "EP, VI and Loss-VI");
});

test("rounding for controls", () => {
  assert.equal(rounded(12.3456), 12.3);
  assert.equal(rounded(0), 0);
  assert.equal(snapped(1.23456, 0.05), 1.23);
  assert.equal(snapped(123.4, 20), 120);
  assert.ok(Object.is(snapped(-0.001, 0.05), 0));
});
