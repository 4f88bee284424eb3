import {get} from "./api.js";

// The table of methods, as the server has it: what each is called, and what its evidence
// is evidence of.
let table = new Map();

export async function learnMethods() {
  const {methods} = await get("v1/methods");
  table = new Map(methods.map((method) => [method.name, method]));
}

export const methodNamed = (name) => table.get(name) ?? {name, label: name, about: ""};
export const methodLabel = (name) => methodNamed(name).label;
