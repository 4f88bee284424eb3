import assert from "node:assert/strict";
import {test} from "node:test";
import {kernelText, parseKernel} from "../src/kernel.js";

test("what the controls make reads back", () => {
  for (const text of [
    "rbf(variance=20.1, lengthscale=2.72)", "matern32(variance=1, lengthscale=0.5) + constant + linear",
    "periodic(variance=1, lengthscale=1, period=3)", "linear(variance=2) + constant",
  ]) {
    const kernel = parseKernel(text);
    assert.notEqual(kernel.shape, "own");
    assert.equal(kernelText(kernel), text);
  }
});

test("everything else stays as it is written", () => {
  for (const text of ["", "rbf", "rbf(ard) * linear", "linear(variance=2)", "rbf(variance=2, lengthscale=[1, 2])", "toString(variance=1)"]) {
    assert.equal(parseKernel(text).shape, "own");
    assert.equal(kernelText(parseKernel(text)), text);
  }
});
