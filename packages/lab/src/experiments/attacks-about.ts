import { INVALID_COUNT_EPSILON } from "@lethe/core/privacy";
import { CROWD, LOCAL_EPSILON } from "../attacks/index.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** How often an attacker who sees one answer with this ε guesses the bit right at best, in per cent. */
const bestGuess = (epsilon: number): string => `${(100 / (1 + Math.exp(-epsilon))).toFixed(2)}%`;

const ORACLE_GUESS = bestGuess(INVALID_COUNT_EPSILON / 2);

/** What the experiment claims and how it tests it. */
export const ABOUT: string = wrapMarkdown(`
A sound cipher is not enough. Four attacks are known that would get one bit of one device, *did it ever happen there?*,
out of a service like this one, although nobody breaks any encryption. We claim that each of them works, and that one
rule of Lethe stops each. So every attack is run twice, with the code that devices and servers run: against a Lethe
without that rule, and against Lethe.

**Replay amplification.** An intruder copies the ciphertext that a device has stored, rerandomizes it, and sends the
copies as the reports of invented devices. If all devices share a key, every copy is counted, and the released sum shows
the bit above the noise of ${CROWD} other devices. In Lethe every device has its own key. A copy under another name
opens to noise and counts as an answer to "no event", whatever was in it. The victim's own honest report is in the sum
as well, at ε = ${LOCAL_EPSILON}: from that alone an attacker is right in up to ${bestGuess(LOCAL_EPSILON)} of cases.

**The validity oracle.** An intruder hijacks the device's one report. They rotate the secret slot onto the canary, the
pattern by which the server recognizes a report that it can open. Now the report is valid exactly if nothing happened. A
server that publishes the number of invalid reports publishes the bit. Lethe adds noise to that number: ε =
${INVALID_COUNT_EPSILON} for two changed reports, so ε = ${INVALID_COUNT_EPSILON / 2} for one, with which an attacker is
right in up to ${ORACLE_GUESS} of cases.

**Key averaging.** A lattice key is (a, −(a·s + e)), and only the small error e hides the secret s. Suppose that a
server draws a fresh e whenever it is asked for a device's key. Then anyone who asks a thousand times, takes the average
and divides by a finds s. Lethe derives e together with the rest of the key: asking again returns the same key.

**The double query.** Two servers check that a shared value is a bit: they evaluate a line at one secret point. The line
starts at a random value, so one point says nothing, but two points of the same line say everything. An intruder sends a
captured sharing twice, under two report ids. One of the servers, which follows the protocol but looks at what it
receives, draws the line. Lethe's servers answer for one report of a device, ever. The intruder then sends the sharing
in the name of an invented device, where it opens to garbage.

**How attacks are scored.** On twins: two devices that differ in the bit alone, in worlds whose coins fall alike
wherever that can be arranged (the answers of other devices, the noise on counts). The attacker plays the same attack on
both and knows which rules hold. An attacker who sees nothing that depends on the bit says the same of both twins and is
right about exactly one. Behind a defence, figures are therefore closer to 50% than those of independent trials would
be. The intervals are Wilson's, for independent trials; an interval that holds 50% does not prove that nothing is left.
Pairs show a smaller advantage, by how much more often both twins are guessed right than both wrong. Where a defence is
noise, such an advantage remains: the validity oracle's shows in the pairs, and its ${ORACLE_GUESS} allow that.

**What this does not show.** It does not show that these defences are all that is needed. And one thing remains: a
hijacked report may still give the answer that the intruder likes, once, in the device's own name. The noise of the
other devices covers that answer, and copies do not add to it ([threat model](../threat-model.md)).
`);
