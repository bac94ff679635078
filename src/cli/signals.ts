/**
 * Catches signals from the start and queues them until there is a handler. Imported before everything else: a signal that
 * nobody catches ends the process.
 */

import { constants } from 'node:os';

/** SIGHUP comes last: Node itself never catches it, so a test that sees it caught knows that all three are. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof names)[number];

/** Longer than an orderly stop should take. */
const stopDeadlineMs = 4500;

/** Signals received before there was a handler. */
const queued: Signal[] = [];
let receive: (signal: Signal) => void = (signal) => {
  // In case the start itself hangs, for example on a file.
  if (signal !== 'SIGHUP') endSoon();
  queued.push(signal);
};

function listener(signal: NodeJS.Signals): void {
  receive(signal as Signal);
}

for (const name of names) process.on(name, listener);

/** Node would start its debugger at the first, which anybody on the machine could use, and the second would end the process. */
const ignored = ['SIGUSR1', 'SIGUSR2'] as const;

for (const name of ignored) process.on(name, () => undefined);

/**
 * Ends the process with 0 if an orderly stop takes too long; as the signal does by default, if a disk or a name server hangs. That has no
 * effect on process 1 of a container, which then ends with the kill after its grace period.
 */
export function endSoon(): void {
  setTimeout(() => {
    if (process.getActiveResourcesInfo().some((name) => isOfThread.test(name))) {
      process.removeAllListeners('SIGTERM');
      process.kill(process.pid, 'SIGTERM');
    }
    process.exit(0);
  }, stopDeadlineMs).unref();
}

/** What a thread waits for, which `process.exit` waits for in turn: it may never come back. */
const isOfThread = /^(FSReq|CloseReq|GetAddrInfo)/;

/** Passes signals to the handler, first those received before. */
export function onSignal(handle: (signal: Signal) => void): void {
  receive = handle;
  for (const signal of queued.splice(0)) handle(signal);
}

/** Restores the default effect of signals, also for those received before. Process 1 of a container has none: it exits as if it had. */
export function restoreSignals(): void {
  for (const name of names) {
    process.off(name, listener);
    if (process.pid === 1) process.on(name, () => process.exit(128 + constants.signals[name]));
  }
  for (const signal of queued.splice(0)) process.kill(process.pid, signal);
}
