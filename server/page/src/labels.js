const unreadable = 100;

// placeLabels finds a place for the name of each curve, beside the curve and clear of
// the others. Curves are {name, points} in pixels; the frame is {left, top, right,
// bottom}; previous are the places found last, which are kept if they are still good,
// so that names do not jump about while something is dragged.
// Where there is no room for a name it is left out: {name, x, y} of all others, with y
// the middle of the text.
export function placeLabels(curves, frame, previous = []) {
  const taken = [];
  return curves.flatMap(({name, points}) => {
    const before = previous.find((label) => label.name === name);
    let best = {cost: Infinity};
    const stride = Math.max(1, Math.floor(points.length / 60));
    for (let k = 0; k < points.length; k += stride) {
      const alone = apart(points[k], name, curves);
      for (const offset of [-11, 11, -22, 22]) {
        const box = boxAround(name, points[k][0], points[k][1] + offset);
        const cost = costOf(box, name, curves, taken, frame) + Math.abs(offset) / 5 - alone +
          (before ? Math.min(6, Math.hypot(before.x - box.x, before.y - box.y) / 12) : 0);
        if (cost < best.cost) best = {cost, box};
      }
    }
    if (!best.box || best.cost >= unreadable) return [];
    taken.push(best.box);
    return [{name, x: best.box.x, y: best.box.y}];
  });
}

// apart is how far a point of a curve is from all other curves, up to what matters.
function apart([x, y], name, curves) {
  let nearest = 14;
  for (const curve of curves) {
    if (curve.name === name) continue;
    for (const [px, py] of curve.points) if (Math.abs(px - x) < nearest) nearest = Math.min(nearest, Math.hypot(px - x, py - y));
  }
  return nearest;
}

// boxAround is the room that a name takes in the 11 px type of the charts.
function boxAround(name, x, y) {
  const half = 3.3 * name.length + 4;
  return {x, y, left: x - half, right: x + half, top: y - 8, bottom: y + 8};
}

function costOf(box, name, curves, taken, frame) {
  if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) return Infinity;
  let cost = 0;
  for (const other of taken) {
    if (box.left < other.right + 6 && box.right > other.left - 6 && box.top < other.bottom && box.bottom > other.top) cost += unreadable;
  }
  // Each pixel of some curve behind the text makes it harder to read; and a name that
  // is nearer to another curve than to its own names the wrong one.
  for (const curve of curves) {
    let nearest = Infinity;
    for (const [x, y] of curve.points) {
      if (x < box.left - 12 || x > box.right + 12) continue;
      const dx = Math.max(0, box.left - x, x - box.right);
      const dy = Math.max(0, box.top - y, y - box.bottom);
      nearest = Math.min(nearest, Math.hypot(dx, dy));
      if (dx === 0 && dy === 0) cost += curve.name === name ? 2 : 4;
    }
    if (curve.name !== name && nearest < 16) cost += 16 - nearest;
  }
  return cost;
}

// stacked lifts points that would hide each other: for each x in pixels, the lowest level
// that no earlier point within room is on.
export function stacked(xs, room = 12) {
  const levels = [];
  xs.forEach((x, i) => {
    const taken = new Set(levels.filter((_, j) => Math.abs(xs[j] - x) < room));
    levels[i] = 0;
    while (taken.has(levels[i])) levels[i]++;
  });
  return levels;
}
