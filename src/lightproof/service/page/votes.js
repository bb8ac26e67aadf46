// The frames of the last second, and what most of them say: as `lightproof watch` counts them.

const MEMORY = 1; // seconds over which frames vote
const FEWEST = 3; // frames that vote at least: one alone may err

/** What a frame says of an answer, or of none: a string that is equal where the votes are. */
export function voteOf(answer) {
  if (answer === null) return "nobody";
  return answer.answer === "known" ? `person ${answer.person ?? answer.name}` : "stranger";
}

export class Votes {
  #votes = [];

  /** Count one more frame; return what more than half of the last ones say, or null if they do not agree. */
  add(second, vote) {
    this.#votes.push({ second, vote });
    while (this.#votes.length > FEWEST && this.#votes[0].second <= second - MEMORY) this.#votes.shift();
    const counts = new Map();
    for (const one of this.#votes) counts.set(one.vote, (counts.get(one.vote) ?? 0) + 1);
    const [most, count] = [...counts].reduce((best, next) => (next[1] > best[1] ? next : best));
    return this.#votes.length >= FEWEST && 2 * count > this.#votes.length ? most : null;
  }
}
