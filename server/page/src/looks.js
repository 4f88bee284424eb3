// How methods, actions and everything else look. Colours are literal, not style sheet
// variables, so that a chart can be drawn again for paper while the screen is dark.

// The methods share the shapes of the figures that the command writes: colours after
// Okabe and Ito, with the pale ones darkened on white and the dark ones lightened on
// black until names written in them stand out 4.5:1; within a family the hollow marker is the plain
// method and the solid one its calibrated sibling. Dash and marker tell them apart
// without colour.
const methods = {
  exact: {light: "#1d2126", dark: "#f2f4f7", dash: null, symbol: "square", solid: true},
  ep: {light: "#9e6400", dark: "#f0b429", dash: "4 2.5", symbol: "diamond2", solid: false},
  "loss-ep": {light: "#c44a00", dark: "#ff8a4c", dash: "10 3", symbol: "diamond2", solid: true},
  vi: {light: "#1a78ae", dark: "#8fd0f7", dash: "6 3", symbol: "circle", solid: false},
  "loss-vi": {light: "#00588a", dark: "#4ba3e3", dash: "9 3 2 3", symbol: "circle", solid: true},
  corrected: {light: "#a8487f", dark: "#e79cc6", dash: "10 3 4 3", symbol: "triangle", solid: true},
  laplace: {light: "#6e5d00", dark: "#cdb94e", dash: "6 2.5 1.5 2.5 1.5 2.5", symbol: "times", solid: false},
  evidence: {light: "#007a58", dark: "#35c796", dash: "2 2.5", symbol: "triangle", solid: false},
  nuts: {light: "#4d4d4d", dark: "#b8b8b8", dash: "2 4", symbol: "asterisk", solid: false},
};
const unknown = {light: "#5f6670", dark: "#a4acb6", dash: "1 3", symbol: "plus", solid: false};

export const methodLook = (name) => methods[name] ?? unknown;

export const light = {
  name: "light", ink: "#1d2126", quiet: "#565e68", paper: "#ffffff", edge: "#c6ccd4", grid: "#e6e9ed", accent: "#00588a", area: "#dfe3e8",
  low: "#2166ac", middle: "#f7f7f5", high: "#c2570c",
  actions: [["#d3e5f3", "#2166ac"], ["#fbdcc0", "#b54d05"], ["#dcefe0", "#2b7a4b"], ["#eadff2", "#6f4596"]],
};
export const dark = {
  name: "dark", ink: "#e4e7eb", quiet: "#a4acb6", paper: "#15181c", edge: "#4a525c", grid: "#2a3037", accent: "#7cc4f0", area: "#343b44",
  low: "#4b9fe0", middle: "#22272d", high: "#f08a3c",
  actions: [["#1b3a54", "#7dbcec"], ["#5a3212", "#ffab6b"], ["#1e4630", "#74cf98"], ["#44305a", "#c9a3ea"]],
};

const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

// theme is that of the screen.
export const theme = () => (darkQuery.matches ? dark : light);
export const onThemeChange = (changed) => darkQuery.addEventListener("change", changed);

export const methodColor = (name, theme) => methodLook(name)[theme.name];
export const actionColors = (action, theme) => theme.actions[action % theme.actions.length];
