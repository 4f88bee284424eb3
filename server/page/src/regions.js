// Where actions are best among the probabilities of three outcomes. What an action is
// expected to cost is linear in them, so that each is best in a polygon.

// regions are the polygons of the actions, by corners [p0, p1, p2]; empty where an action is
// never the only best. The table is by rows (actions) and columns (outcomes), and costs tells
// whether less is better. Of two actions that are the same the first is taken, as in
// decisions.
export function regions(table, costs) {
  const sign = costs ? 1 : -1;
  return table.map((row, a) => {
    let polygon = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    table.forEach((other, b) => {
      if (a === b) return;
      const gain = other.map((x, o) => sign * (x - row[o]));
      polygon = gain.every((x) => x === 0) && b < a ? [] : clip(polygon, (p) => p.reduce((sum, x, o) => sum + x * gain[o], 0));
    });
    return area(polygon) > 0 ? polygon : [];
  });
}

// clip is the part of a convex polygon where a linear function is not below zero.
function clip(polygon, value) {
  return polygon.flatMap((corner, i) => {
    const next = polygon[(i + 1) % polygon.length];
    const [v, w] = [value(corner), value(next)];
    const kept = v >= 0 ? [corner] : [];
    if ((v < 0) === (w < 0) || v === 0 || w === 0) return kept;
    const share = v / (v - w);
    return [...kept, corner.map((x, o) => x + share * (next[o] - x))];
  });
}

// area is that of a polygon, as a share of the triangle of all probabilities.
export function area(polygon) {
  const [x, y] = [1, 2];
  const twice = polygon.reduce((sum, corner, i) => {
    const next = polygon[(i + 1) % polygon.length];
    return sum + corner[x] * next[y] - next[x] * corner[y];
  }, 0);
  return Math.abs(twice) < 1e-12 ? 0 : Math.abs(twice);
}

// middle is the centre of gravity of the corners.
export const middle = (polygon) => [0, 1, 2].map((o) => polygon.reduce((sum, corner) => sum + corner[o], 0) / polygon.length);
