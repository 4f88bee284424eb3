// isolines finds where a surface crosses a level: marching squares with linear
// interpolation. values[j * xs.length + i] is the height at (xs[i], ys[j]). It returns
// open or closed lines as lists of [x, y]; nothing runs along the edge of the grid.
export function isolines(xs, ys, values, level) {
  const width = xs.length;
  const above = (i, j) => values[j * width + i] >= level;
  // The crossing on the edge from (i, j) to its right or upper neighbour.
  const crossing = (edge) => {
    const vertical = edge % 2;
    const k = (edge - vertical) / 2;
    const i = k % width;
    const j = (k - i) / width;
    const a = values[k];
    const b = values[vertical ? k + width : k + 1];
    const t = (level - a) / (b - a);
    return vertical ? [xs[i], ys[j] + t * (ys[j + 1] - ys[j])] : [xs[i] + t * (xs[i + 1] - xs[i]), ys[j]];
  };

  // Each crossed edge is joined with one other in each of the cells it borders.
  const joined = new Map();
  const join = (a, b) => {
    for (const [from, to] of [[a, b], [b, a]]) joined.set(from, [...(joined.get(from) ?? []), to]);
  };
  for (let j = 0; j + 1 < ys.length; j++) {
    for (let i = 0; i + 1 < width; i++) {
      const k = j * width + i;
      const bottom = 2 * k, top = 2 * (k + width), left = 2 * k + 1, right = 2 * (k + 1) + 1;
      const corners = [above(i, j), above(i + 1, j), above(i + 1, j + 1), above(i, j + 1)];
      const edges = [bottom, right, top, left].filter((_, e) => corners[e] !== corners[(e + 1) % 4]);
      if (edges.length === 2) join(...edges);
      if (edges.length === 4) {
        // A saddle: the mean of the corners says which of them are connected.
        const mean = (values[k] + values[k + 1] + values[k + width] + values[k + width + 1]) / 4;
        if (mean >= level === corners[0]) (join(bottom, right), join(top, left));
        else (join(bottom, left), join(top, right));
      }
    }
  }

  const lines = [];
  const walk = (start) => {
    const line = [start];
    for (let at = start; joined.has(at); ) {
      const next = joined.get(at).pop();
      if (joined.get(at).length === 0) joined.delete(at);
      if (next === undefined) break;
      const back = joined.get(next);
      back.splice(back.indexOf(at), 1);
      if (back.length === 0) joined.delete(next);
      line.push(next);
      at = next;
    }
    lines.push(line.map(crossing));
  };
  // Open lines begin where an edge has one neighbour; what remains is closed.
  for (const edge of [...joined.keys()]) if (joined.get(edge)?.length === 1) walk(edge);
  for (const edge of [...joined.keys()]) if (joined.has(edge)) walk(edge);
  return lines;
}
