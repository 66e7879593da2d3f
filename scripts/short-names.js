// Shortens the names of properties that only the SDK itself uses: not the application, the service or the platform.
import { parseAst } from "rolldown/parseAst";

/** The most used first. None is a word of task files, which devices read as they are. */
export const NAMES = `
  dimension known state windows slots generation report seal parameters plaintextBits tick c0Bits zero moments
  c1Bits number uploads safe ciphertextBytes isCounting preamble reads saved random failures fold
  layout localEpsilons manifests service rerandomize what kind token reported segment onCounting enrolment isSealed
  addProduct addToSlot begins canary encryptions format hidesLeft keysOf publicKeyBytes
  quarter toLower transform twiddles hasOld local endsTick blocks spec signed onDropped hide aSpectra
  addEncryptionsOfZero bSpectra bodyOf decodePublicKey flip modulusBits perCiphertext responses signers
  startsWithRadix2 transformSmall trivial begin perform passes roomPerTick retryAfter slot resume enrol upload
  inverse encryptionsAfter limbs log2Failure multipliedBy buckets capacity decoy denominator numerator positions
  reach sigma2 last manifestHash twoServer rotations
`
  .trim()
  .split(/\s+/);

/** Letters that are no property anywhere (those of curves and keys are missing), then `$a` and on, then two letters. */
const ALONE = "irosclumgvwASNMERDCPLIOUFBGHKJQVjq";
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const shortNames = new Map(NAMES.map((name, i) => [name, ALONE[i] ?? `$${letters(i - ALONE.length)}`]));

function letters(i) {
  return (LETTERS[Math.floor(i / LETTERS.length) - 1] ?? "") + LETTERS[i % LETTERS.length];
}

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
