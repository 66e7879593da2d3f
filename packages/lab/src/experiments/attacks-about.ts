import { INVALID_COUNT_EPSILON } from "@lethe/core/privacy";
import { CROWD, LOCAL_EPSILON } from "../attacks/index.ts";

/** How often whoever sees one answer of so much ε guesses the bit right at best, in per cent. */
const bestGuess = (epsilon: number): string => `${(100 / (1 + Math.exp(-epsilon))).toFixed(2)}%`;

export const ABOUT: string = `
A sound cipher is not enough. There are four known ways in which one bit of one device, *did it ever happen there?*, would
get out of a service like this one although nobody breaks any encryption. The claim is ours: each of them works, and each is stopped by one
rule that Lethe keeps. So every attack is run twice, with the code that devices and servers run: against a
Lethe that lacks this one rule, and against Lethe.

**Replay amplification.** An intruder copies the ciphertext that a device has stored, rerandomizes it, and sends the copies as the reports of
invented devices. If all devices share a key, each copy is counted, and the released sum shouts the bit over the noise of ${CROWD} others. In Lethe
every device has a key of its own: a copy under another name opens to noise and counts as an answer to "no event", whatever was in it.
The victim's own honest report is in the sum, too, at ε = ${LOCAL_EPSILON}: by that alone an attacker is right in up to ${bestGuess(LOCAL_EPSILON)}.

**The validity oracle.** An intruder hijacks the device's one report. They turn the secret slot onto the canary, the pattern by which the
server knows a report that it can open: now the report is valid exactly if nothing happened. Whoever publishes how many reports were invalid
publishes the bit. Lethe publishes that number with noise (ε = ${INVALID_COUNT_EPSILON} for two changed reports, so ε = ${INVALID_COUNT_EPSILON / 2} for one: right in up to ${bestGuess(INVALID_COUNT_EPSILON / 2)}).

**Key averaging.** A lattice key is (a, −(a·s + e)), and the small error e is all that hides the secret s. A server that draws a fresh e whenever it is asked for a
device's key gives s away to whoever asks a thousand times, takes the average and divides by a. Lethe derives e along with the rest: asking again
brings the same key.

**The double query.** Two servers check that a shared bit is one by looking at a line at one secret point; where the line starts is random, so one point says
nothing. Two points of the same line say everything. An intruder sends a captured sharing twice, under two report ids, and one of the servers, which only looks at what it is
told, draws the line. Lethe's servers answer for one report of a device, ever. Then the sharing is sent in the name of an invented device, and comes out as
garbage.

**How it is scored.** On twins: two devices that differ in the bit alone, in worlds whose coins fall alike wherever that can be arranged (the answers of others, the
noise on counts). The attacker plays the same attack on both, knowing which rules hold. Who sees nothing that depends on the bit says the same of both twins and is right about exactly one: that is why figures behind a
defence lie closer to 50% than those of independent trials would. Intervals are Wilson's, as for independent trials: that one holds 50% does not mean that
nothing is left. In pairs a smaller advantage shows, by how much more often both twins are guessed right than wrong, and where a defence is noise there is one: the validity oracle's is seen there, as its ${bestGuess(INVALID_COUNT_EPSILON / 2)} allows.

**What it does not show.** That the defences are all one needs; and one thing they leave: a hijacked report may still answer what the intruder
likes, once, in the device's own name. The noise of the other devices covers that, and copies do not add to it
([threat model](../threat-model.md)).
`;
