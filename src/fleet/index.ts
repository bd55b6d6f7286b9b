// The fleet's public names: workers, what they work with, and how to speak to the runs they have.
export { clientIn, clientTools, type Brought, type ClientWish } from './client.ts';
export { driverOf, type Driver, type DriverContext } from './driver.ts';
export { send } from './inbox.ts';
export type { Govern, Outfitted, Outfitter } from './outfitter.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
