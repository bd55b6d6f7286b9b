// Runs test files some at a time, and one more while the processors are idle: many tests wait for a terminal, a browser or a database.
import { availableParallelism, cpus } from 'node:os';

/** The number of files that run at a time, however busy the processors are. */
export const minFilesAtOnce: number = Math.min(availableParallelism(), 4) + 1;
/** The largest number of files that run at a time. */
export const maxFilesAtOnce: number = minFilesAtOnce * 3;

const sampleMs = 250;
// With less idle time than this a further file would only slow down the others.
const minIdleShare = 0.12;

/** How many files ran at a time, and how busy the processors were. */
export type QueueUse = { readonly mostAtOnce: number; readonly busyShare: number };

/** Runs all files, begun in this order, and returns when the last has ended. */
export async function runQueue(
  files: readonly string[],
  runFile: (file: string) => Promise<void>,
  measureIdleShare: () => number = createIdleMeter(),
): Promise<QueueUse> {
  const measureWhole = createIdleMeter();
  const waiting = [...files];
  const lanes = new Set<Promise<void>>();
  let mostAtOnce = 0;
  let isIdle = false;
  const runLane = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      await runFile(file);
      if (lanes.size > minFilesAtOnce && !isIdle) return;
    }
  };
  const addLane = (): void => {
    const lane: Promise<void> = runLane().finally(() => lanes.delete(lane));
    lanes.add(lane);
    mostAtOnce = Math.max(mostAtOnce, lanes.size);
  };
  const timer = setInterval(() => {
    isIdle = measureIdleShare() > minIdleShare;
    if (isIdle && waiting.length > 0 && lanes.size < maxFilesAtOnce) addLane();
  }, sampleMs);
  try {
    for (const _ of files.slice(0, minFilesAtOnce)) addLane();
    while (lanes.size > 0) await Promise.race(lanes);
  } finally {
    clearInterval(timer);
  }
  return { mostAtOnce, busyShare: 1 - measureWhole() };
}

/** Returns a function that returns the share of processor time that was idle since its last call. */
function createIdleMeter(): () => number {
  let before = readProcessorTimes();
  return () => {
    const now = readProcessorTimes();
    const [idle, all] = [now.idle - before.idle, now.all - before.all];
    before = now;
    return all > 0 ? idle / all : 0;
  };
}

function readProcessorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((each) => each.times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}
