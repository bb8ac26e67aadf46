// Numbers and times as people read them.

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const grouped = (number) => GROUPED.format(number);

export const counted = (number, one, several = `${one}s`) => `${grouped(number)} ${number === 1 ? one : several}`;

/** Two digits that count, as the service writes them: 1,300. */
function roughly(number) {
  if (number < 10) return number.toFixed(1).replace(/\.0$/, "");
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(number)) - 1);
  return grouped(Math.round(number / unit) * unit);
}

export const oneIn = (number) => `1 in ${roughly(number)}`;

export const score = (value) => value.toFixed(2);

/** What a threshold lets in. */
export const rule = ({ threshold, far }) =>
  `A match needs a score of at least ${score(threshold)}, which ${oneIn(1 / far)} strangers reach.`;

/** A share in percent; never rounded to all or to nothing when it is not. */
export function percent(share) {
  // An end of an interval may miss all or nothing by a hair.
  if (share < 1e-6 || share > 1 - 1e-6) return `${Math.round(100 * share)} %`;
  const rounded = Math.min(99.9, Math.max(0.1, 100 * share));
  return `${rounded >= 99 || rounded < 1 ? rounded.toFixed(1) : rounded.toFixed(0)} %`;
}

export const signed = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(2)}`;

export function megabytes(bytes) {
  return bytes < 1e6 ? `${grouped(Math.ceil(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

export const tooLarge = (bytes, most) => `The file has ${megabytes(bytes)}; at most ${megabytes(most)} are accepted.`;

export function day(told) {
  const at = new Date(told);
  return Number.isNaN(at.getTime()) ? told : at.toLocaleDateString(
    "en-GB",
    { day: "numeric", month: "long", year: "numeric" },
  );
}
