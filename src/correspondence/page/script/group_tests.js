/* Tests of what is more frequent, or larger, in a group than elsewhere: the same figures as core/group_tests.py and
   describe/group_figures.py compute, in the same way (tests compare the two). */

const LEAST_TERM = 1e-18, LEAST_FOR_STIRLING = 16, CONSTANT = 1e-13;
const LOG_2PI = Math.log(2 * Math.PI), TINY = 2.2250738585072014e-308;

/* Logarithm of the two-sided mid-p-value of a hypergeometric count: k of the group are in the category. */
function logHypergeometric(k, group, category, n) {
  // Below its mean, a count of the category is a count above its mean of all other members: only upper tails are left.
  if (k * n < group * category) [k, category] = [group - k, n - category];
  const logPmf = logPmfOf(k, group, category, n), tail = sumUpperRatios(k, group, category, n);
  const upper = logPmf + Math.log(1 + 2 * tail), lower = Math.log(Math.max(2 - Math.exp(logPmf) * (1 + 2 * tail), TINY));
  return Math.min(upper, lower, 0);
}
function logPmfOf(k, group, category, n) {
  if (!(group > 0 && group < n && category > 0 && category < n)) return 0;
  const p = group / n;
  return logBinomial(k, category, p) + logBinomial(group - k, n - category, p) - logBinomial(group, n, p);
}
/* Loader's expansion about the mean. */
function logBinomial(x, size, p) {
  if (x <= 0 || x >= size) return (x ? x * Math.log(p) : 0) + (size - x ? (size - x) * Math.log(1 - p) : 0);
  const error = stirlingError(size) - stirlingError(x) - stirlingError(size - x);
  return error - deviance(x, size * p) - deviance(size - x, size * (1 - p)) + .5 * Math.log(size / (2 * Math.PI * x * (size - x)));
}
/* log n! minus Stirling's approximation of it. */
function stirlingError(n) {
  if (n >= LEAST_FOR_STIRLING) return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / n ** 2) / n ** 2) / n ** 2) / n ** 2) / n;
  let log = 0;
  for (let i = 2; i <= n; i++) log += Math.log(i);
  return log - (n + .5) * Math.log(n) + n - .5 * LOG_2PI;
}
function deviance(x, mean) { return x * Math.log1p((x - mean) / mean) - (x - mean); }
/* Sum of P(X = j) / P(X = k) over all j above k. */
function sumUpperRatios(k, group, category, n) {
  let total = 0, term = 1;
  for (let at = k; term > LEAST_TERM * Math.max(total, 1); at++) {
    term *= (category - at) * (group - at) / ((at + 1) * (n - category - group + at + 1));
    total += term;
  }
  return total;
}

/* Logarithm of the probability that a normal number is above z >= 0. */
function logNormalTail(z) {
  if (z < 3) {
    let sum = z, term = z;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) { term *= z * z / (2 * k + 1); sum += term; }
    return Math.log(.5 - sum * Math.exp(-z * z / 2 - LOG_2PI / 2));
  }
  let rest = z;
  for (let k = 80; k >= 1; k--) rest = z + k / rest;  // Laplace's continued fraction
  return -z * z / 2 - LOG_2PI / 2 - Math.log(rest);
}
/* The v-test of a p-value: the normal number that has it on both sides. */
function vtestOf(logP, isPositive) {
  const wanted = Math.min(logP, 0) - Math.LN2;
  let z = Math.sqrt(Math.max(0, -2 * wanted - LOG_2PI)) || 0;
  for (let step = 0; step < 60; step++) {
    const log = logNormalTail(z), slope = -Math.exp(-z * z / 2 - LOG_2PI / 2 - log), next = Math.max(0, z - (log - wanted) / slope);
    if (Math.abs(next - z) <= 1e-14 * Math.max(1, z)) { z = next; break; }
    z = next;
  }
  return isPositive ? z : -z;
}
function normalPvalue(vtest) { return Math.exp(Math.min(Math.LN2 + logNormalTail(Math.abs(vtest)), 0)); }

/* Benjamini and Hochberg: p-values adjusted so that the share of false discoveries is controlled. NaN stays NaN. */
function adjustPvalues(pvalues) {
  const order = Array.from(pvalues.keys()).filter(k => pvalues[k] === pvalues[k]).sort((a, b) => pvalues[b] - pvalues[a]);
  const adjusted = pvalues.map(() => NaN);
  let least = 1;
  order.forEach((k, at) => { adjusted[k] = least = Math.min(least, pvalues[k] * order.length / (order.length - at)); });
  return adjusted;
}

/* The mean of a number in a group and in all. `values` are those of all members, `isIn[j]` says who is in the group. */
function compareMeans(values, isIn, weights) {
  let unit = 0, n = 0, size = 0, sum = 0, own = 0;
  const count = values.length, weight = j => weights ? weights[j] : 1, isKnown = j => values[j] === values[j] && weight(j) > 0;
  for (let j = 0; j < count; j++) if (isKnown(j)) unit = Math.max(unit, Math.abs(values[j]));
  unit ||= 1;
  for (let j = 0; j < count; j++) {
    if (!isKnown(j)) continue;
    n += weight(j);
    sum += weight(j) * values[j] / unit;
    if (isIn[j]) { size += weight(j); own += weight(j) * values[j] / unit; }
  }
  const overall = sum / n, mean = own / size;
  let squares = 0;
  for (let j = 0; j < count; j++) if (isKnown(j)) squares += weight(j) * (values[j] / unit - overall) ** 2;
  const deviation = Math.sqrt(squares / n), sd = deviation > CONSTANT ? deviation : NaN, effect = (mean - overall) / sd;
  // The mean of so many values drawn at random without replacement has variance sd^2 / size (n - size) / (n - 1).
  const vtest = effect * Math.sqrt(size) * Math.sqrt((n - 1) / (n - size));
  return { n: size, mean: mean * unit, overall: overall * unit, sd: sd * unit, effect, vtest, pvalue: vtest === vtest ? normalPvalue(vtest) : NaN };
}
