// The fleet's public names: workers, what they work with, and how to speak to the runs they have.
export { driverOf, type Driver, type DriverContext } from './driver.ts';
export { budgetStop, governed, type Governor } from './governor.ts';
export { cancelStop, deliver, inboxView, send, type LetterBox, type Reading } from './inbox.ts';
export { watchSwitch, type SwitchOptions, type SwitchWatch } from './kill-switch.ts';
export { outcomeOf, questionsOf } from './outcome.ts';
export type { Govern, Outfitted, Outfitter } from './outfitter.ts';
export { carrierOf, type Carrier } from './carrier.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
