import { DISTINGUISHERS } from "../intrusion/battery.ts";
import { EVENTS, IN_REPORT } from "../intrusion/controls.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** What the experiment claims and how it tests it. */
export const ABOUT: string = wrapMarkdown(`
Lethe promises that an intruder who opens a device learns nothing about what happened on it. They may read everything
that the device ever stored, see when and how much it wrote, and look into its memory once between two writes. The paper
proves this under assumptions about encryption. Proofs say nothing about a byte that was left in a header, a write that
came a moment early, or a rerandomization that somebody forgot. So here the game of the definition is played, with the
code that devices run.

**The game.** A device has real keys and lives through a window of segments; a segment is the time between two writes.
It ends with a tick, at a moment when a session writes, or when a page is hidden, after which the state is opened again
from storage. In every segment a coin decides whether something happens. The intruder sees the version that was stored
before the segment, a dump of the ciphertexts in memory after the event would have happened, everything that was stored,
its size and its time. Then they guess the coin. An intruder who is always right has advantage 1, one who throws a coin
has 0. The intruder knows everything but the server's key.

**What is not in the game.** The dump is the ciphertexts that \`inspect()\` returns, not a copy of the process's memory.
Three things in such a copy are known to reveal something, as [the threat model](../threat-model.md) says. For
histograms and means: the number of events since the last write, in the clear. With ElGamal: the ciphertexts from before
an event, until they are garbage-collected. With two servers: group elements that hold a fresh sharing. A game is about
one segment: an intruder who watches a whole window plays many games, and small advantages may add up. The sealed report
is in no game. All lattice devices here have the smallest parameter set (L1: dimension 1,024, a modulus of one limb).

**The intruders.** There are ${DISTINGUISHERS.length}. Nine look at one number each: sizes, times, ones, entropies, the
dump against storage, and how many bytes, bits, and group elements or coefficients did not change. The last is a
classifier, logistic regression. It sees all of these numbers, how often each half byte occurs, and the first bytes of
the record. Each intruder learns its threshold or its weights on some games and is scored on others, which it has never
seen, so luck does not count as skill.

The intervals are exact (Clopper and Pearson). Those of real devices hold all together with probability 99%. Those of
broken and of mended devices are separate, with the same level each. The number of games follows from the question: an
intruder who **has learnt** enough for an advantage of 0.02 (lattice) or 0.1 (ElGamal, where a write takes ten times as
long) must be seen with probability 99%. Learning has a cost, because there are eight times fewer games to learn from. A
number whose best threshold has an advantage of just 0.02 is seen with a probability of about 92%, since the learnt
threshold is not quite the best. The classifier finds a leak that is spread over many numbers only if the leak is
larger.

**The SDK.** For speed, most games are played against the state machines that the SDK runs. A smaller set is played
against the SDK itself: its clock, its schedule of writes, and its record from the first byte to the end of its state,
manifest and keys included. The schedule has ticks, pages that are closed and opened again, and the moments after that
at which a session writes. Of the rest of the record, the next window's keys and zeros, only the size is seen. The lab
moves the clock and calls \`sendPending()\` to cause the writes; no timer does.

**The controls.** A test that never fails shows nothing. Four devices with one fault each meet the same intruders. One
does not rerandomize. One writes when something happens. One rerandomizes once per write, and so keeps in memory what it
stored. One adds an encryption for each event, which anyone who holds the key sees in the noise of a report. All four
must be caught; the same device without the fault must not be caught. The fourth is a toy: its reports hold ${IN_REPORT}
encryptions, and ${EVENTS} events if anything happens, so that the fault stands out. Real reports hold 2(T + hides) + 1
encryptions, and nobody looks at their noise here. The test \`packages/core/src/statistic/key-holder-view.stat.test.ts\`
shows that this noise does not depend on events.
`);
