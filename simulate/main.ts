// Command line of the simulation: runs schedules, reproduces one by its seed, minimises it, and finds planted bugs.
import { parseArgs } from 'node:util';
import { formatFault } from './faults.ts';
import { minimiseSchedule } from './minimise.ts';
import { runBatch } from './parallel.ts';
import { findPlantedBugs, formatPlanted } from './planted.ts';
import { runSchedule, type ScheduleResult } from './schedule.ts';
import { scenarioNames } from './scenarios.ts';
import { formatTally } from './tally.ts';

const usage = `Usage: node simulate/main.ts [--schedules N] [--from SEED] [--scenario NAME]
       node simulate/main.ts --seed SEED [--scenario NAME]       one schedule, with its trace
       node simulate/main.ts --minimise SEED [--scenario NAME]   a failing schedule with fewest faults
       node simulate/main.ts --planted [--schedules N]           bugs that must be found

Scenarios: ${scenarioNames.join(', ')}`;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    minimise: { type: 'string' },
    scenario: { type: 'string' },
    planted: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function parseCount(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  print(`--${name} must be a whole number, not "${text}".`);
  process.exit(2);
}

function printResult({ seed, scenario, plan, injected, violations, events, virtualMs }: ScheduleResult): void {
  print(`seed ${seed}, scenario ${scenario}: ${events} events in ${(virtualMs / 1000).toFixed(1)} s of virtual time`);
  print(`faults that hit a call: ${injected.map(formatFault).join('; ') || 'none'}`);
  print(
    `notifications ${plan.lossyNotifications ? 'late and doubled' : 'in time'}, requests ${plan.duplicateRequests ? 'doubled' : 'once'}, ended processes are known ${plan.sameMachine ? 'at once' : 'by their leases'}`,
  );
  for (const { invariant, detail } of violations) print(`VIOLATION ${invariant}: ${detail}`);
  if (violations.length === 0) print('No invariant is broken.');
}

async function main(): Promise<number> {
  const { scenario } = values;
  if (values.help) {
    print(usage);
    return 0;
  }
  if (scenario !== undefined && !scenarioNames.includes(scenario)) {
    print(`There is no scenario "${scenario}": use one of ${scenarioNames.join(', ')}.`);
    return 2;
  }
  if (values.seed !== undefined) {
    const result = await runSchedule({ seed: parseCount('seed', values.seed), scenario, trace: print });
    printResult(result);
    return result.violations.length > 0 ? 1 : 0;
  }
  if (values.minimise !== undefined) {
    const seed = parseCount('minimise', values.minimise);
    const result = await runSchedule({ seed, scenario });
    if (result.violations.length === 0) {
      printResult(result);
      return 0;
    }
    const { plan } = await minimiseSchedule({ seed, scenario }, result);
    printResult(await runSchedule({ seed, scenario, plan, trace: print }));
    return 1;
  }
  if (values.planted) {
    const results = await findPlantedBugs(parseCount('schedules', values.schedules ?? '3000'));
    print(formatPlanted(results));
    return results.some(({ foundAfter }) => foundAfter === undefined) ? 1 : 0;
  }
  const schedules = parseCount('schedules', values.schedules ?? '1000');
  const startedAt = performance.now();
  const tally = await runBatch({ from: parseCount('from', values.from), schedules, scenario });
  print(formatTally(tally, performance.now() - startedAt));
  return tally.failed.length > 0 ? 1 : 0;
}

process.exitCode = await main();
