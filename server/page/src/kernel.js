// The kernels that the controls can make, in the language that the server reads. A
// text they cannot make is "own", and is sent as it is.

const shapes = {
  rbf: ["variance", "lengthscale"],
  matern52: ["variance", "lengthscale"],
  matern32: ["variance", "lengthscale"],
  matern12: ["variance", "lengthscale"],
  periodic: ["variance", "lengthscale", "period"],
  linear: ["variance"],
};

// parametersOf are the numbers that a shape has.
export const parametersOf = (shape) => shapes[shape] ?? [];

// kernelText writes {shape, variance, lengthscale, period, constant, linear, text}. The
// straight shape needs a constant to have an intercept.
export function kernelText(kernel) {
  const {shape, constant, linear, text} = kernel;
  if (shape === "own") return text;
  const main = `${shape}(${shapes[shape].map((name) => `${name}=${kernel[name]}`).join(", ")})`;
  return [main, (constant || shape === "linear") && "constant", linear && shape !== "linear" && "linear"].filter(Boolean).join(" + ");
}

// parseKernel reads what kernelText writes.
export function parseKernel(text) {
  const own = {shape: "own", text, variance: 1, lengthscale: 1, period: 1, constant: false, linear: false};
  const [main, ...rest] = text.split("+").map((part) => part.trim());
  const [, shape, inside] = /^(\w+)\((.*)\)$/.exec(main) ?? [];
  if (!Object.hasOwn(shapes, shape ?? "")) return own;
  const pairs = inside.split(",").map((pair) => pair.split("=").map((side) => side.trim()));
  const values = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  const kernel = {...own, ...values, shape, constant: rest.includes("constant") && shape !== "linear", linear: rest.includes("linear")};
  return kernelText(kernel) === text ? kernel : own;
}
