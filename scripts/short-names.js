// Shortens the names of properties that only the SDK itself uses: not the application, the service or the platform.
import { parseAst } from "rolldown/parseAst";

const NAMES = `
  aSpectra addEncryptionsOfZero addProduct addSmall addToSlot bSpectra bodyOf buckets c0Bits c1Bits canary capacity choice
  ciphertextBytes decodePublicKey decoy denominator dimension encryptions encryptionsAfter failures flip fold format isCounting
  keysOf largestFactor layout limbs localEpsilons log2Failure modulusBits multipliedBy numerator parameters perCiphertext
  plaintextBits positions preamble publicKeyBytes quarter reach reads rerandomize responses sigma2 signers slots startsWithRadix2
  toLower transform transformSmall trivial twiddles
`
  .trim()
  .split(/\s+/);

/** `$a` to `$z`, then `$A` to `$Z` and digits. Nothing else in the SDK begins with a dollar sign. */
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const shortNames = new Map(NAMES.map((name, i) => [name, `$${LETTERS[i]}`]));

/** Returns the code with these properties renamed, in the same way in every file. Text and variables stay. */
export function withShortNames(code) {
  const found = [];
  visit(parseAst(code), found);
  found.sort((a, b) => b.start - a.start);
  return found.reduce((text, { start, end, to }) => text.slice(0, start) + to + text.slice(end), code);
}

function visit(node, found) {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, found);
  } else if (typeof node?.type === "string") {
    rename(node, found);
    for (const value of Object.values(node)) if (typeof value === "object") visit(value, found);
  }
}

function rename(node, found) {
  if (node.computed) return;
  const key = node.type === "MemberExpression" ? node.property : "key" in node ? node.key : undefined;
  const to = key?.type === "Identifier" ? shortNames.get(key.name) : undefined;
  if (to !== undefined) found.push({ start: key.start, end: key.end, to: node.shorthand ? `${to}:${key.name}` : to });
}
