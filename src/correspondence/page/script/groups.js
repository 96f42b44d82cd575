/* Groups of points in the plane: means, ellipses and hulls, as scene/groups.py finds them, for whatever axes, map and
   colours are chosen. */

const MIN_MEMBERS = 3, GROUP_LEVEL = .95;  // of a group that has an ellipse; of the ellipses

/* Means, ellipses and hulls of groups. `weight(j)` is how many members point j counts for; `isMass` says that these are
   masses in any unit, and `times` how many members each stands for, if only some are shown. */
function traceGroups(points, codes, n, weight, isMass, times, kind) {
  const groups = Array.from({ length: n }, () => ({ members: 0, sum: 0, squares: 0, mean: [0, 0], s: [0, 0, 0], points: [] }));
  points.forEach(([x, y], j) => {
    const group = groups[codes[j]], w = weight(j);
    if (!group || !(w > 0) || x !== x) return;
    group.members += 1;
    group.sum += w;
    group.squares += w * w;
    group.mean[0] += w * x;
    group.mean[1] += w * y;
    if (kind === "hull") group.points.push([x, y]);
  });
  for (const group of groups) group.mean = group.mean.map(sum => sum / group.sum);
  points.forEach(([x, y], j) => {
    const group = groups[codes[j]], w = weight(j);
    if (!group || !(w > 0) || x !== x) return;
    const [dx, dy] = [x - group.mean[0], y - group.mean[1]];
    group.s[0] += w * dx * dx;
    group.s[1] += w * dx * dy;
    group.s[2] += w * dy * dy;
  });
  for (const group of groups) {
    if (kind === "hull") group.hull = hull(group.points);
    else group.ellipse = group.members >= MIN_MEMBERS ? spreadOf(group, isMass, times, kind) : null;
    delete group.points;
  }
  return groups;
}

/* Half axes and angle of the ellipse of a group. */
function spreadOf(group, isMass, times, kind) {
  // Kish: as many equally heavy members as say as much.
  const kish = group.sum ** 2 / group.squares, n = isMass ? kish : group.sum * times;
  if (kind === "confidence" ? n <= 2 : n <= 1) return null;
  const [a, b, c] = group.s.map(sum => sum / group.sum * n / (n - 1));
  const middle = (a + c) / 2, apart = Math.hypot((a - c) / 2, b), outside = 1 - GROUP_LEVEL;
  // Quantiles of chi2 with 2 degrees of freedom, and Hotelling's, by F with 2 and n - 2, in closed form.
  const quantile = kind === "concentration" ? -2 * Math.log(outside) : (n - 1) / n * (outside ** (-2 / (n - 2)) - 1);
  const lengths = [middle + apart, middle - apart].map(value => Math.sqrt(Math.max(0, value) * quantile));
  return { lengths, angle: Math.atan2(2 * b, a - c) / 2 };
}

/* Corners of the convex hull, by Andrew's chains along the lower and the upper side. */
function hull(points) {
  const sorted = points.sort(([ax, ay], [bx, by]) => ax - bx || ay - by);
  const turn = ([ax, ay], [bx, by], [cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
  const chain = list => {
    const kept = [];
    for (const point of list) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return sorted.length < 2 ? [] : [...chain(sorted), ...chain([...sorted].reverse())];
}

const GROUP_NOTES = {
  confidence: "Ellipses hold the means of groups at 95 % confidence.",
  concentration: "Ellipses hold 95 % of the members of a group, if these are normal.",
  hull: "Hulls are drawn around all members shown.",
};
