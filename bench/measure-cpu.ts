// Measures the CPU time of one call of some work.
const warmUpCalls = 200;
const batch = 20;

/** Returns the CPU milliseconds of one call, the least of several batches: other programs on the machine do not count. `prepare` runs before each batch, outside the measurement. */
export async function measureCpu<T = undefined>(
  rounds: number,
  work: (prepared: T) => unknown,
  prepare: () => T = () => undefined as T,
): Promise<number> {
  for (let call = 0; call < warmUpCalls; call++) await work(prepare());
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const prepared = Array.from({ length: batch }, prepare);
    const start = process.cpuUsage();
    for (const each of prepared) await work(each);
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000 / batch);
  }
  return least;
}
