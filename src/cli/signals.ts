/**
 * Catches signals from the first line of the program on, and keeps them until it is known what to do with them. Imported
 * before everything else: a signal that nothing catches ends the process.
 */

/** The last is the one that Node takes nothing of by itself: who sees it taken knows that all are. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof names)[number];

/** Longer than an orderly stop should take; then the process ends anyway. */
const stopDeadlineMs = 4500;

const early: Signal[] = [];
let receive: (signal: Signal) => void = (signal) => {
  // Also where the start itself hangs, on a file that cannot be read for example.
  if (signal !== 'SIGHUP') endSoon();
  early.push(signal);
};

function listener(signal: NodeJS.Signals): void {
  receive(signal as Signal);
}

for (const name of names) process.on(name, listener);

/** Ends the process with 0 once an orderly stop has taken too long. */
export function endSoon(): void {
  setTimeout(() => process.exit(0), stopDeadlineMs).unref();
}

/** Passes signals to `take`, first those that came earlier. */
export function onSignal(take: (signal: Signal) => void): void {
  receive = take;
  for (const signal of early.splice(0)) take(signal);
}

/** Gives signals their usual effect again, also those that came earlier. */
export function leaveSignals(): void {
  for (const name of names) process.off(name, listener);
  for (const signal of early.splice(0)) process.kill(process.pid, signal);
}
