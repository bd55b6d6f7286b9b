// Measures the CPU time of one call of some work.

/** Calls before a measurement: V8 has compiled the code, but not yet optimised all of it. */
export const shortWarmUp = 200;
/** Calls before a measurement of the steady state of a long session or a server: V8 has optimised the code. */
export const longWarmUp = 2000;
const batch = 20;

/** Returns the CPU milliseconds of one call, the least of several batches after a warm-up: other programs on the machine do not count. `prepare` runs before each batch, outside the measurement. */
export async function measureCpu<T = undefined>(
  rounds: number,
  work: (prepared: T) => unknown,
  prepare: () => T = () => undefined as T,
  warmUpCalls: number = shortWarmUp,
): Promise<number> {
  for (let call = 0; call < warmUpCalls; call++) await work(prepare());
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const prepared = Array.from({ length: batch }, prepare);
    const ms = await measureMean(prepared, work);
    least = Math.min(least, ms);
  }
  return least;
}

/** Returns the mean CPU milliseconds of calls, those of the compiler and the garbage collector in other threads too. */
export async function measureMean<T>(inputs: readonly T[], work: (input: T) => unknown): Promise<number> {
  const start = process.cpuUsage();
  for (const each of inputs) await work(each);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000 / inputs.length;
}
