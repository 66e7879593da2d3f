import { DEFAULT_SIZE } from "../collusion/verdict.ts";
import { COLLUDERS_DISTINGUISHERS } from "../collusion/view.ts";
import { whole } from "./figures.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** What the experiment claims and how it tests it. */
export const ABOUT: string = wrapMarkdown(`
With two servers, an intruder who opens a device learns nothing as long as they collude with neither server. The paper
remarks (§5) that more is possible: a device can hold against an intruder who has the keys of one of the servers. A task
with \`"collusion": "one-server"\` has this mode. Each slot of a device's state is shared between the servers in the
exponent of ElGamal, and the device draws new shares wherever it rerandomizes. [Two
servers](../two-servers.md#the-construction-against-one-server-and-what-is-proved) has the construction and the proof. Here
the game of the definition is played against devices of this mode.

**The game.** As in [intrusion](intrusion.md), a coin decides in every segment (the time between two writes) whether
something happens, and the intruder guesses the coin. This intruder also holds all secrets of one server: of the leader
in one half of the games, of the helper in the other. They see the version stored before the segment, the ciphertexts in
memory in the segment, and the version stored after it. They open all of it as far as their keys go. They also see what
the server received when the window was over: its half of the report, opened, what the other server sent, and the
device's answer. Events at the end of each window lead to the same answer whatever happened before, so that the answer
is no part of the secret. The colluder with the leader and the one with the helper look at the same devices.

**The colluders.** There are ${COLLUDERS_DISTINGUISHERS.length} for each server. They look at the numbers that the
experiment intrusion looks at, of the ciphertexts and again of what was opened. Another number counts relations: an
opened element, a sum of two or of all, or one of these plus G, that occurs in two versions, or is a small multiple of G.
Another is the answer. The last colluder is a classifier that sees all of these, and the first bytes that the other
server sent. Each learns from some games and is scored on others: on ${whole(DEFAULT_SIZE.rounds.occurrence ?? 0)} of an occurrence, and on ${whole(DEFAULT_SIZE.rounds.choice ?? 0)} of each other statistic, whose states have three slots. The intervals are exact, and those of the mode hold
all together with probability 99%.

**The controls.** Three things look similar and do not hold; the colluders must win each, with either server's keys.
*Algorithm 5 as written* is the two-server mode without \`collusion\`: an event replaces the shares of a bit, nothing
else does, and a key holder sees which shares were replaced. *Resharing over lattices* is the same construction on
Ring-LWE, where an event rotates the state: shares are drawn again, but the noise of the ciphertexts rotates with the
event, and a key holder sees the noise in the phases that they open, and in the bytes of these. *Captured ciphertexts submitted* are devices of this mode, with an intruder who
does not only read: they send what the device stored as its report. The honest server opens it as any other, and the
other server, with which the intruder colludes, learns the state without noise. So the mode holds only while nobody but
the device makes the honest server open something of the device; it opens one report per device and window.

**What is not in the game.** The dump is the ciphertexts that \`inspect()\` returns, not a copy of the process's memory.
One moment of memory per segment is in it, not two. The devices are the state machines that the SDK runs, not the SDK.
The game is against colluders who hold keys and read. A server that breaks the protocol can do more: [the threat
model](../threat-model.md#two-servers).
`);
