// Recall and false alarms of action claims over many wordings of the same statements, against short logs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { binomialInterval, checkActionClaims } from '../src/checks/index.ts';
import type { ActionRecord } from '../src/checks/actions/index.ts';
import { laterWordings } from './corpus/action-claims/later-wordings.ts';
import type { Wordings } from './corpus/action-claims/wording.ts';
import { objectWordings } from './corpus/action-claims/object-wordings.ts';
import { outcomeWordings } from './corpus/action-claims/outcome-wordings.ts';
import { wordings } from './corpus/action-claims/wordings.ts';

/** Why a log contradicts an answer; empty if it does not. */
function findContradictions({ log }: Wordings, answer: string): readonly string[] {
  const outputs = new Map<string, string>();
  const records = log.map(({ path, before, after, command = '', code = 0, output = '' }, i): ActionRecord => {
    const [call, seq] = [`c${i}`, i + 1];
    if (path !== undefined) {
      const change = [`/p/${path}`, before ? `before ${i}` : null, after ? `after ${i}` : null] as const;
      return { seq, call, tool: 'edit_file', outcome: 'ok', target: path, changes: [change] };
    }
    outputs.set(call, output);
    return { seq, call, tool: 'run_command', outcome: code === 0 ? 'ok' : 'failed', target: command, code };
  });
  return checkActionClaims(answer, {
    log: { records, open: [], isPartial: false, wasSentBack: false },
    resultText: (call) => outputs.get(call),
  }).flatMap(({ verdict }) => (verdict.type === 'contradicted' ? [verdict.why] : []));
}

for (const [name, sets] of [
  ['wordings', [...wordings, ...outcomeWordings]],
  ['later wordings', laterWordings],
  ['objects of the log', objectWordings],
] as const)
  test(`[A2, A25] action claims, ${name}: what the log contradicts is found, and nothing else is doubted`, (t) => {
    const wrong = sets.flatMap((set) => set.wrong.map((answer) => [set, answer] as const));
    const right = sets.flatMap((set) => set.right.map((answer) => [set, answer] as const));
    const missed = wrong.filter(([set, answer]) => findContradictions(set, answer).length === 0);
    const alarms = right.filter(([set, answer]) => findContradictions(set, answer).length > 0);
    for (const [what, count, of] of [
      ['found', wrong.length - missed.length, wrong.length],
      ['false alarms', alarms.length, right.length],
    ] as const) {
      const [low, high] = binomialInterval(count, of, 0.95);
      t.diagnostic(`${name}: ${what} ${count} of ${of} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} %)`);
    }
    assert.deepEqual(
      alarms.map(([, answer]) => answer),
      [],
      'false alarms',
    );
    assert.deepEqual(
      missed.map(([, answer]) => answer),
      [],
      'missed',
    );
  });
