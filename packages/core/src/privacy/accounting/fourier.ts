/** e^{2πik/N} for k < N/2; the last one is kept, since transforms of one length follow each other. */
let roots = { cos: new Float64Array(0), sin: new Float64Array(0) };

function rootsFor(n: number): { cos: Float64Array; sin: Float64Array } {
  if (roots.cos.length !== n / 2) {
    roots = { cos: new Float64Array(n / 2), sin: new Float64Array(n / 2) };
    for (let k = 0; k < n / 2; k++) {
      roots.cos[k] = Math.cos((2 * Math.PI * k) / n);
      roots.sin[k] = Math.sin((2 * Math.PI * k) / n);
    }
  }
  return roots;
}

/** The discrete Fourier transform Σ_x (re + i·im)(x)·e^{2πikx/N} in place; N is a power of two. */
export function transform(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  const { cos: cosines, sin: sines } = rootsFor(n);
  reverseBits(re);
  reverseBits(im);
  for (let half = 1; half < n; half *= 2) {
    for (let k = 0; k < half; k++) {
      const cos = cosines[(k * n) / (2 * half)] as number;
      const sin = sines[(k * n) / (2 * half)] as number;
      for (let i = k; i < n; i += 2 * half) {
        const j = i + half;
        const x = cos * (re[j] as number) - sin * (im[j] as number);
        const y = cos * (im[j] as number) + sin * (re[j] as number);
        re[j] = (re[i] as number) - x;
        im[j] = (im[i] as number) - y;
        re[i] = (re[i] as number) + x;
        im[i] = (im[i] as number) + y;
      }
    }
  }
}

function reverseBits(values: Float64Array): void {
  const n = values.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const value = values[i] as number;
      values[i] = values[j] as number;
      values[j] = value;
    }
  }
}
