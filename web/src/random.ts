/** Returns a generator of integers from `from` to `to` for property tests, the same in every run. */
export function randoms(seed: number) {
  let state = seed;
  return (from: number, to: number) => {
    // Steele and Vigna's splitmix32: every seed gives a different sequence.
    state = (state + 0x9e3779b9) | 0;
    let bits = state ^ (state >>> 16);
    bits = Math.imul(bits, 0x21f0aaad);
    bits ^= bits >>> 15;
    bits = Math.imul(bits, 0x735a2d97);
    bits ^= bits >>> 15;
    return from + ((bits >>> 0) % (to - from + 1));
  };
}
